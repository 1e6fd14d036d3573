"""Whether a ``wait`` is met."""

from collections.abc import Collection
from datetime import datetime

from attrs import frozen

from forks_core.registry import Ended, Job, Registry
from forks_core.rules.naming import in_order
from forks_events.words import Kind, Status


@frozen(kw_only=True)
class Waiting:
    """A wait as it stands: its members in id order, the finished ones, and whether it is met."""

    members: tuple[Job, ...]
    finished: tuple[Job, ...]
    met: bool

    @property
    def all_ok(self) -> bool:
        """Whether every finished member ended ok."""
        return all(_status(job) is Status.OK for job in self.finished)


def waiting(
    registry: Registry, names: Collection[str] | None, *, first: bool, at: datetime | None = None
) -> Waiting:
    """Look at a wait.

    Args:
        registry: The state.
        names: The jobs that are waited for, or None for every job that is not settled.
        first: Whether one finished job is enough.
        at: Jobs that were settled at this very time count as members too.
    """
    if names is None:
        names = [
            name
            for name, job in registry.jobs.items()
            # A study's trials are its runner's.
            if job.spec.kind is not Kind.TRIAL and not _is_settled(job, at)
        ]
    members = tuple(registry.jobs[name] for name in in_order(set(names)))
    finished = tuple(job for job in members if job.ended)
    met = not members or bool(finished) if first else len(finished) == len(members)
    return Waiting(members=members, finished=finished, met=met)


def _is_settled(job: Job, at: datetime | None) -> bool:
    return isinstance(job.state, Ended) and job.state.settled_at not in {None, at}


def _status(job: Job) -> Status | None:
    return job.state.end.status if isinstance(job.state, Ended) else None
