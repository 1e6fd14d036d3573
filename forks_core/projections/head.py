"""The head of a log, as every report carries it."""

from typing import Any

from forks_events.codec import unstructure
from forks_events.envelope import Head


def head_row(head: Head) -> dict[str, Any]:
    """The last seq and its hash: kept elsewhere, they show a tail that was cut off."""
    row: dict[str, Any] = unstructure(head)
    return row
