"""The codec: a log must not guess."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_events import Event
from forks_events.codec import (
    TYPES,
    UPCASTERS,
    VERSIONS,
    Undecodable,
    structure,
    unstructure,
    upcast,
)
from forks_events.converter import parse_time, time_text
from forks_events.jobs import JobBeat, JobCreated, JobEnded
from forks_events.run import OrchestratorSeen, RunOpened, TailDropped
from forks_events.stream import StreamOpened
from tests.histories import NOON, played
from tests.strategies import EVENTS, TIMES, drawn, events_of, reach

OPENED = {"at": "2026-11-30T12:00:00.000000+00:00", "run": "r", "format": 1}
OPENED |= {"forks_version": "0.1.0", "lab": True}
NOW = "2026-11-30T12:00:00.000000+00:00"

_ENDED: dict[str, Any] = unstructure(reach(events_of(JobEnded), lambda _: True))
_CREATED = unstructure(reach(events_of(JobCreated), lambda _: True))
_STREAM = unstructure(reach(events_of(StreamOpened), lambda _: True))


def ended(**changed: Any) -> dict[str, Any]:
    """Plain data of a job's end."""
    return _ENDED | changed


class TestIdentity:
    """Whatever can be written is read as it was."""

    @pytest.mark.parametrize("kind", TYPES.values(), ids=TYPES)
    def test_law_round_trip(self, kind: type[Event]) -> None:
        """Structured from its own plain data, every event is itself, and of its own class."""

        @settings(max_examples=25, deadline=None)
        @given(events_of(kind))
        def law(event: Event) -> None:
            again = structure(unstructure(event), kind)
            assert again == event
            assert type(again) is kind

        law()

    def test_reachability(self) -> None:
        """Every class is among the drawn events."""
        assert {type(event) for event in drawn(EVENTS)} == set(TYPES.values())

    @given(TIMES)
    def test_law_times(self, at: datetime) -> None:
        """A time in UTC is itself again, to the microsecond."""
        assert parse_time(time_text(at)) == at

    def test_every_type_is_named_by_its_class(self) -> None:
        """The names are those of the classes, and none is said twice."""
        assert all(kind.__name__ == name for name, kind in TYPES.items())
        assert VERSIONS.keys() == TYPES.keys()

    def test_maps_in_order(self) -> None:
        """A map's keys are written in order: the same event is the same line in any process."""
        launch = unstructure(played(()).registry.launches)
        (env,) = (of["env"] for of in launch.values())
        assert list(env) == sorted(env)
        assert len(env) > 1


