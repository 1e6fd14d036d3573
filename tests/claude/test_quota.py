"""A rate limit line becomes a reading: one form for what clients tell in several."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.claude.quota import read
from forks_core.claude.stream import Parser
from forks_events.quota import QuotaRead, Reading, Window
from forks_events.stream import StreamOpened, StreamResulted, StreamTurned
from tests.claude.lines import JOB, Line, events, init, limit, result, says, wire
from tests.projections.builders import reached

FIVE, SEVEN = 1796071510, 1796364910
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
KINDS = ["five_hour", "seven_day", "seven_day_opus", None, 7]
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, "0.5", -0.1, 0, 0.42, 1, [], {}, FIVE, 1e300]
)
LINES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["allowed", "allowed_warning", "rejected", None, 1]),
        "rateLimitType": st.sampled_from(KINDS),
        "utilization": VALUES,
        "resetsAt": VALUES,
        "isUsingOverage": VALUES,
        "unifiedWindows": VALUES
        | st.dictionaries(
            st.sampled_from(["five_hour", "seven_day", "new"]),
            VALUES | st.fixed_dictionaries({"utilization": VALUES, "resetsAt": VALUES}),
        ),
    },
).map(lambda info: {"rate_limit_info": info})


def at(seconds: int) -> datetime:
    """Epoch seconds as a time."""
    return datetime.fromtimestamp(seconds, UTC)


def heard(told: Any, **info: Any) -> Window | None:
    """The five-hour window of a line whose utilization is as told, raw JSON."""
    line = wire(limit("allowed_warning", utilization="TOLD", **info)).replace(
        b'"TOLD"', told if isinstance(told, bytes) else str(told).encode()
    )
    (event,) = Parser(JOB).feed(line, None)
    assert isinstance(event, QuotaRead)
    return event.reading.windows.get("five_hour")


@pytest.mark.rule("R8.1")
class TestWindows:
    """Windows are told each by itself by newer clients, else the one that the type names."""

    def test_unified(self) -> None:
        """Both windows come from where the client tells them all, and so do their resets."""
        told = {
            "five_hour": {"utilization": 0.42, "resetsAt": FIVE, "status": "allowed"},
            "seven_day": {"utilization": 0.96, "resetsAt": SEVEN},
        }
        line = limit(
            "allowed_warning", "seven_day", resetsAt=SEVEN, utilization=0.9, unifiedWindows=told
        )
        assert read(line) == Reading(
            status="allowed_warning",
            type="seven_day",
            resets_at=at(SEVEN),
            is_using_overage=False,
            windows=Map(
                {
                    "five_hour": Window(utilization=0.42, resets_at=at(FIVE)),
                    "seven_day": Window(utilization=0.96, resets_at=at(SEVEN)),
                }
            ),
        )

    @pytest.mark.parametrize("kind", ["five_hour", "seven_day", "seven_day_opus", "overage", "x"])
    def test_single(self, kind: str) -> None:
        """Else the utilization is the named window's, and of no other window anything is known."""
        told = read(limit("allowed_warning", kind, resetsAt=SEVEN, utilization=0.91))
        assert told.windows == Map({kind: Window(utilization=0.91, resets_at=at(SEVEN))})
        assert (told.type, told.resets_at) == (kind, at(SEVEN))

    @pytest.mark.parametrize("told", [None, {}, [], 7, "x", {"five_hour": 0.4}])
    def test_no_windows_told(self, told: Any) -> None:
        """Windows that are none give way to the named one."""
        windows = read(limit("allowed", utilization=0.5, unifiedWindows=told)).windows
        assert windows == Map({"five_hour": Window(utilization=0.5, resets_at=None)})

    def test_no_type(self) -> None:
        """A utilization of no window is of none."""
        line = {"rate_limit_info": {"status": "allowed", "utilization": 0.5, "resetsAt": FIVE}}
        told = read(line)
        assert (told.windows, told.type, told.resets_at) == (Map(), None, at(FIVE))

    @pytest.mark.rule("E5")
    def test_unknown_names(self) -> None:
        """A window that nobody knows is kept under its own name, which no log finds too long."""
        told = {"seven_day_sonnet": {"utilization": 1}, "n" * 999: {"utilization": 0}}
        windows = read(limit("allowed", unifiedWindows=told)).windows
        assert windows == Map(
            {
                "seven_day_sonnet": Window(utilization=1.0, resets_at=None),
                "n" * 256: Window(utilization=0.0, resets_at=None),
            }
        )


