"""Delivering results: each is shown by ``wait`` once."""

from datetime import datetime

from attrs import frozen

from forks_core.decider.run import seen
from forks_core.projections.waiting import waiting
from forks_core.registry import Ended, Registry
from forks_events import Event
from forks_events.jobs import JobDelivered, JobSettled


@frozen(kw_only=True)
class Deliver:
    """A wait is met, or its time is up: its finished members are shown.

    Args:
        names: The jobs that are waited for, or None for every job that is not settled.
        first: Whether one finished job is enough.
    """

    names: tuple[str, ...] | None
    first: bool


def deliver(command: Deliver, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Deliver what was not delivered; settle what is finished when the wait is met."""
    wait = waiting(registry, command.names, first=command.first)
    states = [(job.spec.job, job.state) for job in wait.finished]
    delivered = [
        JobDelivered(at=now, job=name)
        for name, state in states
        if isinstance(state, Ended) and state.delivered_at is None
    ]
    settled = [
        JobSettled(at=now, job=name)
        for name, state in states
        if wait.met and isinstance(state, Ended) and state.settled_at != now
    ]
    return (*seen(registry, now), *delivered, *settled)
