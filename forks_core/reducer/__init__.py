"""The fold: events, one after the other, become the registry.

Pure outside: ``fold`` never touches what it was given. Inside it thaws the slices into a private
draft and freezes them at the end, since copying a map for every event would cost more than all
the rest. It decides nothing: an event is a fact, and moves exactly one slice.

The law that licenses every cache: ``fold(a + b) == fold(b, fold(a))``.
"""

from collections.abc import Iterable
from typing import assert_never

from forks_core.reducer import (
    account,
    bases,
    jobs,
    launches,
    quota,
    run,
    runner,
    sessions,
    study,
    trials,
)
from forks_core.reducer.stream import hear
from forks_core.registry import INITIAL, SILENT, Registry
from forks_events import AccountEvent, Event, RunnerEvent, StudyEvent, TrialEvent
from forks_events.account import QuotaForwarded, RunForwarded, SpendBooked
from forks_events.bases import BaseCreated, BaseFailed, BaseHit, BaseRetired, BaseTrained
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
from forks_events.quota import QuotaRead
from forks_events.run import (
    LaunchFixed,
    OrchestratorSeen,
    RunConfigured,
    RunOpened,
    TailDropped,
)
from forks_events.sessions import SessionCounted
from forks_events.stream import (
    StreamOpened,
    StreamRefused,
    StreamReset,
    StreamResulted,
    StreamRetried,
    StreamTurned,
)
from forks_events.study import StudyScheduled
from forks_events.trials import (
    AttemptAborted,
    AttemptConcluded,
    PauseBegun,
    PauseEnded,
    RunnerStarted,
    StopRequested,
    StudyStopped,
    TrialBegun,
)


def evolve(registry: Registry, event: Event) -> Registry:
    """Fold one event.

    Raises:
        IllegalHistory: No decision can have led to it.
    """
    return fold((event,), registry)


def fold(events: Iterable[Event], start: Registry = INITIAL) -> Registry:
    """Fold events, in order, onto ``start``, which stays as it is.

    Raises:
        IllegalHistory: An event is met that no decision can have led to.
    """
    draft = _Draft(start)
    for event in events:
        draft.take(event)
    return draft.freeze()


class _Draft:
    """The slices, thawed, while they are folded."""

    def __init__(self, start: Registry) -> None:
        self._run = start.run
        self._launches = start.launches.mutate()
        self._bases = start.bases.mutate()
        self._jobs = start.jobs.mutate()
        self._sessions = start.sessions.mutate()
        self._streams = start.streams.mutate()
        self._readings = start.readings
        self._study = start.study
        self._trials = start.trials.mutate()
        self._runner = start.runner
        self._quotas = start.quotas.mutate()
        self._booked = start.booked.mutate()
        self._forwarded = start.forwarded.mutate()

    def take(self, event: Event) -> None:
        match event:
            case (
                StreamTurned()
                | StreamOpened()
                | StreamRetried()
                | StreamRefused()
                | StreamResulted()
                | StreamReset()
            ):
                streams = self._streams
                streams[event.job] = hear(streams.get(event.job, SILENT), event)
            case (
                JobBeat()
                | JobCreated()
                | JobLaunched()
                | JobHeld()
                | ClientStarted()
                | KillRequested()
                | JobEnded()
                | JobDelivered()
                | JobSettled()
            ):
                jobs.evolve(self._jobs, event)
            case BaseHit() | BaseCreated() | BaseTrained() | BaseFailed() | BaseRetired():
                bases.evolve(self._bases, event)
            case SessionCounted():
                sessions.evolve(self._sessions, event)
            case RunOpened() | RunConfigured() | OrchestratorSeen() | TailDropped():
                self._run = run.evolve(self._run, event)
            case LaunchFixed():
                launches.evolve(self._launches, event)
            case QuotaRead():
                self._readings = quota.evolve(self._readings, event)
            case (
                StudyScheduled()
                | TrialBegun()
                | AttemptConcluded()
                | AttemptAborted()
                | RunnerStarted()
                | StopRequested()
                | PauseBegun()
                | PauseEnded()
                | StudyStopped()
            ):
                self._go_on(event)
            case SpendBooked() | QuotaForwarded() | RunForwarded():
                self._gather(event)
            case _:
                assert_never(event)

    def _go_on(self, event: StudyEvent | TrialEvent | RunnerEvent) -> None:
        match event:
            case StudyScheduled():
                self._study = study.evolve(self._study, event)
            case TrialBegun() | AttemptConcluded() | AttemptAborted():
                trials.evolve(self._trials, event)
            case _:
                self._runner = runner.evolve(self._runner, event)

    def _gather(self, event: AccountEvent) -> None:
        match event:
            case SpendBooked():
                account.book(self._booked, event)
            case QuotaForwarded():
                account.read(self._quotas, event)
            case RunForwarded():
                account.forward(self._forwarded, event)
            case _:
                assert_never(event)

    def freeze(self) -> Registry:
        return Registry(
            run=self._run,
            launches=self._launches.finish(),
            bases=self._bases.finish(),
            jobs=self._jobs.finish(),
            sessions=self._sessions.finish(),
            streams=self._streams.finish(),
            readings=self._readings,
            study=self._study,
            trials=self._trials.finish(),
            runner=self._runner,
            quotas=self._quotas.finish(),
            booked=self._booked.finish(),
            forwarded=self._forwarded.finish(),
        )
