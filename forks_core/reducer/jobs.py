"""How the jobs move: created, launched, running, ended, and then never again.

A job ends once. Any event of its life after that is no history that a decision could have made;
only its delivery and its settling come later.
"""

from typing import assert_never

from attrs import evolve as change
from immutables import MapMutation

from forks_core.errors import IllegalHistory
from forks_core.registry import Created, Ended, Job, JobState, Launched, Running
from forks_events.jobs import (
    ClientStarted,
    JobBeat,
    JobCreated,
    JobDelivered,
    JobEnded,
    JobEvent,
    JobHeld,
    JobLaunched,
    JobSettled,
    KillRequested,
)
from forks_events.words import Flag


def evolve(jobs: MapMutation[str, Job], event: JobEvent) -> None:
    """Move a job by one event."""
    if isinstance(event, JobCreated):
        if event.job in jobs:
            raise IllegalHistory(f"job {event.job} was created before")
        jobs[event.job] = Job(spec=event)
        return
    job = jobs.get(event.job)
    if job is None:
        raise IllegalHistory(f"{type(event).__name__} of a job that was never created")
    if isinstance(event, KillRequested):
        if job.ended:
            raise _illegal(event)
        jobs[event.job] = change(job, kill=event)
    else:
        jobs[event.job] = change(job, state=_moved(job.state, event))


def _moved(
    state: JobState,
    event: (JobLaunched | JobHeld | ClientStarted | JobBeat | JobEnded | JobDelivered | JobSettled),
) -> JobState:
    match event:
        case JobLaunched():
            return _launched(state, event)
        case JobHeld():
            return _held(state, event)
        case ClientStarted():
            return _started(state, event)
        case JobBeat():
            return _beaten(state, event)
        case JobEnded():
            return _ended(state, event)
        case JobDelivered():
            return _delivered(state, event)
        case JobSettled():
            return _settled(state, event)
        case _:
            assert_never(event)


def _launched(state: JobState, event: JobLaunched) -> JobState:
    if not isinstance(state, Created):
        raise _illegal(event)
    return Launched(supervisor=event.supervisor, launched_at=event.at, beat_at=event.at)


def _held(state: JobState, event: JobHeld) -> JobState:
    if not isinstance(state, Launched):
        raise _illegal(event)
    return change(state, behind=event.behind, beat_at=event.at)


def _started(state: JobState, event: ClientStarted) -> JobState:
    if not isinstance(state, Launched):
        raise _illegal(event)
    return Running(
        supervisor=state.supervisor,
        client=event.client,
        launched_at=state.launched_at,
        started_at=event.at,
        beat_at=event.at,
        flags=(Flag.HELD,) if state.behind else (),
    )


def _beaten(state: JobState, event: JobBeat) -> JobState:
    if isinstance(state, Launched):
        return change(state, beat_at=event.at)
    if isinstance(state, Running):
        return change(state, beat_at=event.at, output_at=event.output_at, flags=event.flags)
    raise _illegal(event)


def _ended(state: JobState, event: JobEnded) -> JobState:
    match state:
        case Created():
            return Ended(end=event, launched_at=None, started_at=None)
        case Launched():
            return Ended(end=event, launched_at=state.launched_at, started_at=None)
        case Running():
            return Ended(end=event, launched_at=state.launched_at, started_at=state.started_at)
        case Ended():
            raise _illegal(event)
        case _:
            assert_never(state)


def _delivered(state: JobState, event: JobDelivered) -> JobState:
    if not isinstance(state, Ended) or state.delivered_at is not None:
        raise _illegal(event)
    return change(state, delivered_at=event.at)


def _settled(state: JobState, event: JobSettled) -> JobState:
    if not isinstance(state, Ended):
        raise _illegal(event)
    return change(state, settled_at=event.at)


def _illegal(event: JobEvent) -> IllegalHistory:
    return IllegalHistory(f"{type(event).__name__} does not follow for job {event.job}")
