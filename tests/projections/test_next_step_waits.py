"""How long the runner of a study waits for a trial, and when it waits no more."""

from datetime import timedelta

import pytest

from forks_core.decider.runner import StopStudy
from forks_core.projections.steps import Begin, Pause, Stop
from forks_events.trials import StopReason, Wait
from tests.claude.lines import init, limit
from tests.decider.world import World
from tests.fates import Told, fate, reset_at, told
from tests.fates import failed as error
from tests.projections.stepping import (
    PLAIN,
    SKILL,
    begins,
    failed,
    paused,
    reads,
    reason_of,
    resumed,
    step,
)
from tests.studies import begun, concluded, ended, opened, tried


def waits_s(world: World, trial: str = PLAIN) -> tuple[Wait, float]:
    """What is waited for behind the last attempt at a trial, and for how long from its end."""
    said = step(world)
    assert isinstance(said, Pause), said
    end = world.registry.trials[trial].last.end
    assert end
    return said.wait, (said.until - end.at).total_seconds()


def rejected(world: World, seconds: float) -> Told:
    """A call that is refused by a window that begins anew in so many seconds."""
    refused = limit("rejected", resetsAt=reset_at(world.now, seconds))
    return told(init(), refused, error("You've hit your limit", 429), exit_code=1)


