"""Expiring bases: nobody shall fork them any more."""

from datetime import datetime

from attrs import frozen

from forks_core.decider.run import settings_of
from forks_core.errors import Refused
from forks_core.registry import Registry, Retired
from forks_events import Event
from forks_events.bases import BaseRetired


@frozen(kw_only=True)
class Expire:
    """Retire this base, or all of them.

    Args:
        base: Name of the base, or None for every base.
    """

    base: str | None


def expire(command: Expire, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Retire what is not retired yet."""
    settings_of(registry)
    return tuple(
        BaseRetired(at=now, base=name)
        for name in named_bases(registry, command.base)
        if not isinstance(registry.bases[name].state, Retired)
    )


def named_bases(registry: Registry, name: str | None) -> tuple[str, ...]:
    """The base of that name, or all of them by name.

    Raises:
        Refused: There is none of that name.
    """
    if name is None:
        return tuple(sorted(registry.bases))
    if name not in registry.bases:
        raise Refused("unknown base", base=name, bases=sorted(registry.bases))
    return (name,)