class TestExactTypes:
    """Nothing is coerced: every value must already be of its type."""

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("lab", "no"),
            ("lab", 1),
            ("lab", 0),
            ("lab", None),
            ("format", True),
            ("format", 1.0),
            ("format", "1"),
            ("format", None),
            ("run", 1),
            ("run", None),
            ("run", ["r"]),
            ("at", None),
            ("at", 1),
        ],
    )
    def test_plain(self, field: str, value: object) -> None:
        """A text is no bool, 1 is not True, True is not 1, 1.0 is no integer."""
        assert structure(OPENED, RunOpened).lab is True
        with pytest.raises(Undecodable, match=rf"\$\.{field}"):
            structure(OPENED | {field: value}, RunOpened)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "1.5", True, None, [1.0]])
    def test_numbers(self, value: object) -> None:
        """A number is finite, and no text."""
        with pytest.raises(Undecodable, match=r"\$\.wall_s"):
            structure(ended(wall_s=value), JobEnded)

    def test_integer_for_a_number(self) -> None:
        """Where a float is wanted an integer is one: JSON does not tell them apart."""
        read = structure(ended(wall_s=3), JobEnded)
        assert (read.wall_s, type(read.wall_s)) == (3.0, float)

    def test_integer_written_for_a_number(self) -> None:
        """Whoever says 60 for 60.0 has said 60.0: the line is written again as it stands."""
        event = structure(_CREATED | {"max_s": 60.0, "max_budget_usd": 2.0}, JobCreated)
        told = unstructure(attrs.evolve(event, max_s=60, max_budget_usd=2))
        assert (repr(told["max_s"]), repr(told["max_budget_usd"])) == ("60.0", "2.0")

    @pytest.mark.parametrize("value", ["OK", "Status.OK", "", None, 0, ["ok"]])
    def test_words(self, value: object) -> None:
        """A word is one of its enum's values, not its name."""
        with pytest.raises(Undecodable, match=r"\$\.status"):
            structure(ended(status=value), JobEnded)

    @pytest.mark.parametrize("value", [1.0, True, [1], {}])
    def test_phases(self, value: object) -> None:
        """A phase is a number, a text or null."""
        for phase in (1, "1", None):
            assert structure(_CREATED | {"phase": phase}, JobCreated).phase == phase
        with pytest.raises(Undecodable, match=r"\$\.phase"):
            structure(_CREATED | {"phase": value}, JobCreated)

    @pytest.mark.parametrize("value", ["stalled", {"0": "stalled"}, None, [None], [1]])
    def test_lists(self, value: object) -> None:
        """A list is a list; a text is not taken for its letters."""
        with pytest.raises(Undecodable, match=r"\$\.flags"):
            structure(ended(flags=value), JobEnded)

    @pytest.mark.parametrize("value", [[], None, {"tools": 1}, [["tools", "x"]]])
    def test_maps(self, value: object) -> None:
        """A map is an object, its items of their type."""
        with pytest.raises(Undecodable, match=r"\$\.runtime|expected"):
            structure(_STREAM | {"runtime": value}, StreamOpened)

    @pytest.mark.parametrize("value", [None, [], "x", 1])
    def test_objects(self, value: object) -> None:
        """An event is an object."""
        with pytest.raises(Undecodable):
            structure(value, RunOpened)


class TestKeys:
    """No key may be missing, and none may be more, at any depth."""

    @pytest.mark.parametrize("key", sorted(OPENED))
    def test_missing(self, key: str) -> None:
        """A default is for those who write Python: in a log, what is missing is damage."""
        with pytest.raises(Undecodable, match=key):
            structure({k: v for k, v in OPENED.items() if k != key}, RunOpened)

    def test_extra(self) -> None:
        """A key that nobody knows is refused by name."""
        with pytest.raises(Undecodable, match="surprise"):
            structure(OPENED | {"surprise": 1}, RunOpened)

    def test_nested(self) -> None:
        """Tokens have defaults in Python, and none in a log; the place is named."""
        usage = dict.fromkeys(
            ("input", "output", "cache_creation", "cache_creation_1h", "cache_creation_5m"), 1
        )
        with pytest.raises(Undecodable, match="cache_read"):
            structure(ended(usage=usage), JobEnded)
        with pytest.raises(Undecodable, match=r"\$\.usage"):
            structure(ended(usage=usage | {"cache_read": "1"}), JobEnded)
        with pytest.raises(Undecodable, match="more"):
            structure(ended(usage=usage | {"cache_read": 1, "more": 1}), JobEnded)


