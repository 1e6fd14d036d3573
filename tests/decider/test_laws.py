"""Laws of the decisions: whatever is asked, in whatever order, these hold after every step.

Three bases, few sessions and few processes, so that things meet.
"""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from forks_core.decider import Command, decide
from forks_core.decider.continue_ import Continue
from forks_core.decider.expire import Expire
from forks_core.decider.jobs import Beat, Hear, HoldJob, LaunchJob, RequestKill, StartClient
from forks_core.decider.run import SeeOrchestrator
from forks_core.decider.train import Train
from forks_core.decider.wait import Deliver
from forks_core.errors import Refused
from forks_core.projections.reaping import candidates
from forks_core.reducer import fold
from forks_core.registry import Active, Created, Ended, Failed, Registry, Retired
from forks_core.rules.cache import warmth
from forks_core.rules.naming import job_number
from forks_core.rules.outcome import Imposed
from forks_events import StreamEvent
from forks_events.jobs import (
    ClientStarted,
    JobBeat,
    JobCreated,
    JobDelivered,
    JobEnded,
    KillRequested,
)
from forks_events.words import Flag, Kind, Reason, Status, Warmth
from tests.decider.world import (
    INIT,
    SETTINGS,
    START,
    World,
    call,
    end,
    fork_command,
    opened,
    process,
    resulted,
    turned,
)

BASES = ("red", "green", "blue")
JOBS = tuple(f"j{number:04}" for number in range(1, 7))
IMPOSED = {
    "exit": None,
    "timeout": Imposed(status=Status.TIMEOUT),
    "orphaned": Imposed(status=Status.KILLED, reason=Reason.ORPHANED, flags=(Flag.ORPHANED,)),
    "kill": Imposed(status=Status.KILLED, reason=Reason.KILL),
    "lost": Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD),
}
jobs = st.sampled_from(JOBS)
bases = st.sampled_from(BASES)
pids = st.integers(min_value=1, max_value=3)


