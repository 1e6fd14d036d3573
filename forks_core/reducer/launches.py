"""How the launches move: they are only added, each under its fingerprint."""

from immutables import MapMutation

from forks_events.run import LaunchFixed
from forks_events.values import Launch


def evolve(launches: MapMutation[str, Launch], event: LaunchFixed) -> None:
    """Add a launch; the same one again changes nothing."""
    launches[event.fingerprint] = event.launch
