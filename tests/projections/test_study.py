"""What a study comes to at most, and what tells its arms apart."""

import pytest
from attrs import evolve
from immutables import Map

from forks_core.projections.study import arm_differences, at_most, study_row
from forks_core.rules.schedule import blocks
from forks_events.study import Arm, Attempts, Plan
from forks_events.values import FileDigest
from tests.histories import LAUNCH, PLAN

SKILL = evolve(LAUNCH, append_system_prompt=FileDigest(path="/skill.md", sha256="1" * 64))
NONE = evolve(LAUNCH, append_system_prompt=None, max_turns=5)


def plan(*arms: str, **changes: object) -> Plan:
    """A plan of one task, 3 and 2 runs, 1800 and 120 s, 6 USD a trial."""
    made = tuple(Arm(name=name, fingerprint="f" * 64, base=None) for name in arms)
    whole = evolve(PLAN, phase1_runs=3, phase2_runs=2, arms=made)
    for name, value in changes.items():
        whole = evolve(whole, **{name: value})  # type: ignore[arg-type]
    return whole


def most(told: Plan) -> dict[str, float | None]:
    """What it comes to at most."""
    names = [task.id for task in told.tasks], [arm.name for arm in told.arms]
    return at_most(told, blocks(*names, told.phase1_runs, told.phase2_runs, None))


def tries(overloaded: int, other: int, auth: int) -> Attempts:
    """How often a trial is tried."""
    return Attempts(overloaded=overloaded, other=other, auth=auth)


class TestAtMost:
    """No course of the study takes longer, or costs more, but for waits for a quota."""

    @pytest.mark.parametrize(
        ("attempts", "most_tries", "waits"),
        [
            (tries(4, 2, 2), 5, 60 + 120 + 240 + 30),
            (tries(1, 1, 1), 1, 0),
            (tries(2, 1, 1), 2, 60),
            (tries(1, 1, 3), 3, 2 * 30),
            (tries(1, 3, 1), 3, 2 * 5),
            (tries(1, 4, 2), 4, 30 + 2 * 5),
            (tries(7, 1, 1), 7, 60 + 120 + 240 + 480 + 900 + 900),
        ],
    )
    def test_attempts(self, attempts: Attempts, most_tries: int, waits: int) -> None:
        """Retries on overload come on top of the others, which are shared; each has its wait."""
        found = most(plan("a", "b", max_attempts=attempts))
        assert found["attempts_of_a_trial"] == most_tries
        assert found["seconds"] == 10 * 1920
        assert found["seconds_with_retries"] == 10 * (most_tries * 1920 + waits)
        assert (found["usd"], found["usd_with_retries"]) == (60.0, 60.0 * most_tries)

    @pytest.mark.parametrize(
        ("concurrency", "arms", "rounds"),
        [(1, 2, 5), (2, 2, 3), (3, 2, 2), (9, 2, 2), (2, 1, 3), (1, 3, 5)],
    )
    def test_at_once(self, concurrency: int, arms: int, rounds: int) -> None:
        """Pairs of one block run at once, the arms of a pair never do."""
        found = most(plan(*"abc"[:arms], concurrency=concurrency))
        assert found["seconds"] == rounds * arms * 1920

    @pytest.mark.parametrize(
        ("budget", "cap", "usd", "retried"),
        [(6.0, 200.0, 60.0, 200.0), (6.0, 50.0, 50.0, 50.0), (None, None, None, None)],
    )
    def test_money(
        self, budget: float | None, cap: float | None, usd: float | None, retried: float | None
    ) -> None:
        """A cap holds for both; without a budget nobody knows."""
        found = most(plan("a", "b", max_budget_usd=budget, budget_cap_usd=cap))
        assert (found["usd"], found["usd_with_retries"]) == (usd, retried)


class TestArms:
    """What tells arms apart, by dotted paths, with the value of each."""

    def test_one(self) -> None:
        """One arm differs from none."""
        assert arm_differences(plan("a"), [LAUNCH]) == {}

    def test_inside(self) -> None:
        """Where both have a file, its path and its digest differ; where one has none, all of it."""
        found = arm_differences(plan("a", "b", "c"), [LAUNCH, SKILL, NONE])
        assert found["append_system_prompt.path"] == {
            "a": "/run-forks/preamble.md",
            "b": "/skill.md",
            "c": None,
        }
        assert found["append_system_prompt"]["c"] is None
        assert found["append_system_prompt"]["b"] == {"path": "/skill.md", "sha256": "1" * 64}
        assert found["max_turns"] == {"a": None, "b": None, "c": 5}

    def test_only_between_later_ones(self) -> None:
        """Arms that differ from the first in the same way are told with it."""
        found = arm_differences(plan("a", "b", "c"), [LAUNCH, NONE, NONE])
        assert found["max_turns"] == {"a": None, "b": 5, "c": 5}

    def test_base(self) -> None:
        """The base that an arm forks counts too."""
        told = plan("a", "b")
        told = evolve(told, arms=(told.arms[0], evolve(told.arms[1], base="trained")))
        assert arm_differences(told, [LAUNCH, LAUNCH]) == {"base": {"a": None, "b": "trained"}}


class TestRow:
    """The study in numbers."""

    def test_who_goes_first(self) -> None:
        """Over five runs of one task the first arm goes first three times, the second twice."""
        told = plan("a", "b", pins=Map({"client_version": "2"}))
        made = blocks(["MB-01"], ["a", "b"], 3, 2, None)
        row = study_row(told, [LAUNCH, LAUNCH], made)
        assert [arm["goes_first"] for arm in row["arms"]] == [3, 2]
        assert row["trials_by_phase"] == {"1": 6, "2": 4}
        assert (row["blocks"], row["trials"], row["pins"]) == (2, 10, {"client_version": "2"})

    def test_a_phase_without_runs(self) -> None:
        """A phase of no runs has no trials, and is told."""
        row = study_row(plan("a"), [LAUNCH], blocks(["MB-01"], ["a"], 0, 1, None))
        assert row["trials_by_phase"] == {"1": 0, "2": 1}
