"""The registry as plain data, for people and programs."""

from typing import Any

from forks_core.registry import Registry
from forks_events.codec import unstructure


def plain(registry: Registry) -> dict[str, Any]:
    """Every slice; a state that has several forms says in ``is`` which one it has."""
    data: dict[str, Any] = unstructure(registry)
    return data
