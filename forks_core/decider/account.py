"""Forwarding a run's log to the account log, each event of it once."""

from datetime import datetime

from attrs import evolve, frozen

from forks_core.decider.run import opening
from forks_core.registry import Registry
from forks_events import Event
from forks_events.account import QuotaForwarded, RunForwarded, SpendBooked


@frozen(kw_only=True)
class Forward:
    """Pass on what a run's log says of quota and money.

    Args:
        log: Id for the account log if it is opened now.
        forks_version: The forks that asks.
        run: Id of the run.
        entries: What to pass on, in the order of the run's log.
        seq: The last event of the run's log that was looked at.
    """

    log: str
    forks_version: str
    run: str
    entries: tuple[SpendBooked | QuotaForwarded, ...]
    seq: int


def forward(command: Forward, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say what nobody has passed on before, and how far the run was looked at."""
    done = registry.forwarded.get(command.run, 0)
    if command.seq <= done:
        return ()
    opened = opening(now, command.log, command.forks_version, lab=False)
    return (
        *(() if registry.run else (opened,)),
        *(evolve(entry, at=now) for entry in command.entries if entry.seq > done),
        RunForwarded(at=now, run=command.run, seq=command.seq),
    )
