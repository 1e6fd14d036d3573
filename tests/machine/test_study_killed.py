"""The runner of a study, killed at every event of a short one, and started again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.driver import Run
from tests.study_world import World, costs, is_whole

pytestmark = pytest.mark.machine
SCHEDULED = 5
"""Events of a study that is scheduled."""
LONGEST = 40


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The same study, that nobody harmed."""
    run = Run(tmp_path_factory.mktemp("unharmed"))
    world = World(run).scheduled()
    assert world.go().content["reason"] == "DONE"
    yield world
    world.close()
    run.close()


@pytest.mark.parametrize("events", range(SCHEDULED + 1, LONGEST))
def test_killed_at_every_event(unharmed: World, tmp_path: Path, events: int) -> None:
    """As soon as the log holds so many events it is killed; it comes out as if it had not been."""
    if events > unharmed.count():
        pytest.skip("the study is shorter")
    run = Run(tmp_path / "run")
    world = World(run).scheduled()
    assert world.count() == SCHEDULED
    schedule = world.events("StudyScheduled")[0]["entries"]
    harmed = world.start().killed_at(events)
    assert harmed or events >= unharmed.count() - 1
    assert world.go().content["reason"] == "DONE"
    assert world.events("StudyScheduled")[0]["entries"] == schedule
    assert schedule == unharmed.events("StudyScheduled")[0]["entries"]
    is_whole(world)
    assert costs(world) == costs(unharmed)
    assert [row["attempt"] for row in world.rows()] == [1, 1]
    world.close()
    run.close()
