"""Which jobs may be lost: nothing was heard of them for too long."""

from datetime import datetime

from forks_core.registry import Job, Launched, Registry, Running
from forks_core.rules.naming import in_order
from forks_core.rules.supervision import is_silent
from forks_events.values import Process


def candidates(registry: Registry, now: datetime, lost_after_s: float) -> tuple[Job, ...]:
    """The silent jobs, in id order. Each is lost unless its supervisor lives."""
    return tuple(
        registry.jobs[name]
        for name in in_order(registry.jobs)
        if is_silent(registry, registry.jobs[name], now, lost_after_s)
    )


def supervisor_of(job: Job) -> Process | None:
    """The supervisor that spoke for a job that has not ended, or None."""
    return job.state.supervisor if isinstance(job.state, Launched | Running) else None


def processes_of(job: Job) -> tuple[Process, ...]:
    """The processes of a job that has not ended, as they were recorded: the client first."""
    match job.state:
        case Running():
            return (job.state.client, job.state.supervisor)
        case Launched():
            return (job.state.supervisor,)
        case _:
            return ()
