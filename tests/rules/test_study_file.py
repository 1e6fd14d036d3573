"""The study file: every key of it, what it may hold, and what a refusal names."""

import re
import tomllib
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from forks_core.errors import Refused
from forks_core.rules.study_file import (
    ArmTable,
    AttemptsTable,
    LaunchTable,
    StudyFile,
    launch_of,
    read_study,
)
from tests.toml_text import Table, places, replaced, toml_of

MODEL = "claude-opus-4-5"
LAUNCH: Table = {
    "model": MODEL,
    "effort": "high",
    "permission_mode": "dontAsk",
    "tools": ["Read", "Edit"],
    "allowed_tools": ["Read"],
    "disallowed_tools": ["Bash(git push:*)"],
    "append_system_prompt": "skill.md",
    "agent": "coder",
    "settings": "settings.json",
    "max_turns": 30,
    "binary": "bin/claude",
    "env": ["TZ"],
    "git_instructions": "off",
}
STUDY: Table = {
    "id": "skill-or-not",
    "phase1_runs": 4,
    "phase2_runs": 1,
    "schedule_seed": 20261005,
    "seven_day_stop": 0.9,
    "cutoff": "2026-12-05T06:00:00Z",
    "max_budget_usd": 6.0,
    "budget_cap_usd": 200.0,
    "overage": "go",
    "concurrency": 2,
    "max_attempts": {"overloaded": 3, "other": 1, "auth": 1},
    "min_free_gb": 1.5,
    "order": ["MB-02", "CDB-S01"],
}
TASK: Table = {
    "id": "CDB-S01",
    "prompt": "tasks/s01/prompt.md",
    "workdir": "tasks/s01/files",
    "check": ["python3", "check.py"],
    "timeout_s": 600.0,
    "check_timeout_s": 60.0,
}
PLAIN: Table = {"name": "plain"}
FULL: Table = {
    "study": STUDY,
    "launch": LAUNCH,
    "arm": [PLAIN, {"name": "with-skill", "base": "trained"} | LAUNCH],
    "task": [TASK, TASK | {"id": "MB-02"}],
    "pins": {"client_version": "2.1.332"},
}
SMALL: Table = {
    "study": {"id": "s"},
    "arm": [PLAIN],
    "task": [{"id": "MB-01", "prompt": "p.md", "check": ["true"]}],
}


def read(data: Table) -> StudyFile:
    """Read what is written of this data."""
    return read_study(tomllib.loads(toml_of(data)))


def refused(data: Table) -> dict[str, Any]:
    """The fields of its refusal."""
    with pytest.raises(Refused, match=r"^the study file is not as it must be$") as caught:
        read(data)
    return dict(caught.value.fields)


def study(**keys: Any) -> Table:
    """A small study with these keys in its first table."""
    return SMALL | {"study": {"id": "s"} | keys}


def task(**keys: Any) -> Table:
    """A small study with these keys in its task."""
    return SMALL | {"task": [SMALL["task"][0] | keys]}


