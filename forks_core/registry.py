"""The state: what the log says when it is folded. Frozen, and nothing in it decides anything.

A state that has nothing in common with another is a class of its own (``Created | Launched |
Running | Ended``), so that no field is there before its time.
"""

from datetime import datetime

from attrs import field, frozen
from immutables import Map

from forks_events.jobs import JobCreated, JobEnded, KillRequested
from forks_events.run import RunConfigured, RunOpened
from forks_events.stream import (
    StreamOpened,
    StreamRefused,
    StreamResulted,
    StreamRetried,
    StreamTurned,
)
from forks_events.values import Launch, Process, Spent, Usage
from forks_events.words import Flag


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
class Stream:
    """What a job's client has said, summed up.

    Args:
        heard: Number of stream events so far; the raw file yields the same ones in this order.
        heard_at: When the last one was recorded.
        opened: The first introduction.
        turns: Distinct responses of the main thread.
        first: The main thread's first response.
        last: The main thread's last response.
        seen: Tokens of all distinct responses, subagents included; the output is not reliable.
        retried: The retry that was announced last, until a response or a result follows.
        refused: The announced refusal of the model.
        first_result: The first result.
        result: The last result that is one (see the reducer).
        peak: Per model the largest counters, and the largest cost, over all results.
        denials: Tools denied, over all results.
        succeeded: Whether some result was no error.
    """

    heard: int = 0
    heard_at: datetime | None = None
    opened: StreamOpened | None = None
    turns: int = 0
    first: StreamTurned | None = None
    last: StreamTurned | None = None
    seen: Usage = field(factory=Usage)
    retried: StreamRetried | None = None
    refused: StreamRefused | None = None
    first_result: StreamResulted | None = None
    result: StreamResulted | None = None
    peak: Spent | None = None
    denials: tuple[str, ...] = ()
    succeeded: bool = False


SILENT = Stream()


@frozen(kw_only=True)
class Registry:
    """All of it: one slice a kind of event."""

    run: Run | None = None
    launches: Map[str, Launch] = field(factory=Map)
    bases: Map[str, Base] = field(factory=Map)
    jobs: Map[str, Job] = field(factory=Map)
    sessions: Map[str, Spent] = field(factory=Map)
    streams: Map[str, Stream] = field(factory=Map)


INITIAL = Registry()
