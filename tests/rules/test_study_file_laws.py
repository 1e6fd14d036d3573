"""The study file, whatever is in it: it reads as it was written, and no type is guessed."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.errors import Refused
from forks_core.rules.study_file import (
    ArmTable,
    AttemptsTable,
    LaunchTable,
    StudyFile,
    StudyTable,
    TaskTable,
    read_study,
)
from tests.rules.test_study_file import FULL, LAUNCH, STUDY, read
from tests.strategies import drawn
from tests.toml_text import Table, places, replaced


def wrong_for(value: Any) -> list[Any]:
    """Values of other types."""
    others: list[Any] = [True, [True], {"x": 1}, time(6, 0)]
    if not isinstance(value, str):
        others.append("5; 6 @ $.x")
    if isinstance(value, str | list | dict):
        others += [5, 1.5]
    if isinstance(value, int):
        others.append(1.5)
    if value != STUDY["cutoff"]:
        others += [date(2026, 12, 5), datetime(2026, 12, 5, 6, tzinfo=UTC)]
    return others if not isinstance(value, dict) else [o for o in others if not isinstance(o, dict)]


PLACES = dict(places(FULL))
# Three times as many would take three times as long: each kind of value is put in many places.
WRONG = [
    (path, wrong)
    for number, (path, value) in enumerate(PLACES.items())
    for wrong in wrong_for(value)[number % 3 :: 3]
]
NAMES = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,5}", fullmatch=True).filter(
    lambda name: not name.startswith("SMOKE-")
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
LISTS = st.lists(TEXTS, max_size=2)
MONEY = st.floats(0.01, 1e6)
LAUNCHES = st.fixed_dictionaries(
    {},
    optional={
        name: LISTS if isinstance(value, list) else st.just(value) | TEXTS
        for name, value in LAUNCH.items()
        if name != "max_turns"
    }
    | {"max_turns": st.integers(1, 99)},
)
TASKS = st.fixed_dictionaries(
    {"id": NAMES, "prompt": TEXTS, "check": st.lists(TEXTS, min_size=1, max_size=3)},
    optional={"workdir": TEXTS, "timeout_s": MONEY.map(lambda s: min(s, 9e4))},
)
STUDIES = st.fixed_dictionaries(
    {"id": NAMES},
    optional={
        "phase1_runs": st.integers(1, 9),
        "phase2_runs": st.integers(0, 9),
        "schedule_seed": st.integers(-9, 10**15 - 1),
        "seven_day_stop": st.floats(0.01, 1.0),
        "cutoff": st.datetimes(
            datetime(2026, 1, 1),  # noqa: DTZ001 - hypothesis wants it so
            timezones=st.just(timezone(timedelta(hours=9))),
        ),
        "max_budget_usd": MONEY,
        "overage": st.sampled_from(["stop", "go"]),
        "concurrency": st.integers(1, 9),
        "min_free_gb": MONEY,
        "max_attempts": st.fixed_dictionaries({}, optional={"auth": st.integers(1, 9)}),
    },
)
FILES: st.SearchStrategy[Table] = st.fixed_dictionaries(
    {
        "study": STUDIES,
        "arm": st.lists(
            st.tuples(NAMES, LAUNCHES).map(lambda it: {"name": it[0]} | it[1]),
            min_size=1,
            max_size=3,
            unique_by=lambda arm: arm["name"],
        ),
        "task": st.lists(TASKS, min_size=1, max_size=3, unique_by=lambda it: it["id"]),
    },
    optional={"launch": LAUNCHES, "pins": st.dictionaries(TEXTS, TEXTS, max_size=2)},
)


def same(found: Any, written: Any) -> bool:
    """Whether what was read is what was written, whatever else it holds by default."""
    if isinstance(written, dict) and attrs.has(type(found)):
        return all(same(getattr(found, name), value) for name, value in written.items())
    if isinstance(written, dict):
        return dict(found) == written
    if isinstance(written, list):
        return len(found) == len(written) and all(map(same, found, written))
    if isinstance(written, datetime):
        return datetime.fromisoformat(found) == written
    return bool(getattr(found, "value", found) == written)


@pytest.mark.rule("R1.1")
class TestLaws:
    """What holds of any study."""

    @settings(deadline=None, max_examples=60)
    @given(FILES)
    def test_law_as_it_was_written(self, data: Table) -> None:
        """A study that is as it must be reads as it was written."""
        assert same(read(data), data)

    def test_reachability_of_writing(self) -> None:
        """The law reads every key that may be left out, and studies without it."""
        found = drawn(FILES, 100)
        for name in ("launch", "pins"):
            assert {name in data for data in found} == {True, False}
        for name in STUDY.keys() - {"id", "order", "budget_cap_usd"}:
            assert {name in data["study"] for data in found} == {True, False}
        for name in LAUNCH:
            assert {name in arm for data in found for arm in data["arm"]} == {True, False}

    def test_law_no_type_is_guessed(self) -> None:
        """Any single key that is replaced by a value of another type is refused by its name."""
        assert same(read(FULL), FULL)
        for path, wrong in WRONG:
            with pytest.raises(Refused) as caught:
                read_study(replaced(FULL, path, wrong))
            key = str(caught.value.fields["key"])
            below = {path, f"{path}[0]"} if isinstance(wrong, list | dict) else {path}
            assert key in below, (path, wrong, caught.value.fields)

    def test_reachability_of_types(self) -> None:
        """The law replaces every key that there is."""
        tables = {
            "study": StudyTable,
            "launch": LaunchTable,
            "arm[1]": ArmTable,
            "task[0]": TaskTable,
            "study.max_attempts": AttemptsTable,
        }
        keys = {f"{at}.{field.name}" for at, of in tables.items() for field in attrs.fields(of)}
        keys |= {field.name for field in attrs.fields(StudyFile)}
        assert keys <= PLACES.keys()
        assert {path for path, _ in WRONG} == PLACES.keys()
