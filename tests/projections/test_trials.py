"""Trials as the registry has them."""

import pytest

from forks_core.decider.jobs import RequestKill
from forks_core.decider.runner import BeginPause, EndPause
from forks_core.projections.steps import Pause
from forks_core.projections.trials import call_of, going_on, is_broken_off, is_under_way
from forks_core.rules.outcome import Imposed
from forks_events.words import Reason, Status
from tests.fates import OK, Told, fate
from tests.projections.stepping import PLAIN, SKILL, step
from tests.studies import Shape, begun, blocks_of, concluded, ended, opened, tried


@pytest.mark.rule("E11", "R7.2")
class TestUnderWay:
    """No gate may keep a study from being run again that has something to go on with."""

    def test_before_the_first_trial(self) -> None:
        """What was only started has nothing yet."""
        world = opened()
        assert not is_under_way(world.registry, blocks_of(world))

    def test_an_attempt(self) -> None:
        """An attempt that goes on, or waits to be judged; judged, and with more to do, it is none."""
        world = opened()
        job = begun(world, PLAIN)
        assert going_on(world.registry) == (job,)
        assert is_under_way(world.registry, blocks_of(world))
        ended(world, job, OK)
        assert going_on(world.registry) == ()
        assert is_under_way(world.registry, blocks_of(world))
        concluded(world, PLAIN)
        assert not is_under_way(world.registry, blocks_of(world))

    def test_a_wait(self) -> None:
        """While something is waited for; when that is over, no more."""
        world = opened(Shape(arms=1))
        tried(world, PLAIN, fate("overloaded", world.now))
        assert not is_under_way(world.registry, blocks_of(world))
        pause = step(world)
        assert isinstance(pause, Pause)
        world.do(BeginPause(wait=pause.wait, until=pause.until, trial_id=PLAIN, attempt=1))
        assert is_under_way(world.registry, blocks_of(world))
        world.now = pause.until
        world.do(EndPause())
        assert not is_under_way(world.registry, blocks_of(world))

    def test_done(self) -> None:
        """A study that is done is no matter of gates, however it came to its end."""
        world = opened()
        tried(world, PLAIN)
        assert not is_under_way(world.registry, blocks_of(world))
        tried(world, SKILL, fate("wrong", world.now))
        assert is_under_way(world.registry, blocks_of(world))


@pytest.mark.rule("E11", "R2.1")
@pytest.mark.parametrize("status", [Status.KILLED, Status.LOST])
@pytest.mark.parametrize("good", [True, False])
def test_broken_off(status: Status, *, good: bool) -> None:
    """A client that had given its good result when it was killed did its work, whoever booked it."""
    world = opened(Shape(arms=1))
    job = begun(world, PLAIN)
    world.do(RequestKill(job=job, reason=Reason.KILL))
    reason = Reason.KILL if status is Status.KILLED else Reason.SUPERVISOR_DEAD
    lines = OK.lines if good else OK.lines[:-1]
    ended(world, job, Told(lines=lines, imposed=Imposed(status=status, reason=reason)))
    call = call_of(world.registry, job)
    assert call is not None
    assert is_broken_off(world.registry.jobs[job], call) is not good
