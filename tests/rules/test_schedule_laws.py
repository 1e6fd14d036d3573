"""The schedule of any study: what is refused, what always holds, and parts of it."""

from itertools import groupby
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.errors import Refused
from forks_core.rules.schedule import blocks, flat, of_entries, only, safe_id, seed
from forks_events.study import Entry
from tests.projections.builders import reached

Plan = dict[str, Any]
GOOD: Plan = {
    "tasks": ("a", "b"),
    "arms": ("x", "y"),
    "phase1_runs": 2,
    "phase2_runs": 1,
    "schedule_seed": 7,
}
COUNTS = st.integers(0, 3)
PLANS: st.SearchStrategy[Plan] = st.fixed_dictionaries(
    {
        "tasks": st.lists(st.sampled_from("abcd"), unique=True, min_size=1),
        "arms": st.lists(st.sampled_from("xyz"), unique=True, min_size=1),
        "phase1_runs": COUNTS,
        "phase2_runs": COUNTS,
        "schedule_seed": st.none() | st.integers(0, 9),
    }
)


def entries_of(plan: Plan) -> tuple[Entry, ...]:
    """All trials of a plan, in order."""
    return flat(blocks(**plan))


@pytest.mark.rule("E1")
class TestRefused:
    """A plan whose trials could not be told apart, or named, is refused when it is scheduled."""

    @pytest.mark.rule("A4.7")
    @pytest.mark.parametrize(
        ("change", "message", "fields"),
        [
            ({"tasks": ("a", "b", "a")}, "duplicate task", {"task": "a"}),
            ({"arms": ("x", "y", "y")}, "duplicate arm", {"arm": "y"}),
            ({"tasks": ()}, "no task", {}),
            ({"arms": ()}, "no arm", {}),
            ({"tasks": ("a", "../b")}, "^unsafe task: 1 to 80", {"task": "../b"}),
            ({"arms": ("x", "")}, "unsafe arm", {"arm": ""}),
            ({"phase1_runs": -1}, "negative", {"phase": 1, "runs": -1}),
            ({"phase2_runs": -2}, "negative", {"phase": 2, "runs": -2}),
        ],
    )
    def test_refused(self, change: Plan, message: str, fields: dict[str, object]) -> None:
        """It is told which name, or which count, is wrong."""
        with pytest.raises(Refused, match=message) as refused:
            blocks(**GOOD | change)
        assert refused.value.fields == fields

    def test_names_that_meet(self) -> None:
        """Names that are safe each, and would give two trials one id, are refused too."""
        meeting = GOOD | {"tasks": ("a", "a-r1"), "arms": ("x", "r2-x")}
        with pytest.raises(Refused, match="two trials would have one id") as refused:
            blocks(**meeting)
        assert refused.value.fields == {"trial_id": "a-r1-r2-x"}
        assert len(entries_of(meeting | {"phase1_runs": 1, "phase2_runs": 0})) == 4

    def test_nothing_to_run(self) -> None:
        """Counts of zero are no mistake: there are no blocks."""
        assert blocks(**GOOD | {"phase1_runs": 0, "phase2_runs": 0}) == ()

    @pytest.mark.parametrize("name", ["MB-01", "a", "0", "A.b_c-9", "-", "_", "a.", "x" * 80])
    def test_safe(self, name: str) -> None:
        """Letters, digits, ``. _ -``, 1 to 80 of them."""
        assert safe_id(name)

    @pytest.mark.parametrize(
        "name",
        ["", "x" * 81, ".", "..", ".a", "a/b", "a b", "a\n", "a:b", "a\0", "\u00e4", "\u0661"],
    )
    def test_unsafe(self, name: str) -> None:
        """Nothing else, no letters and digits of other scripts, and no dot in front."""
        assert not safe_id(name)