@pytest.mark.rule("D17")
class TestTimes:
    """A time is in UTC, with microseconds, in one spelling only."""

    @pytest.mark.parametrize(
        "text",
        [
            "2026-11-30T12:00:00.000000",
            "2026-11-30T12:00:00.000000Z",
            "2026-11-30T12:00:00+00:00",
            "2026-11-30T12:00:00.000+00:00",
            "2026-11-30 12:00:00.000000+00:00",
            "2026-11-30T13:00:00.000000+01:00",
            "20261130T120000.000000+0000",
            "2026-11-30T12:00:00.000000+00:00 ",
            "2026-11-30T12:00:00.000000-00:00",
            "2026-13-30T12:00:00.000000+00:00",
            "",
        ],
    )
    def test_other_spellings(self, text: str) -> None:
        """Naive, elsewhere, shorter, longer: refused."""
        with pytest.raises(Undecodable, match=r"\$\.at"):
            structure({"at": text}, OrchestratorSeen)

    @pytest.mark.parametrize(
        "at",
        [
            datetime(2026, 11, 30, 12),  # noqa: DTZ001 - that is what is refused
            datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=1))),
        ],
    )
    def test_not_written(self, at: datetime) -> None:
        """What could not be read is not written."""
        with pytest.raises(ValueError, match="not a time in UTC"):
            unstructure(OrchestratorSeen(at=at))

    def test_utc_by_another_name(self) -> None:
        """A zone without an offset is UTC, and reads as such."""
        at = datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(0), "GMT"))
        assert parse_time(time_text(at)).tzinfo is UTC

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
    def test_numbers_that_are_none(self, value: float) -> None:
        """What is not finite is not written either; JSON would make it null."""
        data = ended(wall_s=1.0)
        event = structure(data, JobEnded)
        object.__setattr__(event, "wall_s", value)
        with pytest.raises(ValueError, match="finite"):
            unstructure(event)


class TestPlaces:
    """An error names the place and the reason."""

    def test_every_place(self) -> None:
        """All that is wrong is told, each with its path."""
        with pytest.raises(Undecodable) as caught:
            structure(ended(turns="1", usage={"input": 1}, flags=["ok"]), JobEnded)
        for place in ("$.turns", "$.usage", "$.flags"):
            assert place in str(caught.value)

    @settings(max_examples=50, deadline=None)
    @given(EVENTS, st.data())
    def test_law_wrong_values(self, event: Event, data: st.DataObject) -> None:
        """An object in the place of any field is refused there, and nothing but that is raised."""
        plain: dict[str, Any] = unstructure(event)
        key = data.draw(st.sampled_from(sorted(plain)))
        with pytest.raises(Undecodable, match=re.escape(f"$.{key}") + "|expected"):
            structure(plain | {key: {"odd": [1]}}, type(event))


class TestUpcasters:
    """A line that was ever written can be read for ever: old data is brought up, step by step."""

    STEPS = {  # noqa: RUF012 - nobody changes it
        ("JobBeat", 1): lambda data: {**data, "flags": []},
        ("JobBeat", 2): lambda data: {**data, "output_at": data["at"]},
    }

    def test_steps(self) -> None:
        """Each step is from one version to the next; a newer one starts further on."""
        old = {"at": NOW, "job": "j0001"}
        new = JobBeat(at=NOON, job="j0001", output_at=NOON, flags=())
        assert structure(upcast("JobBeat", 1, old, self.STEPS), JobBeat) == new
        assert structure(upcast("JobBeat", 2, old | {"flags": []}, self.STEPS), JobBeat) == new
        assert old == {"at": NOW, "job": "j0001"}

    def test_nothing_to_do(self) -> None:
        """The newest version, and other types, are left as they are."""
        data = {"x": 1}
        assert upcast("JobBeat", 3, data, self.STEPS) is data
        assert upcast("JobHeld", 1, data, self.STEPS) is data

    def test_damaged_data(self) -> None:
        """Data that the old version never wrote is undecodable, whatever the step makes of it."""
        with pytest.raises(Undecodable, match="JobBeat of version 2"):
            upcast("JobBeat", 1, {}, self.STEPS)

    def test_no_gap(self) -> None:
        """From each old version of each type a step leads on, and none leads beyond the newest."""
        steps = {(name, old) for name, newest in VERSIONS.items() for old in range(1, newest)}
        assert UPCASTERS.keys() == steps


def test_texts_are_bytes_of_unicode() -> None:
    """A tail's field is called bytes and is a number; the name misleads nobody's hook."""
    assert structure({"at": NOW, "bytes": 3, "sha256": "x"}, TailDropped).bytes == 3
