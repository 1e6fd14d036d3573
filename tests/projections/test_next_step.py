"""What the runner of a study does next: the gates in their order, before every attempt."""

from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from attrs import evolve, field, frozen
from immutables import Map

from forks_core.decider.jobs import RequestKill
from forks_core.decider.runner import RequestStop
from forks_core.projections.steps import (
    Abort,
    Begin,
    EndJobs,
    Judge,
    Step,
    Stop,
    Watch,
)
from forks_core.rules.outcome import Imposed
from forks_events.trials import StopReason
from forks_events.words import Reason, Status
from tests.decider.world import START
from tests.fates import LOST, OK, Told, fate
from tests.projections.stepping import PLAIN, SKILL, failed, reads, reason_of, resumed, step
from tests.studies import Shape, begun, concluded, ended, opened, tried

USER = Stop(reason=StopReason.USER)
KILLED = Told(imposed=Imposed(status=Status.KILLED, reason=Reason.KILL), exit_code=-9)


@frozen(kw_only=True)
class Gate:
    """What closes a gate.

    Args:
        reason: What the run then stops for, or None: it pauses.
        plan: Fields of the plan.
        seen: What is seen of the world.
        quota: What is read of the account.
    """

    reason: StopReason | None
    plan: Map[str, Any] = field(factory=Map)
    seen: Map[str, Any] = field(factory=Map)
    quota: Map[str, Any] = field(factory=Map)


GATES = {
    "asked": Gate(reason=StopReason.USER, seen=Map(stops=1)),
    "cutoff": Gate(reason=StopReason.TIME, plan=Map(cutoff=START)),
    "budget": Gate(reason=StopReason.BUDGET, plan=Map(budget_cap_usd=6.0)),
    "disk": Gate(reason=StopReason.DISK, seen=Map(free_gb=1.9)),
    "quota stop": Gate(reason=StopReason.QUOTA, quota=Map(seven_day=0.95)),
    "quota wait": Gate(reason=None, quota=Map(five_hour=1.0)),
}
"""In their order; each is closed in a world that has spent 0.1 USD."""


def through(*names: str) -> Step:
    """What is next when so many gates are closed."""
    closed = [GATES[name] for name in names]
    plan: Map[str, Any] = Map()
    seen: dict[str, Any] = {}
    quota: dict[str, Any] = {}
    for gate in closed:
        plan = plan.update(gate.plan)
        seen |= gate.seen
        quota |= gate.quota
    world = opened(Shape(plan=plan))
    tried(world, PLAIN)
    reads(world, **quota)
    return step(world, **seen)


@pytest.mark.rule("R2.1", "R2.2", "R2.3", "R2.4", "R2.5", "R2.6")
class TestTheOrderOfTheGates:
    """Before every attempt they are asked one after the other."""

    def test_all_open(self) -> None:
        """Where none is closed, the next attempt begins."""
        assert through() == Begin(trial_id=SKILL, attempt=1)

    @pytest.mark.parametrize("name", GATES)
    def test_each_alone(self, name: str) -> None:
        """Each of them is enough."""
        assert reason_of(through(name)) is GATES[name].reason

    @pytest.mark.parametrize("size", range(2, len(GATES) + 1))
    def test_the_first_counts(self, size: int) -> None:
        """Of two that are closed, and of any more, the first one says why."""
        for names in combinations(GATES, size):
            assert reason_of(through(*names)) is GATES[names[0]].reason

    def test_a_retry_passes_them_too(self) -> None:
        """They are asked before every attempt, not before every trial."""
        world = opened(Shape(plan=Map(cutoff=START + timedelta(hours=1))))
        failed(world, "crash")
        world.later(3600)
        assert reason_of(step(world)) is StopReason.TIME