class TestLaws:
    """Whatever the plan is, its schedule is a list of trials that nothing but the plan decides."""

    @pytest.mark.rule("A4.5")
    @settings(deadline=None)
    @given(PLANS, st.none() | st.integers())
    def test_law_deterministic(self, plan: Plan, other: int | None) -> None:
        """The same plan has the same schedule, and its seed is only recorded."""
        assert blocks(**plan) == blocks(**plan)
        reseeded = entries_of(plan | {"schedule_seed": other})
        assert reseeded == tuple(evolve(e, schedule_seed=other) for e in entries_of(plan))

    @pytest.mark.rule("A3.3", "A3.4")
    @settings(deadline=None)
    @given(PLANS)
    def test_law_each_once(self, plan: Plan) -> None:
        """Each arm has each repeat of each task once, under an id of its own."""
        made = entries_of(plan)
        runs = range(plan["phase1_runs"] + plan["phase2_runs"])
        expected = [(t, r, a) for t in plan["tasks"] for r in runs for a in plan["arms"]]
        assert sorted((e.task, e.run_index, e.arm) for e in made) == sorted(expected)
        assert len({entry.trial_id for entry in made}) == len(made)

    @pytest.mark.rule("A4.4")
    @settings(deadline=None)
    @given(PLANS)
    def test_law_numbered(self, plan: Plan) -> None:
        """Places are counted from 0 through the whole schedule, without a gap."""
        made = entries_of(plan)
        assert [entry.order_index for entry in made] == list(range(len(made)))

    @pytest.mark.rule("A4.2")
    @settings(deadline=None)
    @given(PLANS)
    def test_law_phases(self, plan: Plan) -> None:
        """All of the first phase comes before all of the second, each with its own repeats."""
        made = blocks(**plan)
        assert [block.phase for block in made] == sorted(block.phase for block in made)
        assert all((e.run_index < plan["phase1_runs"]) == (e.phase == 1) for e in flat(made))

    @pytest.mark.rule("A3.5", "A3.7")
    @settings(deadline=None)
    @given(PLANS)
    def test_law_pairs(self, plan: Plan) -> None:
        """The trials of one repeat follow each other, by slot, the first arm first."""
        grouped = groupby(entries_of(plan), key=lambda e: (e.task, e.run_index))
        pairs = [list(pair) for _, pair in grouped]
        assert len(pairs) == len(plan["tasks"]) * (plan["phase1_runs"] + plan["phase2_runs"])
        for pair in pairs:
            assert [entry.arm_slot for entry in pair] == list(range(len(plan["arms"])))
            assert {entry.first_arm for entry in pair} == {pair[0].arm}

    @pytest.mark.rule("A5.1")
    @settings(deadline=None)
    @given(PLANS)
    def test_law_seeds(self, plan: Plan) -> None:
        """Moving repeats from one phase to the other, or another schedule seed, moves no seed."""
        runs = plan["phase1_runs"] + plan["phase2_runs"]
        moved = plan | {"phase1_runs": runs, "phase2_runs": 0, "schedule_seed": 1}
        seeds = [
            {e.trial_id: seed(e.task, e.run_index) for e in entries_of(p)} for p in (plan, moved)
        ]
        assert seeds[0] == seeds[1]
        assert all(0 <= number < 1_000_000 for number in seeds[0].values())

    @pytest.mark.rule("A4.3")
    @settings(deadline=None)
    @given(PLANS)
    def test_law_recorded(self, plan: Plan) -> None:
        """A flat schedule that was recorded gives its blocks back."""
        assert of_entries(entries_of(plan)) == blocks(**plan)

    @pytest.mark.rule("A3.6")
    @settings(deadline=None)
    @given(PLANS, st.data())
    def test_law_parts(self, plan: Plan, data: st.DataObject) -> None:
        """One task, or one arm, is what the whole study has of it: nothing of an entry changes."""
        task = data.draw(st.none() | st.sampled_from(plan["tasks"]))
        arm = data.draw(st.none() | st.sampled_from(plan["arms"]))
        whole = blocks(**plan)
        if not whole:
            return
        part = only(whole, task=task, arm=arm)
        assert flat(part) == tuple(
            e for e in flat(whole) if task in {None, e.task} and arm in {None, e.arm}
        )
        assert of_entries(flat(part)) == part

    @pytest.mark.parametrize(
        "shape",
        [
            pytest.param(
                lambda p: len(p["arms"]) == 3 and p["phase1_runs"] and p["phase2_runs"] > 1,
                id="three arms in two phases",
            ),
            pytest.param(lambda p: p["tasks"] != sorted(p["tasks"]), id="tasks in another order"),
            pytest.param(lambda p: not p["phase1_runs"] and p["phase2_runs"], id="no first phase"),
            pytest.param(
                lambda p: len({e.first_arm for e in entries_of(p)}) > 1, id="arms that take turns"
            ),
        ],
    )
    def test_reachability(self, shape: Any) -> None:
        """Among the plans are those that could break a law."""
        assert reached(PLANS, lambda plan: bool(shape(plan)))


@pytest.mark.rule("A3.6")
class TestOnly:
    """Running one task or one arm keeps the places of the whole study."""

    def test_parity(self) -> None:
        """The second task alone still lets its other arm go first."""
        (first, second) = only(blocks(**GOOD), task="b")
        assert [e.arm for e in first.entries] == ["y", "x", "x", "y"]
        assert [e.order_index for e in second.entries] == [10, 11]
        assert {e.task_pos for e in flat((first, second))} == {1}

    def test_arm(self) -> None:
        """An arm alone keeps its slots, and every block its repeats."""
        made = only(blocks(**GOOD), arm="y")
        assert [(block.id, block.runs) for block in made] == [
            ("P1-a", (0, 1)),
            ("P1-b", (0, 1)),
            ("P2-a", (2,)),
            ("P2-b", (2,)),
        ]
        assert [entry.arm_slot for entry in flat(made)] == [1, 0, 0, 1, 1, 0]

    @pytest.mark.parametrize(
        ("part", "fields"),
        [
            ({"task": "c"}, {"task": "c", "tasks": ["a", "b"]}),
            ({"arm": "z"}, {"arm": "z", "arms": ["x", "y"]}),
        ],
    )
    def test_unknown(self, part: dict[str, str], fields: dict[str, object]) -> None:
        """What is not in the study is refused, with what is."""
        with pytest.raises(Refused, match="unknown") as refused:
            only(blocks(**GOOD), **part)
        assert refused.value.fields == fields
