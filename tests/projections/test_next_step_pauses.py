"""How long the runner of a study waits for the quota, and what holds of every pause."""

from datetime import timedelta

import pytest
from immutables import Map

from forks_core.decider.runner import BeginPause, EndPause
from forks_core.projections.steps import Pause, Rest, Stop, Watch
from forks_events.trials import StopReason, Wait
from tests.decider.world import START
from tests.fates import OK
from tests.projections.stepping import (
    PLAIN,
    begins,
    failed,
    paused,
    reads,
    resumed,
    step,
)
from tests.studies import Shape, begun, concluded, ended, opened


class TestTheQuota:
    """The gate says wait."""

    @pytest.mark.rule("R2.6")
    def test_until_a_reset(self) -> None:
        """It is waited for 30 s longer than the reset is ahead."""
        world = opened()
        reads(world, five_hour=(1.0, 600))
        assert step(world) == Pause(wait=Wait.QUOTA, until=world.now + timedelta(seconds=630))

    @pytest.mark.rule("R2.6")
    def test_without_a_reset(self) -> None:
        """60 s, the first backoff."""
        world = opened()
        reads(world, five_hour=1.0)
        assert step(world) == Pause(wait=Wait.QUOTA, until=world.now + timedelta(seconds=60))

    @pytest.mark.rule("R2.6")
    def test_three_hours_at_most(self) -> None:
        """Then the gates are asked anew."""
        world = opened()
        reads(world, five_hour=(1.0, 5 * 3600))
        assert step(world) == Pause(wait=Wait.QUOTA, until=world.now + timedelta(hours=3))

    @pytest.mark.rule("R2.6")
    def test_the_same_reading_is_waited_for_once(self) -> None:
        """The window is full still, and yet the next attempt begins; a later reading waits again."""
        world = opened()
        reads(world, five_hour=1.0)
        paused(world)
        begins(world, PLAIN)
        reads(world, five_hour=1.0)
        assert isinstance(step(world), Pause)

    @pytest.mark.rule("R2.6")
    def test_behind_a_pause_the_gates_are_asked_anew(self) -> None:
        """What has changed meanwhile counts."""
        world = opened()
        reads(world, five_hour=1.0)
        paused(world)
        assert isinstance(step(world, free_gb=0.0), Stop)
        reads(world, seven_day=0.99)
        assert isinstance(step(world), Stop)

    @pytest.mark.rule("R2.6")
    def test_what_was_waited_for_a_trial_is_not_waited_again(self) -> None:
        """The reading behind a rate limit is waited for once, by the trial that it refused."""
        world = opened()
        failed(world, "bare")
        paused(world)
        begins(world, PLAIN, 2)

    @pytest.mark.rule("R2.6")
    def test_another_wait_says_nothing_of_the_quota(self) -> None:
        """Whoever waited for an overload waits for a full window too."""
        world = opened()
        failed(world, "overloaded")
        reads(world, five_hour=(1.0, 600))
        assert paused(world).wait is Wait.OVERLOADED
        assert paused(world).wait is Wait.QUOTA
        begins(world, PLAIN, 2)

    @pytest.mark.rule("R2.6")
    @pytest.mark.parametrize("seconds", [30, 60])
    def test_a_wait_that_passes_the_cutoff(self, seconds: float) -> None:
        """A run that could only wait until the cutoff stops for it now."""
        world = opened(Shape(plan=Map(cutoff=START + timedelta(hours=1))))
        world.now = START + timedelta(hours=1) - timedelta(seconds=seconds)
        reads(world, five_hour=1.0)
        assert step(world) == Stop(
            reason=StopReason.TIME, detail="to wait for quota passes the cutoff"
        )
        world.later(-1 - (60 - seconds))
        assert isinstance(step(world), Pause)

    @pytest.mark.rule("R2.6")
    def test_a_trial_s_wait_that_passes_the_cutoff(self) -> None:
        """The same holds of a wait for a trial."""
        world = opened(Shape(plan=Map(cutoff=START + timedelta(seconds=60))))
        assert failed(world, "overloaded") == Stop(
            reason=StopReason.TIME, detail="to wait for overloaded passes the cutoff"
        )


class TestPauses:
    """A pause that goes on."""

    @pytest.mark.rule("R2.6")
    def test_it_goes_on_over_runs(self) -> None:
        """Another run rests until the same instant, and asks no gate but for a stop."""
        world = opened()
        reads(world, five_hour=(1.0, 600))
        until = world.now + timedelta(seconds=630)
        world.do(BeginPause(wait=Wait.QUOTA, until=until))
        run = resumed(world)
        world.later(60)
        assert step(world, **run) == Rest(until=until)
        assert step(world, stops=1, **run) == Stop(reason=StopReason.USER)
        world.later(3600)
        assert step(world, **run) == Rest(until=until)

    @pytest.mark.rule("R2.6")
    def test_it_tells_what_was_planned_and_what_was(self) -> None:
        """The log has the planned seconds, and the real ones."""
        world = opened()
        world.do(BeginPause(wait=Wait.QUOTA, until=world.now + timedelta(seconds=61)))
        world.later(64)
        (said,) = world.do(EndPause())
        pause = world.events[-2]
        assert (pause.planned_s, said.real_s) == (60, 65)  # type: ignore[union-attr]

    @pytest.mark.rule("R2.6")
    def test_nothing_pauses_while_attempts_go_on(self) -> None:
        """A pause begins when they are over."""
        world = opened(Shape(phase1=2, plan=Map(concurrency=2)))
        job = begun(world, PLAIN)
        reads(world, five_hour=(1.0, 600))
        assert step(world) == Watch()
        ended(world, job, OK)
        concluded(world, PLAIN)
        reads(world, five_hour=(1.0, 600))
        assert isinstance(step(world), Pause)
