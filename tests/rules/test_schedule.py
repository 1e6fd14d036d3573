"""The schedule of a study: order, ids, blocks, seeds."""

from typing import Any

import pytest
from attrs import asdict
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.errors import Refused
from forks_core.rules.schedule import (
    arm_order,
    block_id,
    blocks,
    first_arm,
    flat,
    seed,
    task_order,
    task_position,
    trial_id,
)
from tests.projections.builders import reached

TASKS = ("CDB-S01", *(f"MB-{number:02}" for number in range(1, 12)))
ARMS = ("plain", "skill")
PLAN: dict[str, Any] = {
    "tasks": ("a", "b"),
    "arms": ARMS,
    "phase1_runs": 2,
    "phase2_runs": 1,
    "schedule_seed": 7,
}
IDS = st.sampled_from(["CDB-2", "CDB-10", "MB-1", "MB-01", "MB-2", "MB-10", "MB-1a", "MB-", "x"])


class TestTaskOrder:
    """CDB tasks first, then MB tasks by number, then all others."""

    @pytest.mark.rule("A2.1", "A2.2", "A2.4")
    @pytest.mark.parametrize(
        ("ids", "expected"),
        [
            (
                ["CDB-S01", "MB-10", "MB-02", "MB-13", "MB-01"],
                ("CDB-S01", "MB-01", "MB-02", "MB-10", "MB-13"),
            ),
            (["x", "MB-1", "CDB-2", "CDB-10", "A"], ("CDB-10", "CDB-2", "MB-1", "A", "x")),
            (["MB-1", "MB-010", "MB-01", "MB-2"], ("MB-01", "MB-1", "MB-2", "MB-010")),
            (["MB-1", "MB-0", "MB-00"], ("MB-0", "MB-00", "MB-1")),
            (["MB-09", "MB-1"], ("MB-1", "MB-09")),
            (["MB-1a", "MB-", "L", "MB-900", "N"], ("MB-900", "L", "MB-", "MB-1a", "N")),
            (["MB-\u0661", "MB-9", "MB-1\n"], ("MB-9", "MB-1\n", "MB-\u0661")),
            (["MB-1" + "0" * 5000, "MB-" + "9" * 5000], ("MB-" + "9" * 5000, "MB-1" + "0" * 5000)),
        ],
    )
    def test_sorted(self, ids: list[str], expected: tuple[str, ...]) -> None:
        """Numbers are compared as numbers, then as text; what is no number is no numbered task."""
        assert task_order(ids) == expected

    @pytest.mark.rule("A2.3")
    def test_explicit(self) -> None:
        """An order that was asked for is kept, with all that is in it twice."""
        assert task_order(("a", "b"), ["b", "MB-1", "a", "b"]) == ("b", "MB-1", "a", "b")
        assert task_order(("a", "b"), ()) == ()

    @pytest.mark.rule("A2.3")
    @settings(deadline=None)
    @given(st.lists(IDS))
    def test_law_an_order(self, ids: list[str]) -> None:
        """Nothing is lost or doubled, and it does not matter how the tasks came."""
        assert sorted(task_order(ids)) == sorted(ids)
        assert task_order(reversed(ids)) == task_order(ids) == task_order(task_order(ids))

    def test_reachability(self) -> None:
        """The law looks at tasks of all groups, in another order, some of them twice."""
        assert reached(
            st.lists(IDS),
            lambda ids: {"CDB-2", "MB-1", "x"} <= set(ids) and task_order(ids) != tuple(ids),
        )
        assert reached(st.lists(IDS), lambda ids: len(set(ids)) < len(ids))


