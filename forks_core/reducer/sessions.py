"""How the sessions move: the newest counters stand."""

from immutables import MapMutation

from forks_events.sessions import SessionCounted
from forks_events.values import Spent


def evolve(sessions: MapMutation[str, Spent], event: SessionCounted) -> None:
    """Put a session's counters where its last call left them."""
    sessions[event.session] = event.spent
