"""The state: what the log says when it is folded. Frozen, and nothing in it decides anything.

A state that has nothing in common with another is a class of its own (``Created | Launched |
Running | Ended``), so that no field is there before its time.
"""

from datetime import datetime

from attrs import field, frozen
from immutables import Map

from forks_core.registry.quota import UNREAD, KnownWindow, Quota, Readings
from forks_core.registry.stream import SILENT, Stream
from forks_core.registry.trials import IDLE, Runner, Trial
from forks_events.account import SpendBooked
from forks_events.jobs import JobCreated, JobEnded, KillRequested
from forks_events.run import RunConfigured, RunOpened
from forks_events.study import StudyScheduled
from forks_events.values import Launch, Process, Spent
from forks_events.words import Flag

__all__ = [
    "INITIAL",
    "SILENT",
    "UNREAD",
    "Active",
    "Base",
    "BaseState",
    "Created",
    "Ended",
    "Failed",
    "Job",
    "JobState",
    "KnownWindow",
    "Launched",
    "Quota",
    "Readings",
    "Registry",
    "Retired",
    "Run",
    "Runner",
    "Running",
    "Stream",
    "Training",
    "Trial",
]


@frozen(kw_only=True)
class Run:
    """The run: how it was opened and configured, and when its orchestrator was last seen."""

    opened: RunOpened
    configured: RunConfigured | None = None
    orchestrator_seen_at: datetime | None = None
    tails_dropped: int = 0


@frozen(kw_only=True)
class Training:
    """The base's train job has not ended."""


@frozen(kw_only=True)
class Active:
    """The base can be forked.

    Args:
        session: The session to fork.
        commit: HEAD when the training ended, or None.
        context_tokens: Prompt tokens of the training's last response, or None.
        runtime: What the client reported of its surroundings then.
        trained_at: When.
    """

    session: str
    commit: str | None
    context_tokens: int | None
    runtime: Map[str, str]
    trained_at: datetime


@frozen(kw_only=True)
class Failed:
    """The training did not end ok: the name may be trained again."""

    failed_at: datetime


@frozen(kw_only=True)
class Retired:
    """The base was expired.

    Args:
        retired_at: When.
        was: What it was until then; a training that ended later leaves it as it is.
    """

    retired_at: datetime
    was: Training | Active | Failed


BaseState = Training | Active | Failed | Retired


@frozen(kw_only=True)
class Base:
    """A base by its name.

    ``last_hit`` only moves forward: when a response last read or wrote its prefix.
    """

    name: str
    job: str
    session: str
    fingerprint: str
    phase: int | str | None
    created_at: datetime
    state: BaseState
    last_hit: datetime | None = None

    @property
    def active(self) -> Active | None:
        """What is known since its training ended ok, also after it was retired; or None."""
        state = self.state.was if isinstance(self.state, Retired) else self.state
        return state if isinstance(state, Active) else None


@frozen(kw_only=True)
class Created:
    """The intent is written; no supervisor has spoken yet."""


@frozen(kw_only=True)
class Launched:
    """A supervisor stands and has not started the client.

    Args:
        supervisor: Who.
        launched_at: When it spoke first.
        beat_at: When it spoke last, of the job itself (its stream speaks for it too).
        behind: The sibling that it waits for, or None.
    """

    supervisor: Process
    launched_at: datetime
    beat_at: datetime
    behind: str | None = None


@frozen(kw_only=True)
class Running:
    """The client runs.

    Args:
        supervisor: Who watches it.
        client: The client's process.
        launched_at: When the supervisor spoke first.
        started_at: When the client was started; limits count from here.
        beat_at: When the supervisor spoke last, of the job itself.
        output_at: When the client last printed, as the last beat says, or None.
        flags: Flags raised so far.
    """

    supervisor: Process
    client: Process
    launched_at: datetime
    started_at: datetime
    beat_at: datetime
    output_at: datetime | None = None
    flags: tuple[Flag, ...] = ()


@frozen(kw_only=True)
class Ended:
    """The job is over, for good.

    Args:
        end: How.
        launched_at: When its supervisor spoke first, or None.
        started_at: When its client was started, or None.
        delivered_at: When a ``wait`` showed it, or None.
        settled_at: When a ``wait`` was last satisfied by it, or None.
    """

    end: JobEnded
    launched_at: datetime | None
    started_at: datetime | None
    delivered_at: datetime | None = None
    settled_at: datetime | None = None


JobState = Created | Launched | Running | Ended


@frozen(kw_only=True)
class Job:
    """A call of the client: what was decided, and how far it is."""

    spec: JobCreated
    state: JobState = field(factory=Created)
    kill: KillRequested | None = None

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return isinstance(self.state, Ended)


@frozen(kw_only=True)
class Registry:
    """All of it: one slice a kind of event.

    The last three are an account log's: quotas by account, spends by ``<run>/<seq>``, and by run
    the last event that was forwarded.
    """

    run: Run | None = None
    launches: Map[str, Launch] = field(factory=Map)
    bases: Map[str, Base] = field(factory=Map)
    jobs: Map[str, Job] = field(factory=Map)
    sessions: Map[str, Spent] = field(factory=Map)
    streams: Map[str, Stream] = field(factory=Map)
    readings: Readings = field(factory=Readings)
    study: StudyScheduled | None = None
    trials: Map[str, Trial] = field(factory=Map)
    runner: Runner = IDLE
    quotas: Map[str, Quota] = field(factory=Map)
    booked: Map[str, SpendBooked] = field(factory=Map)
    forwarded: Map[str, int] = field(factory=Map)

    def base_of(self, job: Job) -> Base | None:
        """The base of a job, or None: it has none, or it is not known any more."""
        return None if job.spec.base is None else self.bases.get(job.spec.base)


INITIAL = Registry()