class TestTrials:
    """Behind an attempt that failed on infrastructure."""

    @pytest.mark.rule("R3.2")
    def test_a_limit_without_a_reset(self) -> None:
        """60 s, then 120 s, and so on without limit, up to 900 s."""
        world = opened()
        for attempt, seconds in enumerate((60, 120, 240, 480, 900, 900), start=1):
            begins(world, PLAIN, attempt)
            failed(world, "bare")
            assert waits_s(world) == (Wait.RATE_LIMIT, seconds)
            paused(world)
        begins(world, PLAIN, 7)

    @pytest.mark.rule("R3.2")
    def test_a_limit_with_a_reset(self) -> None:
        """1830 s for a reset 1800 s ahead, whatever was waited before."""
        world = opened()
        failed(world, "bare")
        paused(world)
        job = begun(world, PLAIN)
        # The attempt is judged two seconds from now.
        ended(world, job, rejected(world, 1800 + 2))
        concluded(world, PLAIN)
        assert waits_s(world) == (Wait.RATE_LIMIT, 1830)

    @pytest.mark.rule("R3.2")
    def test_the_reset_of_the_gate(self) -> None:
        """A limit that names no reset has the one that the gate knows."""
        world = opened()
        tried(world, PLAIN, told(init(), error("?", 429), exit_code=1))
        reads(world, five_hour=(1.0, 1800))
        assert waits_s(world) == (Wait.RATE_LIMIT, 1830)

    @pytest.mark.rule("R3.2")
    def test_the_reset_of_the_attempt(self) -> None:
        """A limit that names its reset has no other one."""
        world = opened()
        job = begun(world, PLAIN)
        ended(world, job, rejected(world, 1800 + 2))
        concluded(world, PLAIN)
        reads(world, five_hour=(1.0, 600))
        assert waits_s(world) == (Wait.RATE_LIMIT, 1830)

    @pytest.mark.rule("R3.3")
    def test_overload(self) -> None:
        """60, 120, 240 s; the fourth attempt is final and excluded, and the run moves on."""
        world = opened()
        for seconds in (60, 120, 240):
            failed(world, "overloaded")
            assert waits_s(world) == (Wait.OVERLOADED, seconds)
            paused(world)
        assert tried(world, PLAIN, fate("overloaded", world.now)).excluded
        begins(world, SKILL)

    @pytest.mark.rule("R3.4", "R6.5")
    def test_auth(self) -> None:
        """One retry behind 30 s; then the run stops, and the trial stays pending."""
        world = opened()
        failed(world, "auth")
        assert waits_s(world) == (Wait.AUTH, 30)
        paused(world)
        assert failed(world, "auth") == Stop(reason=StopReason.AUTH, detail=PLAIN)
        assert world.registry.trials[PLAIN].final is None

    @pytest.mark.rule("R3.4")
    def test_auth_comes_before_the_gates(self) -> None:
        """A run that gave up says so, whatever else would stop it; but for who asked for it."""
        world = opened()
        for _ in range(2):
            failed(world, "auth")
        reads(world, seven_day=0.99)
        assert reason_of(step(world, free_gb=0.0)) is StopReason.AUTH
        assert reason_of(step(world, stops=1)) is StopReason.USER

    @pytest.mark.rule("R3.4", "E4")
    def test_auth_again(self) -> None:
        """The next run tries the trial at once, and has a retry of its own."""
        world = opened()
        for _ in range(2):
            failed(world, "auth")
        world.do(StopStudy(reason=StopReason.AUTH))
        run = resumed(world)
        assert step(world, **run) == Begin(trial_id=PLAIN, attempt=3)
        tried(world, PLAIN, fate("auth", world.now))
        assert isinstance(step(world, **run), Pause)
        tried(world, PLAIN, fate("crash", world.now))
        # Two of the new run's: what an older one failed at is not counted again.
        assert world.registry.trials[PLAIN].final

    @pytest.mark.rule("R3.4", "E4")
    def test_a_new_run_begins_a_new_count(self) -> None:
        """One failure of the new run is its first, for other failures too."""
        world = opened()
        for name in ("auth", "auth", "crash"):
            failed(world, name)
        assert world.registry.trials[PLAIN].final is None
        assert waits_s(world) == (Wait.OTHER, 5)

    @pytest.mark.rule("R3.5")
    @pytest.mark.parametrize("name", ["crash", "mcp", "lost"])
    def test_other(self, name: str) -> None:
        """One retry behind 5 s; then it is final and excluded, and the run moves on."""
        world = opened()
        failed(world, name)
        assert waits_s(world) == (Wait.OTHER, 5)
        paused(world)
        assert tried(world, PLAIN, fate(name, world.now)).excluded
        begins(world, SKILL)

    @pytest.mark.rule("R3.6")
    @pytest.mark.parametrize("name", ["ok", "wrong", "timeout", "turns", "budget"])
    def test_none(self, name: str) -> None:
        """What did not fail on infrastructure is followed by the next trial."""
        assert failed(opened(), name) == Begin(trial_id=SKILL, attempt=1)

    @pytest.mark.rule("R3.2", "R3.3")
    def test_time_that_has_passed_is_not_waited_again(self) -> None:
        """A wait counts from the end of the attempt: a runner that was away waits less, or not."""
        world = opened()
        failed(world, "overloaded")
        world.later(20)
        assert waits_s(world) == (Wait.OVERLOADED, 60)
        world.later(40)
        begins(world, PLAIN, 2)

    @pytest.mark.rule("R3.3", "R6.1")
    def test_another_run_waits_for_the_rest(self) -> None:
        """What a trial waits for is known over runs."""
        world = opened()
        failed(world, "overloaded")
        end = world.registry.trials[PLAIN].last.end
        assert end
        assert step(world, **resumed(world)) == Pause(
            wait=Wait.OVERLOADED,
            until=end.at + timedelta(seconds=60),
            trial_id=PLAIN,
            attempt=1,
        )

    @pytest.mark.rule("R3.3")
    def test_a_clock_that_was_set_back_behind_the_wait(self) -> None:
        """What was waited for is not waited for again."""
        world = opened()
        failed(world, "overloaded")
        paused(world)
        world.later(-3600)
        begins(world, PLAIN, 2)

    @pytest.mark.rule("R3.3")
    def test_a_clock_that_was_set_back(self) -> None:
        """It makes no wait longer than it is."""
        world = opened()
        failed(world, "overloaded")
        world.later(-3600)
        said = step(world)
        assert isinstance(said, Pause)
        assert said.until - world.now == timedelta(seconds=60)