class TestArms:
    """The arms take turns in going first."""

    @pytest.mark.rule("A3.1", "A3.2", "A3.6")
    @pytest.mark.parametrize(
        ("position", "run_index", "arms", "expected"),
        [
            (4, 0, 2, 0),
            (4, 1, 2, 1),
            (3, 1, 2, 0),
            (3, 0, 2, 1),
            (1, 1, 3, 2),
            (2, 1, 3, 0),
            (2, 2, 3, 1),
            (5, 4, 1, 0),
        ],
    )
    def test_first(self, position: int, run_index: int, arms: int, expected: int) -> None:
        """Two arms go by the parity of place and repeat, n arms by the rest; one is always first."""
        assert first_arm(position, run_index, arms) == expected

    @pytest.mark.rule("A3.2")
    def test_no_arm(self) -> None:
        """Without an arm none is first."""
        with pytest.raises(Refused, match="no arm") as refused:
            first_arm(0, 0, 0)
        assert refused.value.fields == {"arms": 0}

    @pytest.mark.rule("A3.3")
    def test_order(self) -> None:
        """From the first one on, and around."""
        assert [arm_order("xyz", 1, run) for run in (0, 1, 2)] == [
            ("y", "z", "x"),
            ("z", "x", "y"),
            ("x", "y", "z"),
        ]

    @pytest.mark.rule("A3.4")
    def test_ids(self) -> None:
        """A trial's id counts repeats from 1."""
        assert (trial_id("MB-01", 0, "plain"), block_id(2, "MB-01")) == (
            "MB-01-r1-plain",
            "P2-MB-01",
        )

    @pytest.mark.rule("A3.6", "E1")
    def test_position(self) -> None:
        """The first place counts, also of what is there twice; an unknown task is refused."""
        assert task_position(TASKS[1:], "MB-05") == 4
        assert task_position(("a", "b", "a", "b"), "b") == 1
        with pytest.raises(Refused, match="unknown task") as refused:
            task_position(("a", "b"), "c")
        assert refused.value.fields == {"task": "c", "tasks": ["a", "b"]}

    @pytest.mark.rule("A3.1")
    @settings(deadline=None)
    @given(st.integers(0, 9), st.integers(0, 3), st.integers(1, 5))
    def test_law_balanced(self, start: int, run_index: int, pairs: int) -> None:
        """Of two arms, each is first equally often over an even number of places in a row."""
        firsts = [first_arm(start + step, run_index, 2) for step in range(2 * pairs)]
        assert firsts.count(0) == firsts.count(1) == pairs

    def test_reachability(self) -> None:
        """Over an odd number of places they are not balanced: the law has something to say."""
        assert [first_arm(place, 0, 2) for place in range(3)] == [0, 1, 0]


class TestSeed:
    """Each repeat of a task has a seed of its own."""

    @pytest.mark.rule("A5.1", "A5.2")
    @pytest.mark.parametrize(
        ("task", "expected"),
        [
            ("MB-01", [876957, 537493, 741372, 1253, 86201]),
            ("CDB-S01", [271012, 856257, 6992, 973740, 358428]),
        ],
    )
    def test_told(self, task: str, expected: list[int]) -> None:
        """It depends on task and repeat alone: no arm, phase or schedule seed is asked."""
        assert [seed(task, run_index) for run_index in range(5)] == expected


class TestBlocks:
    """All tasks with their first repeats, then all tasks with the others."""

    @pytest.mark.rule("A4.6", "A4.4")
    def test_worked(self) -> None:
        """12 tasks, 2 arms, 3+2 repeats: 24 blocks of 6 and of 4 entries, 120 trials."""
        made = blocks(TASKS, ARMS, 3, 2, 20261005)
        assert [len(block.entries) for block in made] == [6] * 12 + [4] * 12
        assert len({entry.trial_id for entry in flat(made)}) == 120
        for run_index in range(3):
            firsts = [
                e.first_arm for e in flat(made) if e.run_index == run_index and not e.arm_slot
            ]
            assert firsts.count("plain") == firsts.count("skill") == 6

    @pytest.mark.rule("A4.1", "A4.2", "A4.3")
    def test_phases(self) -> None:
        """The second phase goes on counting; a phase without repeats has no block."""
        made = blocks(**PLAN)
        assert [(block.id, block.phase, block.task, block.runs) for block in made] == [
            ("P1-a", 1, "a", (0, 1)),
            ("P1-b", 1, "b", (0, 1)),
            ("P2-a", 2, "a", (2,)),
            ("P2-b", 2, "b", (2,)),
        ]
        assert {block.id for block in blocks(**PLAN | {"phase1_runs": 0})} == {"P2-a", "P2-b"}
        assert {block.id for block in blocks(**PLAN | {"phase2_runs": 0})} == {"P1-a", "P1-b"}

    @pytest.mark.rule("A3.5", "A3.7")
    def test_entries(self) -> None:
        """Each says all of its place; those of one repeat follow each other, in arm order."""
        made = flat(blocks(**PLAN))
        assert asdict(made[7]) == {
            "trial_id": "b-r2-skill",
            "phase": 1,
            "block": "P1-b",
            "run_index": 1,
            "run": 2,
            "task": "b",
            "arm": "skill",
            "task_pos": 1,
            "arm_slot": 1,
            "first_arm": "plain",
            "schedule_seed": 7,
            "order_index": 7,
        }
        assert [entry.trial_id for entry in made[2:6]] == [
            "a-r2-skill",
            "a-r2-plain",
            "b-r1-skill",
            "b-r1-plain",
        ]