@pytest.mark.rule("R1.1")
class TestDefaults:
    """What may be left out, and what it is then."""

    def test_small(self) -> None:
        """A study is its id, an arm's name, and a task's id, prompt and check."""
        found = read(SMALL)
        assert attrs.asdict(found.study, recurse=False) == {
            "id": "s",
            "phase1_runs": 3,
            "phase2_runs": 2,
            "schedule_seed": None,
            "seven_day_stop": 0.95,
            "cutoff": None,
            "max_budget_usd": None,
            "budget_cap_usd": None,
            "overage": found.study.overage,
            "concurrency": 1,
            "max_attempts": AttemptsTable(overloaded=4, other=2, auth=2),
            "min_free_gb": 2.0,
            "order": None,
        }
        assert found.study.overage.value == "stop"
        assert found.cutoff is None
        (only,) = found.task
        assert (only.workdir, only.timeout_s, only.check_timeout_s) == (None, 1800.0, 120.0)
        assert (found.launch, len(found.pins)) == (LaunchTable(), 0)
        assert found.arm == (ArmTable(name="plain"),)
        assert set(attrs.asdict(found.launch).values()) == {None}

    @pytest.mark.parametrize(
        ("data", "key"),
        [
            ({}, "arm"),
            (SMALL | {"study": {}}, "study.id"),
            (SMALL | {"arm": [{"base": "b"}]}, "arm[0].name"),
            *(
                (replaced(SMALL, "task[0]", {k: v for k, v in TASK.items() if k != name}), where)
                for name, where in (
                    ("id", "task[0].id"),
                    ("prompt", "task[0].prompt"),
                    ("check", "task[0].check"),
                )
            ),
            *(({k: v for k, v in SMALL.items() if k != name}, name) for name in SMALL),
        ],
    )
    def test_missing(self, data: Table, key: str) -> None:
        """What has no default must be there; the refusal names it."""
        fields = refused(data)
        assert (fields["key"], fields["detail"]) == (key, "missing key")

    def test_all_that_is_missing(self) -> None:
        """The first that is wrong is the key, and the others are told too."""
        assert refused({})["more"] == ["study: missing key", "task: missing key"]

    @pytest.mark.parametrize(
        ("text", "at"),
        [
            ('"2026-12-05T06:00:00Z"', datetime(2026, 12, 5, 6, tzinfo=UTC)),
            ('"2026-12-05T06:00:00"', datetime(2026, 12, 5, 6, tzinfo=UTC)),
            ('" 2026-12-05T06:00:00+09:00 "', datetime(2026, 12, 4, 21, tzinfo=UTC)),
            ('"2026-12-05"', datetime(2026, 12, 5, tzinfo=UTC)),
            ("2026-12-05T06:00:00", datetime(2026, 12, 5, 6, tzinfo=UTC)),
            ("2026-12-05T06:00:00Z", datetime(2026, 12, 5, 6, tzinfo=UTC)),
            ("2026-12-05T06:00:00-01:00", datetime(2026, 12, 5, 7, tzinfo=UTC)),
            ("2026-12-05", datetime(2026, 12, 5, tzinfo=UTC)),
        ],
    )
    def test_cutoff(self, text: str, at: datetime) -> None:
        """A text or a time of TOML; without a zone it is in UTC."""
        told = tomllib.loads(f'study = {{id = "s", cutoff = {text}}}')
        assert read_study(SMALL | told).cutoff == at