class TestClosed:
    """A run that may begin nothing more sees to its end what goes on."""

    CLOSED = Stop(reason=StopReason.QUOTA, detail="gated", retry_at=START)

    @pytest.mark.rule("E11", "R6.1")
    def test_what_goes_on_is_judged(self) -> None:
        """Then it ends as it was closed: no other trial is begun, and none is tried again."""
        for name, final in (("ok", True), ("crash", False)):
            world = opened()
            job = begun(world, PLAIN)
            assert step(world, closed=self.CLOSED) == Watch()
            ended(world, job, fate(name, world.now))
            judge = Judge(trial_id=PLAIN, attempt=1, job=job)
            assert step(world, closed=self.CLOSED) == judge
            concluded(world, PLAIN)
            assert (world.registry.trials[PLAIN].final is not None) is final
            assert step(world, closed=self.CLOSED) == self.CLOSED

    @pytest.mark.rule("R6.1")
    def test_where_nothing_is_left(self) -> None:
        """A study that is done is done."""
        world = opened(Shape(arms=1))
        tried(world, PLAIN)
        assert step(world, closed=self.CLOSED) == Stop(reason=StopReason.DONE)

    @pytest.mark.rule("R2.1", "R2.2", "R2.3", "R2.4", "R2.5")
    @pytest.mark.parametrize("name", [name for name, gate in GATES.items() if gate.reason])
    def test_the_gates_say_first_why(self, name: str) -> None:
        """A gate that stops says why, whatever the run was closed for; no wait is begun."""
        gate = GATES[name]
        world = opened(Shape(plan=gate.plan))
        tried(world, PLAIN)
        reads(world, **gate.quota)
        assert reason_of(step(world, closed=self.CLOSED, **gate.seen)) is gate.reason
        reads(world, five_hour=1.0)
        assert isinstance(step(world, closed=self.CLOSED, **gate.seen), Stop)


class TestStopRequests:
    """Somebody wants the run to end."""

    @pytest.mark.rule("R2.1")
    def test_once_while_nothing_goes_on(self) -> None:
        """It ends at once."""
        world = opened()
        assert step(world, stops=1) == USER
        world.do(RequestStop(nth=1))
        assert step(world) == USER

    @pytest.mark.rule("R2.1")
    def test_once_lets_the_attempt_end(self) -> None:
        """The attempt goes on, is judged, and then the run ends; nothing is begun any more."""
        world = opened()
        job = begun(world, PLAIN)
        assert step(world, stops=1) == Watch()
        ended(world, job, OK)
        assert step(world, stops=1) == Judge(trial_id=PLAIN, attempt=1, job=job)
        concluded(world, PLAIN)
        assert step(world, stops=1) == USER

    @pytest.mark.rule("R2.1")
    @pytest.mark.parametrize(
        "asked",
        [
            pytest.param((0, 2), id="by signals"),
            pytest.param((1, 1), id="by both"),
            pytest.param((2, 0), id="by the verb"),
        ],
    )
    def test_twice_ends_the_attempt(self, asked: tuple[int, int]) -> None:
        """Asked twice, by whomever, what goes on is ended, and its trial stays pending."""
        world = opened()
        job = begun(world, PLAIN)
        requests, signals = asked
        world.do(*(RequestStop(nth=nth + 1) for nth in range(requests)))
        assert step(world, stops=signals) == EndJobs(jobs=(job,))
        world.do(RequestKill(job=job, reason=Reason.KILL))
        ended(world, job, KILLED)
        assert step(world, stops=signals) == Abort(trial_id=PLAIN, attempt=1)

    @pytest.mark.rule("R2.1")
    def test_twice_judges_nothing_any_more(self) -> None:
        """What ended by itself is judged by the next run."""
        world = opened()
        job = begun(world, PLAIN)
        ended(world, job, OK)
        assert step(world, stops=2) == USER
        assert step(world, **resumed(world)) == Judge(trial_id=PLAIN, attempt=1, job=job)

    @pytest.mark.rule("R2.1")
    def test_a_killer_that_was_killed(self) -> None:
        """Also when nobody could say any more that it was ended, it was nobody's failure."""
        world = opened()
        job = begun(world, PLAIN)
        world.do(RequestKill(job=job, reason=Reason.KILL))
        ended(world, job, Told(imposed=LOST, exit_code=None))
        assert step(world) == Abort(trial_id=PLAIN, attempt=1)

    @pytest.mark.rule("R2.1")
    def test_work_that_was_done_before_the_kill_counts(self) -> None:
        """A client that had given its result is judged, killed or not."""
        for imposed in (None, LOST):
            world = opened()
            job = begun(world, PLAIN)
            world.do(RequestKill(job=job, reason=Reason.KILL))
            ended(world, job, evolve(OK, imposed=imposed, exit_code=None))
            assert step(world) == Judge(trial_id=PLAIN, attempt=1, job=job)

    @pytest.mark.rule("R2.1")
    def test_a_new_run_was_asked_for_nothing(self) -> None:
        """Requests end with the run that they were made to."""
        world = opened()
        world.do(RequestStop(nth=1), RequestStop(nth=2))
        assert step(world, **resumed(world)) == Begin(trial_id=PLAIN, attempt=1)
