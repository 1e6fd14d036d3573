"""The fold: events become the registry, and what is no history changes nothing."""

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.errors import IllegalHistory
from forks_core.reducer import evolve, fold
from forks_core.registry import (
    INITIAL,
    Active,
    Created,
    Ended,
    Failed,
    Launched,
    Registry,
    Retired,
    Running,
    Training,
)
from forks_events import (
    BaseEvent,
    Event,
    JobEvent,
    QuotaEvent,
    RunEvent,
    RunnerEvent,
    SessionEvent,
    StreamEvent,
    StudyEvent,
    TrialEvent,
)
from forks_events.account import QuotaForwarded, RunForwarded, SpendBooked
from forks_events.bases import BaseCreated, BaseFailed, BaseHit, BaseRetired, BaseTrained
from forks_events.codec import TYPES, unstructure
from forks_events.jobs import (
    ClientStarted,
    JobBeat,
    JobCreated,
    JobDelivered,
    JobEnded,
    JobHeld,
    JobLaunched,
    JobSettled,
    KillRequested,
)
from forks_events.run import LaunchFixed, OrchestratorSeen, RunConfigured, RunOpened, TailDropped
from forks_events.words import Reason
from tests.histories import NOON, Move, played, process
from tests.strategies import drawn, events_of, histories, reach

SLICES = tuple(field.name for field in attrs.fields(Registry))
LATER = NOON + timedelta(hours=1)


def one(kind: type[Event], **told: Any) -> Any:
    """An event of a class, with some of its fields told."""
    return attrs.evolve(reach(events_of(kind), lambda _: True), at=LATER, **told)


@functools.cache
def stories() -> list[tuple[Event, ...]]:
    """Histories as the laws meet them, to see what is among them."""
    return drawn(histories(), 600)


def slice_of(event: Event) -> str:
    """The slice that an event belongs to."""
    if isinstance(event, LaunchFixed):
        return "launches"
    nouns: tuple[tuple[Any, str], ...] = (
        (RunEvent, "run"),
        (BaseEvent, "bases"),
        (JobEvent, "jobs"),
        (SessionEvent, "sessions"),
        (StreamEvent, "streams"),
        (QuotaEvent, "readings"),
        (StudyEvent, "study"),
        (TrialEvent, "trials"),
        (RunnerEvent, "runner"),
        (QuotaForwarded, "quotas"),
        (SpendBooked, "booked"),
        (RunForwarded, "forwarded"),
    )
    return next(name for union, name in nouns if isinstance(event, union))


class TestResume:
    """The fold resumes anywhere: fold(a + b) == fold(b, fold(a))."""

    @settings(max_examples=80, deadline=None)
    @given(histories(), st.data())
    def test_law_any_split(self, history: tuple[Event, ...], data: st.DataObject) -> None:
        """Of three pieces, as of one."""
        a, b = sorted(data.draw(st.lists(st.integers(0, len(history)), min_size=2, max_size=2)))
        whole = fold(history)
        assert fold(history[b:], fold(history[a:b], fold(history[:a]))) == whole

    @settings(max_examples=40, deadline=None)
    @given(histories())
    def test_law_step_by_step(self, history: tuple[Event, ...]) -> None:
        """Evolving is folding one."""
        registry = INITIAL
        for event in history:
            assert fold((event,), registry) == (registry := evolve(registry, event))
        assert registry == fold(history)

    def test_nothing(self) -> None:
        """No events change nothing."""
        assert fold(()) == INITIAL
        assert fold(iter(())) == Registry()

    def test_reachability(self) -> None:
        """Every event class is in some history; histories have several bases, and five jobs."""
        told = stories()
        assert {type(event) for story in told for event in story} == set(TYPES.values())
        ends = [fold(story) for story in told]
        assert {len(end.bases) for end in ends} >= {0, 1, 2}
        assert max(len(end.jobs) for end in ends) == 5
        bases = [base.state for end in ends for base in end.bases.values()]
        jobs = [job.state for end in ends for job in end.jobs.values()]
        assert {type(state) for state in bases} == {Training, Active, Failed, Retired}
        assert {type(state) for state in jobs} == {Created, Launched, Running, Ended}


class TestUntouched:
    """What is folded onto stays as it was, to the last value."""

    @settings(max_examples=60, deadline=None)
    @given(histories(), st.data())
    def test_law_the_start_is_untouched(
        self, history: tuple[Event, ...], data: st.DataObject
    ) -> None:
        """Compared as plain data, taken before."""
        at = data.draw(st.integers(0, len(history)))
        start = fold(history[:at])
        before, identity = unstructure(start), hash(start)
        fold(history[at:], start)
        assert unstructure(start) == before
        assert hash(start) == identity
        assert fold(history[:at]) == start

    def test_frozen(self) -> None:
        """Nothing can be put into a registry, a job or a base from outside."""
        registry = played([Move(what="train")]).registry
        for frozen in (registry, *registry.jobs.values(), *registry.bases.values()):
            with pytest.raises(attrs.exceptions.FrozenInstanceError):
                setattr(frozen, "state", None)  # noqa: B010 - mypy would not let it pass