@pytest.mark.rule("R8.1")
class TestNumbers:
    """Integers are numbers, and anything that is no number is null."""

    @pytest.mark.parametrize(
        ("told", "expected"), [(0, 0.0), (1, 1.0), (0.5, 0.5), (b"1e-3", 0.001)]
    )
    def test_numbers(self, told: Any, expected: float) -> None:
        """They are kept as they are, as shares."""
        window = heard(told)
        assert window is not None
        assert window.utilization == expected
        assert isinstance(window.utilization, float)

    @pytest.mark.parametrize(
        "told",
        [b"true", b"false", b'"0.5"', b"null", b"NaN", b"-0.1", b"-1", b"Infinity", b"[1]", b"{}"],
    )
    def test_no_numbers(self, told: bytes) -> None:
        """What is none leaves the window without a utilization, and its reset stays known."""
        assert heard(told, resetsAt=FIVE) == Window(utilization=None, resets_at=at(FIVE))
        assert heard(told) is None

    @pytest.mark.parametrize("told", [0, True, "soon", None, -5, 10**15, 1e308, [FIVE]])
    def test_no_reset(self, told: Any) -> None:
        """A reset of 0, or that no calendar holds, is unknown."""
        reading = read(limit("rejected", resetsAt=told, utilization=1))
        assert reading.resets_at is None
        assert reading.windows == Map({"five_hour": Window(utilization=1.0, resets_at=None)})

    @pytest.mark.parametrize("told", [True, "0.5", None, -1])
    def test_in_the_windows(self, told: Any) -> None:
        """The same holds for each window by itself."""
        windows = {
            "five_hour": {"utilization": told, "resetsAt": FIVE},
            "seven_day": {"utilization": 1},
        }
        reading = read(limit("allowed", unifiedWindows=windows))
        assert reading.windows == Map(
            {
                "five_hour": Window(utilization=None, resets_at=at(FIVE)),
                "seven_day": Window(utilization=1.0, resets_at=None),
            }
        )


@pytest.mark.rule("R8.1", "E5")
class TestOverage:
    """Only its use counts: what may be paid for beyond is no limit."""

    @pytest.mark.parametrize("told", [None, False, "true", 1, 0, "yes"])
    def test_not_in_use(self, told: Any) -> None:
        """Nothing but true is in use."""
        assert read(limit("rejected", isUsingOverage=told)).is_using_overage is False

    def test_in_use(self) -> None:
        """True is."""
        assert read(limit("rejected", isUsingOverage=True)).is_using_overage is True

    def test_a_rejected_overage(self) -> None:
        """An account without paid overage says so all the time, and all is well."""
        more = {"overageStatus": "rejected", "overageDisabledReason": "org_level_disabled"}
        assert read(limit("allowed", resetsAt=FIVE, **more)) == read(
            limit("allowed", resetsAt=FIVE)
        )


@pytest.mark.rule("R8.1")
class TestOlderClients:
    """They tell no utilization while all is well: a reading that says nothing of it."""

    def test_allowed(self) -> None:
        """Status, type and reset are known, and the window's utilization is not."""
        assert read(limit("allowed", resetsAt=FIVE, isUsingOverage=False)) == Reading(
            status="allowed",
            type="five_hour",
            resets_at=at(FIVE),
            is_using_overage=False,
            windows=Map({"five_hour": Window(utilization=None, resets_at=at(FIVE))}),
        )

    def test_allowed_without_a_reset(self) -> None:
        """Where the reset is not told either there is no window."""
        assert read(limit("allowed")).windows == Map()

    @pytest.mark.rule("A12.4")
    @pytest.mark.parametrize("told", [None, 7, [], "x", {}, {"status": 7}])
    def test_nothing(self, told: Any) -> None:
        """A line without anything in it is no reading, and leaves no event."""
        nothing = read({"rate_limit_info": told})
        assert (nothing.status, nothing.windows) == (None, Map())
        assert events({"type": "rate_limit_event", "rate_limit_info": told}) == ()


@pytest.mark.rule("R8.1")
class TestEvents:
    """Readings stand among the stream's events, in its order."""

    def test_order(self) -> None:
        """Each line is a reading of its own, where it came."""
        one, two = limit("allowed", utilization=0.1), limit("rejected", utilization=1)
        said = events(init(), one, says(), two, result())
        kinds = [StreamOpened, QuotaRead, StreamTurned, QuotaRead, StreamResulted]
        assert [type(event) for event in said] == kinds
        readings = [event.reading for event in said if isinstance(event, QuotaRead)]
        assert readings == [read(one), read(two)]

    def test_times(self) -> None:
        """A reading is as old as its line."""
        (event,) = Parser(JOB).feed(wire(limit("allowed")), NOON)
        assert isinstance(event, QuotaRead)
        assert (event.job, event.seen_at, event.at) == (JOB, NOON, NOON)

    def test_delivered_again(self) -> None:
        """A line with a uuid that was seen is not heard again; one that merely repeats is."""
        line = limit("allowed")
        assert len(events(line, line, line | {"uuid": "another"})) == 2


class TestLaws:
    """What holds for any line."""

    @pytest.mark.rule("R8.1")
    @settings(deadline=None)
    @given(LINES)
    def test_law_only_numbers(self, line: Line) -> None:
        """A utilization is a number from 0 or null, a reset a time or null, a name a text."""
        reading = read(line)
        for name, window in reading.windows.items():
            assert isinstance(name, str)
            assert window.utilization is None or window.utilization >= 0
            assert window.resets_at is None or window.resets_at.tzinfo is UTC
        assert reading.is_using_overage is (line["rate_limit_info"].get("isUsingOverage") is True)

    def test_reachability(self) -> None:
        """Lines of both forms are among the drawn ones, with and without numbers."""
        assert reached(LINES, lambda line: len(read(line).windows) > 1)
        assert reached(LINES, lambda line: "seven_day_opus" in read(line).windows)
        assert reached(
            LINES,
            lambda line: (
                Window(utilization=None, resets_at=at(FIVE)) in read(line).windows.values()
            ),
        )
