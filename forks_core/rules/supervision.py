"""Liveness: when a job is held, out of time, silent, orphaned or lost.

All times within one process are monotonic seconds; orphans and lost jobs are judged by wall times
of different processes. Every threshold is strict: a job exactly at its limit is still within it.
"""

from datetime import datetime, timedelta
from enum import Enum
from typing import assert_never

from attrs import frozen

from forks_core.registry import SILENT, Created, Ended, Job, Launched, Registry, Running
from forks_core.rules.naming import job_number
from forks_events.words import Kind


@frozen(kw_only=True)
class Timings:
    """Seconds, in one place.

    Args:
        heartbeat_s: A beat is said after this long without any event of the job's own.
        lost_after_s: A job without a sign of life for longer is lost when its supervisor is dead.
        tick_s: The supervisor looks around this often.
        orphan_check_s: And asks this often when the orchestrator was last seen.
        wait_poll_s: ``wait`` looks for lost jobs this often.
        kill_verify_s: What was killed must be gone after this long.
        reader_join_s: Output may be drained this long after the client is gone.
        result_linger_s: A client that gave its final result may take this long to exit.
        background_linger_s: And this much longer while its subagents run in the background.
        orchestrator_seen_s: The orchestrator is recorded again when the last time is older.
        lock_wait_s: The log is waited for this long.
    """

    heartbeat_s: float = 10.0
    lost_after_s: float = 120.0
    tick_s: float = 0.25
    orphan_check_s: float = 1.0
    wait_poll_s: float = 2.0
    kill_verify_s: float = 10.0
    reader_join_s: float = 10.0
    result_linger_s: float = 35.0
    background_linger_s: float = 600.0
    orchestrator_seen_s: float = 60.0
    lock_wait_s: float = 45.0


# The client moves a command to the background after 10 minutes at most; two more are for the way.
TOOL_LIMIT_S = 720.0


class Overdue(Enum):
    """What ends a running client."""

    REFUSED = "refused"
    TIMEOUT = "timeout"
    NO_OUTPUT = "no_output"
    LINGERS = "lingers"
    ORPHANED = "orphaned"


@frozen(kw_only=True)
class Watch:
    """What a supervisor sees of its client.

    Args:
        ran_s: Seconds since the client started.
        quiet_s: Seconds since it printed anything (or since it started).
        printed: Whether it has printed anything at all.
        refused: Whether it said that the model is refused.
        resulted_s: Seconds since its final result, or None.
        background: Subagents that still run in the background.
        orchestrator_silent_s: Seconds since the orchestrator was seen, or None when it never was.
        open_tools: Tools that have been called and have not answered.
        retry_s: Seconds that the client announced to wait before it tries again.
    """

    ran_s: float
    quiet_s: float
    printed: bool
    refused: bool
    resulted_s: float | None
    background: int
    orchestrator_silent_s: float | None
    open_tools: int
    retry_s: float


@frozen(kw_only=True)
class Limits:
    """The limits of one job, in seconds (see `forks_events.values.Settings`)."""

    max_s: float
    stall_after_s: float
    no_output_s: float
    orphan_after_s: float
    result_linger_s: float
    background_linger_s: float


def overdue(watch: Watch, limits: Limits) -> Overdue | None:
    """Tell what ends the client now, first match wins; None lets it go on."""
    if watch.refused:
        return Overdue.REFUSED
    if watch.resulted_s is not None:
        linger = limits.result_linger_s + (limits.background_linger_s if watch.background else 0)
        return Overdue.LINGERS if watch.resulted_s > linger else None
    if watch.ran_s > limits.max_s:
        return Overdue.TIMEOUT
    if not watch.printed and watch.quiet_s > limits.no_output_s:
        return Overdue.NO_OUTPUT
    silent = watch.orchestrator_silent_s
    if silent is not None and silent > limits.orphan_after_s:
        return Overdue.ORPHANED
    return None


def is_stalled(watch: Watch, limits: Limits) -> bool:
    """Tell whether the stream is silent for too long: a flag, never an end.

    A client that waits for a tool may be as silent as the longest tool there is, and one that
    announced a retry for as long as it said.
    """
    patience = max(limits.stall_after_s, TOOL_LIMIT_S) if watch.open_tools else limits.stall_after_s
    return watch.resulted_s is None and watch.quiet_s > patience + watch.retry_s


def behind(registry: Registry, job: Job) -> str | None:
    """Name the earlier job of the base that still has no first response, or None.

    Forks that start together all miss the cache, since nobody has read the prefix yet: each waits
    for the one before it.
    """
    number = job_number(job.spec.job)
    earlier = (
        other.spec.job
        for other in registry.jobs.values()
        if other.spec.base == job.spec.base is not None
        and other.spec.kind is not Kind.TRAIN
        and not other.ended
        and job_number(other.spec.job) < number
        and registry.streams.get(other.spec.job, SILENT).first is None
    )
    return max(earlier, key=job_number, default=None)


def last_sign(registry: Registry, job: Job) -> datetime:
    """When a job was last heard of: its own events, its stream's, else its launch or creation."""
    heard = registry.streams.get(job.spec.job, SILENT).heard_at
    own = _own_sign(job)
    return own if heard is None else max(own, heard)


def _own_sign(job: Job) -> datetime:
    match job.state:
        case Created():
            return job.spec.at
        case Launched() | Running():
            return job.state.beat_at
        case Ended():
            return job.state.end.at
        case _:
            assert_never(job.state)


def is_silent(registry: Registry, job: Job, now: datetime, lost_after_s: float) -> bool:
    """Tell whether a job that has not ended was not heard of for longer than the limit."""
    return not job.ended and now - last_sign(registry, job) > timedelta(seconds=lost_after_s)