class TestOneEventOneSlice:
    """An event changes exactly one part of the registry: its own."""

    @settings(max_examples=60, deadline=None)
    @given(histories())
    def test_law_one_slice(self, history: tuple[Event, ...]) -> None:
        """All other slices are the same after it."""
        before = INITIAL
        for event in history:
            after = evolve(before, event)
            changed = {name for name in SLICES if getattr(before, name) != getattr(after, name)}
            assert changed <= {slice_of(event)}
            before = after

    def test_reachability(self) -> None:
        """Every class of event does change its slice, in some history."""
        changing: set[type[Event]] = set()
        for history in stories():
            before = INITIAL
            for event in history:
                after = evolve(before, event)
                if after != before:
                    changing.add(type(event))
                before = after
        assert changing == set(TYPES.values())


JOB = one(JobCreated, job="j0001")
CREATED: tuple[Event, ...] = (JOB,)
LAUNCHED = (*CREATED, JobLaunched(at=NOON, job="j0001", supervisor=process(1)))
RUNNING = (*LAUNCHED, ClientStarted(at=NOON, job="j0001", client=process(2)))
ENDED = (*RUNNING, one(JobEnded, job="j0001"))
DELIVERED = (*ENDED, JobDelivered(at=NOON, job="j0001"))
PATHS = {
    "none": (),
    "created": CREATED,
    "launched": LAUNCHED,
    "running": RUNNING,
    "ended": ENDED,
    "delivered": DELIVERED,
}
OF_JOB: dict[type[Event], Event] = {
    JobCreated: JOB,
    JobLaunched: one(JobLaunched, job="j0001"),
    JobHeld: one(JobHeld, job="j0001"),
    ClientStarted: one(ClientStarted, job="j0001"),
    JobBeat: one(JobBeat, job="j0001"),
    KillRequested: KillRequested(at=LATER, job="j0001", reason=Reason.KILL),
    JobEnded: one(JobEnded, job="j0001"),
    JobDelivered: JobDelivered(at=LATER, job="j0001"),
    JobSettled: JobSettled(at=LATER, job="j0001"),
}
# What may follow in which state; all else is no history.
LEGAL: dict[str, set[type[Event]]] = {
    "none": {JobCreated},
    "created": {JobLaunched, KillRequested, JobEnded},
    "launched": {JobHeld, ClientStarted, JobBeat, KillRequested, JobEnded},
    "running": {JobBeat, KillRequested, JobEnded},
    "ended": {JobDelivered, JobSettled},
    "delivered": {JobSettled},
}


def check(start: Registry, event: Event, *, legal: bool) -> None:
    """An event is folded, or refused and nothing is changed."""
    before = unstructure(start)
    if legal:
        assert evolve(start, event) != start
    else:
        with pytest.raises(IllegalHistory):
            evolve(start, event)
        with pytest.raises(IllegalHistory):
            fold((OrchestratorSeen(at=NOON), event), start)
    assert unstructure(start) == before


class TestIllegalJobs:
    """A job is created once, launched once, started once and ends once, in this order."""

    @pytest.mark.parametrize("event", OF_JOB.values(), ids=lambda event: type(event).__name__)
    @pytest.mark.parametrize("state", PATHS)
    def test_every_transition(self, state: str, event: Event) -> None:
        """What the table does not allow raises, and changes nothing."""
        start = fold(PATHS[state], played(()).registry)
        check(start, event, legal=type(event) in LEGAL[state])

    def test_the_table_is_whole(self) -> None:
        """It speaks of every event of a job."""
        assert set(OF_JOB) == {kind for kind in TYPES.values() if slice_of(one(kind)) == "jobs"}

    def test_held_is_remembered(self) -> None:
        """A client that was held back starts with the flag that says so."""
        held = fold((*LAUNCHED, OF_JOB[JobHeld], OF_JOB[ClientStarted]))
        state = held.jobs["j0001"].state
        assert isinstance(state, Running)
        assert [flag.value for flag in state.flags] == ["held"]