@pytest.mark.rule("R1.1")
class TestRefused:
    """What is not as it must be is named by its path in the file."""

    @pytest.mark.parametrize(
        ("key", "bad", "good"),
        [
            ("study.phase1_runs", [-1, 1001], [0, 1000]),
            ("study.phase2_runs", [-1, 1001], [0, 1000]),
            ("study.schedule_seed", [10**15, -(10**15), 2**64], [0, -1, 10**15 - 1]),
            ("study.seven_day_stop", [0, -0.1, 1.001, float("nan")], [0.001, 1, 1.0]),
            ("study.max_budget_usd", [0, -1.0, 1e9 + 1, float("inf")], [0.01, 6, 1e9]),
            ("study.budget_cap_usd", [0, -1.0, 1e9 + 1, float("inf")], [0.01, 200, 1e9]),
            ("study.concurrency", [0, -1, 1001], [1, 2, 1000]),
            ("study.min_free_gb", [-0.1, 1e9 + 1, float("nan")], [0, 0.5]),
            ("study.max_attempts.overloaded", [0, -1, 1001], [1, 5]),
            ("study.max_attempts.other", [0], [1, 5]),
            ("study.max_attempts.auth", [0], [1, 5]),
            ("study.overage", ["", "Stop", "maybe"], ["stop", "go"]),
            ("study.cutoff", ["", "soon", "06:00", "2026-13-01"], ["2026-12-05 06:00"]),
            ("task[0].timeout_s", [0, -1, 604_800.5], [0.5, 604_800]),
            ("task[0].check_timeout_s", [0, -1, 604_800.5], [0.5, 604_800]),
            ("task[0].check", [[], [""], ["a", "b\0"]], [["a"], ["a", ""]]),
        ],
    )
    def test_ranges(self, key: str, bad: list[Any], good: list[Any]) -> None:
        """At the ends of its range a value is fine, beyond them it is not."""
        for value in good:
            read(replaced(FULL, key, value))
        for value in bad:
            assert refused(replaced(FULL, key, value))["key"] == key, value

    @pytest.mark.parametrize("where", ["study.id", "arm[0].name", "task[0].id"])
    @pytest.mark.parametrize(
        "name", ["", ".", ".a", "a/b", "a b", "x" * 81, "a\n", "\u00e4", "a:b", "a\0", "\u0661"]
    )
    def test_unsafe(self, where: str, name: str) -> None:
        """Names are 1 to 80 letters, digits and ``. _ -`` of ASCII, and have no dot in front."""
        assert refused(replaced(SMALL, where, name))["key"] == where
        read(replaced(SMALL, where, "A.b_c-9"))
        read(replaced(SMALL, where, "x" * 80))

    @pytest.mark.parametrize("name", ["", "a b", "../x", "\u00e4"])
    def test_unsafe_base(self, name: str) -> None:
        """What no base can be called, no arm can fork."""
        assert refused(SMALL | {"arm": [PLAIN | {"base": name}]})["key"] == "arm[0].base"

    def test_smoke(self) -> None:
        """A task may not look like a smoke trial; with another letter in front it does not."""
        assert refused(task(id="SMOKE-1"))["key"] == "task[0].id"
        assert read(task(id="XSMOKE-1")).task[0].id == "XSMOKE-1"

    @pytest.mark.rule("E1")
    def test_twice(self) -> None:
        """No arm and no task may be there twice; the second one is named."""
        assert refused(SMALL | {"arm": [PLAIN, {"name": "b"}, PLAIN]})["key"] == "arm[2].name"
        assert refused(SMALL | {"task": SMALL["task"] * 2})["key"] == "task[1].id"

    @pytest.mark.rule("E1")
    @pytest.mark.parametrize("table", ["arm", "task"])
    def test_none(self, table: str) -> None:
        """There must be one of each."""
        with pytest.raises(Refused) as caught:
            read_study(SMALL | {table: []})
        assert caught.value.fields["key"] == table

    def test_nothing_to_run(self) -> None:
        """Of two phases one must have a run."""
        assert refused(study(phase1_runs=0, phase2_runs=0))["key"] == "study.phase1_runs"
        assert read(study(phase1_runs=0)).study.phase2_runs == 2

    def test_cap_without_budget(self) -> None:
        """A cap on the whole study needs a budget for one trial, which could spend all of it."""
        assert refused(study(budget_cap_usd=200.0))["key"] == "study.budget_cap_usd"
        read(study(max_budget_usd=6.0))

    @pytest.mark.parametrize(
        "order",
        [[], ["CDB-S01"], ["CDB-S01"] * 2, ["CDB-S01", "MB-2"], ["MB-02"] * 2 + ["CDB-S01"]],
    )
    def test_order(self, order: list[str]) -> None:
        """An order names every task once."""
        assert refused(replaced(FULL, "study.order", order))["key"] == "study.order"

    @pytest.mark.parametrize("name", ["timeout", "time-out", "a b", "", "a, b; c @ $.id", "\u00e4"])
    @pytest.mark.parametrize(
        "table", ["", "study", "launch", "arm[1]", "task[0]", "study.max_attempts"]
    )
    def test_unknown(self, table: str, name: str) -> None:
        """A key that nobody knows is named, in whatever table it stands, as TOML writes it."""
        held = dict(places(FULL)).get(table, FULL)
        fields = refused(replaced(FULL, table, held | {name: 1}))
        key = name if re.fullmatch("[a-z-]+", name) else toml_of({name: 1}).partition(" = ")[0]
        expected = f"{table}.{key}".lstrip(".")
        assert fields["detail"] == "unknown key"
        assert fields["key"].encode().decode("unicode_escape") == expected

    def test_pins(self) -> None:
        """Any name may be pinned, to a text."""
        read(SMALL | {"pins": {"a b": "1", "_x": ""}})
        fields = refused(SMALL | {"pins": {"a": "1", "b": 2, "c": ["3"]}})
        assert (fields["key"], len(fields["more"])) == ("pins.b", 1)
        assert fields["more"][0].startswith("pins.c: ")


class TestArms:
    """What an arm says of its launch wins over what is shared."""

    def test_launch(self) -> None:
        """Field by field."""
        shared = LaunchTable(model="a", effort="low", env=("A",))
        arm = ArmTable(name="x", base="b", model="c", env=())
        assert launch_of(shared, arm) == LaunchTable(model="c", effort="low", env=())