class Forks(RuleBasedStateMachine):
    """All commands, in any order, by anybody, at any time; refusals are part of the game."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.before = self.world.registry
        self.sessions = 0

    @initialize()
    def begin(self) -> None:
        """Every run begins with its init; one base is trained, so that forks are not rare."""
        self.ask(INIT)
        self.ask(Train(base="red", call=call(self.session())))
        self.ask(end("j0001", self.stream("j0001")))

    def ask(self, command: Command) -> None:
        """Decide, check that the same request again says nothing new, and fold."""
        self.before = self.world.registry
        try:
            said = decide(command, self.world.registry, self.world.now)
        except Refused:
            return
        after = fold(said, self.before)
        assert decide(command, after, self.world.now) == ()
        self.world.registry = after
        self.world.events += said

    def session(self) -> str:
        """A fresh session id."""
        self.sessions += 1
        return f"s-{self.sessions}"

    @rule(seconds=st.sampled_from([0, 1, 61, 121, 3000]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.world.later(seconds)

    @rule(base=bases)
    @precondition(lambda self: len(self.world.registry.jobs) < len(JOBS))
    def train(self, base: str) -> None:
        """Somebody trains a base."""
        self.ask(Train(base=base, call=call(self.session())))

    @rule(base=bases, block=st.sampled_from(["a", "b", "a b", "a_b"]))
    @precondition(lambda self: len(self.world.registry.jobs) < len(JOBS))
    def fork(self, base: str, block: str) -> None:
        """Somebody forks a base."""
        self.ask(fork_command(base, self.session(), block))

    @rule(job=jobs)
    @precondition(lambda self: len(self.world.registry.jobs) < len(JOBS))
    def continue_(self, job: str) -> None:
        """Somebody continues a fork."""
        known = self.world.registry.jobs.get(job)
        again = evolve(call(self.session()), session=known.spec.session if known else "s-0")
        self.ask(Continue(job=job, call=again, max_s=None))

    @rule(base=st.none() | bases)
    def expire(self, base: str | None) -> None:
        """Somebody expires a base, or all of them."""
        self.ask(Expire(base=base))

    @rule(job=jobs, pid=pids)
    def launch(self, job: str, pid: int) -> None:
        """A supervisor wants the job."""
        self.ask(LaunchJob(job=job, supervisor=process(pid)))

    @rule(job=jobs, behind=jobs)
    def hold(self, job: str, behind: str) -> None:
        """A supervisor waits for a sibling."""
        self.ask(HoldJob(job=job, behind=behind))

    @rule(job=jobs, pid=pids)
    def start(self, job: str, pid: int) -> None:
        """A client was started."""
        self.ask(StartClient(job=job, client=process(10 + pid)))

    @rule(job=jobs, length=st.integers(min_value=1, max_value=3))
    def hear(self, job: str, length: int) -> None:
        """A client said so much of what it has to say."""
        self.ask(Hear(job=job, after=0, said=self.stream(job)[:length]))

    @rule(job=jobs)
    def beat(self, job: str) -> None:
        """A supervisor lives."""
        self.ask(Beat(job=job, output_at=None, flags=(Flag.STALLED,)))

    @rule(job=jobs)
    def request_kill(self, job: str) -> None:
        """Somebody wants the job ended."""
        self.ask(RequestKill(job=job, reason=Reason.KILL))

    @rule(job=jobs, how=st.sampled_from(sorted(IMPOSED)), length=st.integers(0, 3))
    def end(self, job: str, how: str, length: int) -> None:
        """Somebody ends the job, having read so much of what its client said."""
        said = self.stream(job)[:length]
        code = 0 if how == "exit" else None
        self.ask(end(job, said, imposed=IMPOSED[how], exit_code=code))

    @rule(names=st.none() | st.sets(jobs, min_size=1), first=st.booleans())
    def deliver(self, names: set[str] | None, first: bool) -> None:  # noqa: FBT001
        """Somebody waits."""
        known = None if names is None else tuple(names & {*self.world.registry.jobs})
        self.ask(Deliver(names=known, first=first))

    @rule()
    def see(self) -> None:
        """The orchestrator calls."""
        self.ask(SeeOrchestrator())

    def stream(self, job: str) -> tuple[StreamEvent, ...]:
        """What the client of a job says, the same each time."""
        known = self.world.registry.jobs.get(job)
        session = known.spec.session if known else "s-0"
        return (opened(job, session), turned(job, START), resulted(job))

    # What holds after every step

    @invariant()
    def the_log_alone_yields_the_registry(self) -> None:
        """Folding the whole history again gives the very same state."""
        assert fold(self.world.events) == self.world.registry

    @invariant()
    def a_job_ends_once(self) -> None:
        """Any interleaving of exit, kill, expiry and reaping yields one end."""
        ended = self.of(JobEnded)
        assert len({event.job for event in ended}) == len(ended)

    @invariant()
    def an_end_is_for_good(self) -> None:
        """A final status never changes."""
        for name, job in self.before.jobs.items():
            if isinstance(job.state, Ended):
                state = self.world.registry.jobs[name].state
                assert isinstance(state, Ended)
                assert state.end == job.state.end

    @invariant()
    def forks_stay_under_the_cap(self) -> None:
        """As many forks and continues run as may, never more."""
        running = [
            job
            for job in self.world.registry.jobs.values()
            if job.spec.kind is not Kind.TRAIN and not job.ended
        ]
        assert len(running) <= SETTINGS.parallel_cap

    @invariant()
    def a_hit_never_moves_back(self) -> None:
        """The last hit of one training's base only grows."""
        for name, base in self.before.bases.items():
            now = self.world.registry.bases[name]
            if base.job == now.job and base.last_hit:
                assert now.last_hit
                assert now.last_hit >= base.last_hit

    @invariant()
    def a_result_is_delivered_once(self) -> None:
        """However often somebody waits."""
        delivered = self.of(JobDelivered)
        assert len({event.job for event in delivered}) == len(delivered)

    @invariant()
    def an_active_base_is_known(self) -> None:
        """Active means: a session to fork, and what it has read."""
        for base in self.world.registry.bases.values():
            if isinstance(base.state, Active):
                train = self.world.registry.jobs[base.job].state
                assert base.state.session
                assert isinstance(train, Ended)
                assert train.end.status is Status.OK
            elif isinstance(base.state, Failed):
                assert self.world.registry.jobs[base.job].ended

    @invariant()
    def a_retired_base_stays_retired(self) -> None:
        """It never becomes active again, and nothing is forked from it."""
        for name, base in self.before.bases.items():
            if isinstance(base.state, Retired):
                assert self.world.registry.bases[name] == evolve(
                    base, last_hit=self.world.registry.bases[name].last_hit
                )

    @invariant()
    def a_session_has_one_call_at_a_time(self) -> None:
        """A fork and its continues never run beside each other."""
        running = [job.spec.session for job in self.world.registry.jobs.values() if not job.ended]
        assert len(set(running)) == len(running)

    @invariant()
    def ids_only_grow(self) -> None:
        """Every job has a higher number than the one before it."""
        numbers = [job_number(event.job) for event in self.of(JobCreated)]
        assert numbers == sorted(set(numbers))

    @invariant()
    def a_kill_before_the_launch_means_no_client(self) -> None:
        """Once a job that nobody had launched shall be killed, its client never starts."""
        asked: set[str] = set()
        launched: set[str] = set()
        for event in self.world.events:
            name = type(event).__name__
            if name == "JobLaunched":
                launched.add(event.job)  # type: ignore[union-attr]
            elif isinstance(event, KillRequested) and event.job not in launched:
                asked.add(event.job)
            elif isinstance(event, ClientStarted):
                assert event.job not in asked

    @invariant()
    def settled_means_ended(self) -> None:
        """Only what is over satisfies anybody; the classes alone see to it, for all that is shown."""
        for job in self.world.registry.jobs.values():
            assert isinstance(job.state, Ended) or not hasattr(job.state, "settled_at")

    @invariant()
    def warmth_goes_one_way(self) -> None:
        """Without another hit a base is warm, then expiring, then cold."""
        order = [Warmth.WARM, Warmth.EXPIRING, Warmth.COLD]
        for base in self.world.registry.bases.values():
            if base.last_hit:
                ages = [base.last_hit + step * (self.world.now - START) for step in (0, 1, 2)]
                seen = [order.index(warmth(base.last_hit, 3600, at)[0]) for at in ages]
                assert seen == sorted(seen)

    @invariant()
    def reaping_leads_every_job_to_an_end(self) -> None:
        """From any prefix of the log, time and a reaper are enough."""
        registry = self.world.registry
        later = World(registry=registry, now=self.world.now)
        later.later(121)
        for job in candidates(registry, later.now, 120):
            later.do(end(job.spec.job, imposed=IMPOSED["lost"], exit_code=None))
        assert all(job.ended for job in later.registry.jobs.values())

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.world.events if isinstance(event, kind)]


