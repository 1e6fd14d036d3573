"""What a supervisor says of its job while it lives, and what others ask of it.

On an ended job nothing is said. A supervisor that asked to launch, and then is not the one that
the registry names, was refused: the job ended, a kill was asked for, or another one was first.
"""

from collections.abc import Sequence
from datetime import datetime

from attrs import evolve as change
from attrs import frozen

from forks_core.errors import Refused
from forks_core.registry import SILENT, Created, Job, Launched, Registry, Running
from forks_events import Event, Said
from forks_events.bases import BaseHit
from forks_events.jobs import ClientStarted, JobBeat, JobHeld, JobLaunched, KillRequested
from forks_events.stream import StreamTurned
from forks_events.values import Process
from forks_events.words import Flag, Kind, Reason


@frozen(kw_only=True)
class LaunchJob:
    """A supervisor takes the job on, unless it ended, or shall be killed, or is taken."""

    job: str
    supervisor: Process


def launch_job(command: LaunchJob, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say that the supervisor stands."""
    job = known(registry, command.job)
    if not isinstance(job.state, Created) or job.kill:
        return ()
    return (JobLaunched(at=now, job=command.job, supervisor=command.supervisor),)


@frozen(kw_only=True)
class HoldJob:
    """The supervisor holds the client back behind an earlier job."""

    job: str
    behind: str


def hold_job(command: HoldJob, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say that it is held, once for each job that it waits for."""
    state = known(registry, command.job).state
    if not isinstance(state, Launched) or state.behind == command.behind:
        return ()
    return (JobHeld(at=now, job=command.job, behind=command.behind),)


@frozen(kw_only=True)
class StartClient:
    """The client was started as this process."""

    job: str
    client: Process


def start_client(command: StartClient, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say that the client runs."""
    if not isinstance(known(registry, command.job).state, Launched):
        return ()
    return (ClientStarted(at=now, job=command.job, client=command.client),)


@frozen(kw_only=True)
class Hear:
    """The client said more.

    Args:
        job: The job.
        after: How many events came before these.
        said: The events, as the parser made them.
    """

    job: str
    after: int
    said: tuple[Said, ...]


def hear(command: Hear, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say what is new of it, and that the base was hit when it is the first response of a fork or continue."""
    job = known(registry, command.job)
    if job.ended:
        return ()
    return heard(registry, job, command.after, command.said, now)


def heard(
    registry: Registry, job: Job, after: int, said: Sequence[Said], now: datetime
) -> tuple[Event, ...]:
    """Make events of what the log does not hold yet of a stream."""
    stream = registry.streams.get(job.spec.job, SILENT)
    # A stream's events are recorded in their order, so their number tells which are still to come.
    recorded = stream.heard + registry.readings.counted.get(job.spec.job, 0)
    if after > recorded:
        # What came between is not here; whoever ends the job brings all of it.
        return ()
    new = [change(event, at=now) for event in said[recorded - after :]]
    responses = [event for event in new if isinstance(event, StreamTurned) and event.main]
    if stream.first is None and responses and job.spec.kind is not Kind.TRAIN:
        return (*new, *hit(registry, job.spec.base, responses[0].seen_at, now))
    return tuple(new)


def hit(
    registry: Registry, name: str | None, at: datetime | None, now: datetime
) -> tuple[Event, ...]:
    """Say that a base was hit, when the time is known and later than the last one."""
    base = registry.bases.get(name) if name is not None else None
    if base is None or at is None or (base.last_hit is not None and at <= base.last_hit):
        return ()
    return (BaseHit(at=now, base=base.name, hit_at=at),)


@frozen(kw_only=True)
class Beat:
    """The supervisor lives, and had nothing else to say for a while."""

    job: str
    output_at: datetime | None
    flags: tuple[Flag, ...]


def beat(command: Beat, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, once for each moment."""
    state = known(registry, command.job).state
    if not isinstance(state, Launched | Running) or state.beat_at == now:
        return ()
    return (JobBeat(at=now, job=command.job, output_at=command.output_at, flags=command.flags),)


@frozen(kw_only=True)
class RequestKill:
    """Somebody wants the job ended, and is about to end its processes."""

    job: str
    reason: Reason


def request_kill(command: RequestKill, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Write the intent, once."""
    job = known(registry, command.job)
    if job.ended or job.kill:
        return ()
    return (KillRequested(at=now, job=command.job, reason=command.reason),)


def known(registry: Registry, name: str) -> Job:
    """Return the job.

    Raises:
        Refused: There is none of that id.
    """
    job = registry.jobs.get(name)
    if job is None:
        raise Refused("unknown job", job=name)
    return job
