"""Going on where another runner left off, and ending when somebody asks for it."""

from itertools import pairwise

import pytest
from immutables import Map

from forks_core.decider.runner import RequestStop
from forks_core.decider.study import Schedule
from forks_core.errors import Refused
from forks_core.reducer import fold
from forks_core.registry import Created, Ended
from forks_events.run import OrchestratorSeen
from forks_events.trials import (
    AttemptAborted,
    AttemptConcluded,
    InfraKind,
    StopReason,
    TrialBegun,
)
from tests.histories import SETTINGS
from tests.runner import laws
from tests.runner.driving import PLAIN, SKILL, at_rest, blow_at, kinds, made, of, run_on, run_once
from tests.runner.world import Blow, World
from tests.studies import Shape, study

ONE = Shape(arms=1)
TWO_PAIRS = Shape(phase1=2, plan=Map(concurrency=2))


def seen_at_s(world: World) -> list[float]:
    """When it was said that the orchestrator is there, in monotonic seconds."""
    return [
        at
        for event, at in zip(world.log.events, world.log.times, strict=True)
        if isinstance(event, OrchestratorSeen)
    ]


class TestResuming:
    """Resuming is folding the log, and running what is pending."""

    @pytest.mark.rule("R6.1", "E11")
    def test_an_attempt_that_goes_on_is_adopted(self) -> None:
        """It is not paid twice: the next run waits for it, and judges it."""
        world = made(ONE, fates={PLAIN: ("slow",)}, blows=[at_rest("crash", 20)])
        assert run_once(world, ONE) is None
        assert not fold(world.log.events).trials[PLAIN].last.end
        run_on(world, ONE)
        assert len(of(world, TrialBegun)) == 1
        assert kinds(world) == [None]

    @pytest.mark.rule("R6.1", "E11")
    def test_an_attempt_that_ended_meanwhile_is_judged(self) -> None:
        """Its check is made up."""
        world = made(ONE, fates={PLAIN: ("slow",)}, blows=[at_rest("crash")])
        assert run_once(world, ONE) is None
        world.pass_(500)
        assert not of(world, AttemptConcluded)
        run_on(world, ONE)
        assert len(of(world, TrialBegun)) == 1
        (said,) = of(world, AttemptConcluded)
        assert said.passed

    @pytest.mark.rule("R6.1", "E11")
    @pytest.mark.parametrize("away_s", [1.0, 121.0, 3600.0])
    def test_an_attempt_that_was_never_started_is_started(self, away_s: float) -> None:
        """However long ago it was decided, it is no lost one."""
        world = made(ONE, blows=[blow_at("appended TrialBegun", ONE)])
        assert run_once(world, ONE) is None
        (job,) = fold(world.log.events).jobs.values()
        assert isinstance(job.state, Created)
        world.pass_(away_s)
        run_on(world, ONE)
        assert kinds(world) == [None]
        assert len(of(world, TrialBegun)) == 1

    @pytest.mark.rule("E11")
    def test_only_a_lost_attempt_is_retried(self) -> None:
        """A job whose supervisor died is booked, and tried again."""
        world = made(ONE, fates={PLAIN: ("lost", "ok")})
        run_on(world, ONE)
        assert kinds(world) == [InfraKind.RUNNER, None]
        laws.no_money_is_forgotten(world)

    @pytest.mark.rule("E11")
    def test_the_runner_is_its_jobs_orchestrator(self) -> None:
        """While an attempt goes on it says so at least every quarter of what makes an orphan."""
        world = made(TWO_PAIRS, fates={PLAIN: ("slow",), SKILL: ("overloaded", "slow")})
        run_on(world, TWO_PAIRS)
        at_s = seen_at_s(world)
        gaps = [later - at for at, later in pairwise(at_s)]
        assert len(gaps) > 4
        assert max(gaps) <= SETTINGS.orphan_after / 4

    @pytest.mark.rule("E11")
    def test_also_while_it_judges(self) -> None:
        """A check that takes long orphans no other attempt."""
        world = made(TWO_PAIRS, check_s=700)
        run_on(world, TWO_PAIRS)
        at_s = seen_at_s(world)
        assert max(later - at for at, later in pairwise(at_s)) <= SETTINGS.orphan_after / 4
        assert at_s[-1] > 3 * 700

    @pytest.mark.rule("R6.1", "E7")
    def test_another_plan_is_refused(self) -> None:
        """A study that was run goes on by the plan that was registered, or not at all."""
        world = made(ONE, blows=[Blow(after=12, what="crash")])
        run_once(world, ONE)
        changed: Schedule = study(Shape(arms=1, plan=Map(max_budget_usd=7.0)))
        with pytest.raises(Refused) as refused:
            world.say(changed)
        assert refused.value.fields == {
            "fields": ["max_budget_usd"],
            "changes": {"max_budget_usd": {"was": 6.0, "is": 7.0}},
        }
        length = len(world.log.events)
        world.say(study(ONE))
        assert len(world.log.events) == length


class TestStops:
    """Somebody asks for the end."""

    @pytest.mark.rule("R2.1")
    def test_once(self) -> None:
        """The attempt ends by itself and is judged; then the run ends."""
        world = made(Shape(), blows=[at_rest("stop")])
        stopped = run_once(world, Shape())
        assert stopped
        assert stopped.reason is StopReason.USER
        assert [event.trial_id for event in of(world, AttemptConcluded)] == [PLAIN]
        assert not of(world, AttemptAborted)

    @pytest.mark.rule("R2.1")
    @pytest.mark.parametrize(
        "blows",
        [
            [at_rest("stop twice")],
            [at_rest("stop"), Blow(after=0, what="ask")],
            [at_rest("ask"), Blow(after=0, what="ask")],
        ],
        ids=["signals", "both", "asked"],
    )
    def test_twice(self, blows: list[Blow]) -> None:
        """The attempt is ended, its trial stays pending, and its money is booked."""
        world = made(Shape(), blows=blows, fates={PLAIN: ("slow",)})
        stopped = run_once(world, Shape())
        assert stopped
        assert stopped.reason is StopReason.USER
        assert [event.trial_id for event in of(world, AttemptAborted)] == [PLAIN]
        assert not of(world, AttemptConcluded)
        laws.no_money_is_forgotten(world)
        run_on(world, Shape())
        assert kinds(world) == [None]
        laws.hold(world, Shape())

    @pytest.mark.rule("R2.1")
    def test_twice_while_a_check_goes_on(self) -> None:
        """The check is not waited for: the next run makes it up."""
        world = made(ONE, blows=[blow_at("judges", ONE, "stop twice")])
        stopped = run_once(world, ONE)
        assert stopped
        assert stopped.reason is StopReason.USER
        assert not of(world, AttemptConcluded)
        assert all(isinstance(job.state, Ended) for job in fold(world.log.events).jobs.values())
        run_on(world, ONE)
        assert kinds(world) == [None]

    @pytest.mark.rule("R2.1")
    def test_a_request_counts_once(self) -> None:
        """The same request again is no second one, and none is heard behind the end."""
        world = made(ONE, blows=[at_rest("ask")])
        run_once(world, ONE)
        length = len(world.log.events)
        world.say(RequestStop(nth=2))
        assert len(world.log.events) == length