Forks.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestForks = Forks.TestCase


def play(numbers: list[int]) -> Registry:
    """Play commands that numbers choose, on one base: a small machine whose end can be searched."""
    world = World()
    world.do(INIT, Train(base="red", call=call("s-1")))
    said = (opened("j0001", "s-1"), turned("j0001", START), resulted("j0001"))
    moves: list[Callable[[], Command]] = [
        lambda: LaunchJob(job="j0001", supervisor=process(1)),
        lambda: StartClient(job="j0001", client=process(2)),
        lambda: Hear(job="j0001", after=0, said=said),
        lambda: RequestKill(job="j0001", reason=Reason.KILL),
        lambda: end("j0001", said),
        lambda: end("j0001", exit_code=1),
        lambda: Deliver(names=None, first=False),
        lambda: fork_command("red", "s-2"),
    ]
    for number in numbers:
        try:
            world.do(moves[number]())
        except Refused:
            continue
    return world.registry


def _status(registry: Registry) -> Status | None:
    state = registry.jobs["j0001"].state
    return state.end.status if isinstance(state, Ended) else None


@pytest.mark.parametrize(
    "goal",
    [
        pytest.param(lambda r: _status(r) is Status.OK and len(r.jobs) == 2, id="a fork of a base"),
        pytest.param(lambda r: _status(r) is Status.KILLED, id="a killed job"),
        pytest.param(lambda r: isinstance(r.bases["red"].state, Failed), id="a failed base"),
        pytest.param(
            lambda r: r.jobs["j0001"].kill and isinstance(r.jobs["j0001"].state, Created),
            id="a kill before the launch",
        ),
        pytest.param(
            lambda r: getattr(r.jobs["j0001"].state, "settled_at", None), id="a settled job"
        ),
    ],
)
def test_what_the_laws_speak_of_is_reachable(goal: Callable[[Registry], object]) -> None:
    """None of the laws holds only because its case never comes."""
    found = find(
        st.lists(st.integers(min_value=0, max_value=7), max_size=8),
        lambda numbers: bool(goal(play(numbers))),
        settings=settings(max_examples=20_000, deadline=None, database=None),
    )
    assert goal(play(found))


def test_a_beat_is_reachable() -> None:
    """A running job beats."""
    world = World()
    world.do(INIT, Train(base="red", call=call("s-1")))
    world.run("j0001")
    (said,) = world.do(Beat(job="j0001", output_at=None, flags=()))
    assert isinstance(said, JobBeat)
