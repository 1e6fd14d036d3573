"""``study run``, killed again and again in one life: the whole comes out as if nothing had been."""

import pytest

from tests.cli.conftest import MakeWorld
from tests.study_world import costs, is_whole

PLACES = (
    "RunnerStarted",
    "TrialBegun",
    "JobLaunched",
    "StreamOpened",
    "JobEnded",
    "AttemptConcluded",
)
"""The events after which a runner is killed, each in a trial of its own."""


@pytest.mark.rule("E10", "E11", "R6.1")
def test_killed_in_each_trial(make_world: MakeWorld) -> None:
    """Killed once in each of six trials, at another place: the same schedule, and nothing twice."""
    world = make_world(phase1_runs=3).scheduled()
    schedule = world.events("StudyScheduled")
    for event in PLACES:
        assert world.start().killed_at(event)
    said = world.go()
    assert (said.code, said.content["reason"]) == (0, "DONE")
    assert world.events("StudyScheduled") == schedule
    assert len(world.events("RunnerStarted")) == len(PLACES) + 1
    is_whole(world)
    # No attempt was made twice: what was begun was adopted.
    assert [row["attempt"] for row in world.rows()] == [1] * 6
    by_arm = [cost for name, cost in sorted(costs(world).items()) if name.endswith("plain")]
    assert by_arm == pytest.approx([by_arm[0]] * 3, rel=0.01)
    world.nothing_left()