BASE = one(BaseCreated, base="a")
BASE_PATHS: dict[str, tuple[Event, ...]] = {
    "none": (),
    "training": (BASE,),
    "active": (BASE, one(BaseTrained, base="a")),
    "failed": (BASE, BaseFailed(at=NOON, base="a")),
    "retired": (BASE, one(BaseTrained, base="a"), BaseRetired(at=NOON, base="a")),
}
OF_BASE: dict[type[Event], Event] = {
    BaseCreated: one(BaseCreated, base="a", phase="again"),
    BaseTrained: one(BaseTrained, base="a"),
    BaseFailed: BaseFailed(at=LATER, base="a"),
    BaseHit: BaseHit(at=LATER, base="a", hit_at=LATER),
    BaseRetired: BaseRetired(at=LATER, base="a"),
}
BASE_LEGAL: dict[str, set[type[Event]]] = {
    "none": {BaseCreated},
    "training": {BaseTrained, BaseFailed, BaseHit, BaseRetired},
    "active": {BaseHit, BaseRetired},
    "failed": {BaseCreated, BaseHit, BaseRetired},
    "retired": {BaseHit},
}


class TestIllegalBases:
    """A base is trained once; only a failed one gives its name back."""

    @pytest.mark.parametrize("event", OF_BASE.values(), ids=lambda event: type(event).__name__)
    @pytest.mark.parametrize("state", BASE_PATHS)
    def test_every_transition(self, state: str, event: Event) -> None:
        """What the table does not allow raises, and changes nothing."""
        start = fold(BASE_PATHS[state], played(()).registry)
        check(start, event, legal=type(event) in BASE_LEGAL[state])

    def test_the_table_is_whole(self) -> None:
        """It speaks of every event of a base."""
        assert set(OF_BASE) == {kind for kind in TYPES.values() if slice_of(one(kind)) == "bases"}


class TestIllegalRun:
    """A run is opened once, and before anything is said of it."""

    @pytest.mark.parametrize("kind", [RunConfigured, OrchestratorSeen, TailDropped])
    def test_before(self, kind: type[Event]) -> None:
        """Nothing is said of a run that was not opened."""
        check(INITIAL, one(kind), legal=False)
        check(fold((one(RunOpened),)), one(kind), legal=True)

    def test_twice(self) -> None:
        """It is opened once."""
        check(fold((one(RunOpened),)), one(RunOpened), legal=False)


def each_step(history: tuple[Event, ...], look: Callable[[Registry, Registry], None]) -> None:
    """Look at the registry before and after each event."""
    before = INITIAL
    for event in history:
        after = evolve(before, event)
        look(before, after)
        before = after


def endings(registry: Registry) -> dict[str, JobEnded]:
    """The jobs that are over, and how."""
    states = {name: job.state for name, job in registry.jobs.items()}
    return {name: state.end for name, state in states.items() if isinstance(state, Ended)}


class TestFinal:
    """What is over is over."""

    @settings(max_examples=60, deadline=None)
    @given(histories())
    def test_law_a_job_ends_once(self, history: tuple[Event, ...]) -> None:
        """An ended job stays ended, by the same end; no job and no base ever vanishes."""

        def look(before: Registry, after: Registry) -> None:
            assert endings(before).items() <= endings(after).items()
            assert set(before.jobs) <= set(after.jobs)
            assert set(before.bases) <= set(after.bases)
            assert all(after.jobs[name].spec == job.spec for name, job in before.jobs.items())

        each_step(history, look)
        ended = [event.job for event in history if isinstance(event, JobEnded)]
        assert len(ended) == len(set(ended))

    @settings(max_examples=60, deadline=None)
    @given(histories())
    def test_law_an_active_base_stays(self, history: tuple[Event, ...]) -> None:
        """A base that was trained is never trained again, nor does it fail; it may be retired."""

        def look(before: Registry, after: Registry) -> None:
            for name, base in before.bases.items():
                if isinstance(base.state, Active):
                    assert after.bases[name].active == base.state

        each_step(history, look)

    @settings(max_examples=60, deadline=None)
    @given(histories())
    def test_law_last_hit_moves_forward(self, history: tuple[Event, ...]) -> None:
        """A base's last hit never goes back while its name is not given to another."""

        def look(before: Registry, after: Registry) -> None:
            for name, base in before.bases.items():
                now = after.bases[name]
                if base.last_hit and now.job == base.job:
                    assert now.last_hit
                    assert now.last_hit >= base.last_hit

        each_step(history, look)

    def test_a_late_hit(self) -> None:
        """A hit that was seen earlier, and is told later, changes nothing."""
        hits = [BaseHit(at=LATER, base="a", hit_at=at) for at in (LATER, NOON)]
        assert fold((BASE, *hits)).bases["a"].last_hit == LATER

    def test_reachability(self) -> None:
        """Jobs that end, bases that are hit twice, and names given again are among the drawn."""
        told = stories()
        ended = [len(endings(fold(story))) for story in told]
        assert max(ended) > 2
        hits = [sum(isinstance(e, BaseHit) for e in story) for story in told]
        assert max(hits) > 1
        names = [[e.base for e in story if isinstance(e, BaseCreated)] for story in told]
        assert any(len(set(created)) < len(created) for created in names)
