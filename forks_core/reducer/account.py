"""How an account log moves: spends by what ended them, quotas by account, and how far each run is."""

from immutables import MapMutation

from forks_core.errors import IllegalHistory
from forks_core.reducer.quota import merge
from forks_core.registry import UNREAD, Quota
from forks_events.account import QuotaForwarded, RunForwarded, SpendBooked


def book(booked: MapMutation[str, SpendBooked], event: SpendBooked) -> None:
    """Book a spend; no event of a run is booked twice."""
    key = f"{event.run}/{event.seq}"
    if key in booked:
        raise IllegalHistory(f"the spend of {key} was booked before")
    booked[key] = event


def read(quotas: MapMutation[str, Quota], event: QuotaForwarded) -> None:
    """Merge a reading into its account's quota."""
    known = quotas.get(event.account, UNREAD)
    quotas[event.account] = merge(known, event.reading, event.seen_at, event.recorded_at)


def forward(forwarded: MapMutation[str, int], event: RunForwarded) -> None:
    """Move a run's place forward."""
    if event.seq <= forwarded.get(event.run, 0):
        raise IllegalHistory(f"run {event.run} was forwarded beyond {event.seq} before")
    forwarded[event.run] = event.seq
