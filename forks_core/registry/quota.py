"""What is known of a quota: each window has its own reading, and so its own age."""

from datetime import datetime

from attrs import field, frozen
from immutables import Map


@frozen(kw_only=True)
class KnownWindow:
    """A quota window as it was last told of.

    Args:
        utilization: Share that was used up, or None when that was never told.
        resets_at: When it begins anew, or None.
        read_at: When it was read.
    """

    utilization: float | None
    resets_at: datetime | None
    read_at: datetime


@frozen(kw_only=True)
class Quota:
    """What is known of an account's windows: each has its own reading, and so its own age.

    Args:
        windows: The windows by the client's names.
        status: The latest reading's, or None.
        type: The window that the status is about, or None.
        resets_at: When that window begins anew, or None.
        is_using_overage: Whether the account pays for what goes beyond, by the latest reading.
        read_at: When that was, or None before any.
    """

    windows: Map[str, KnownWindow] = field(factory=Map)
    status: str | None = None
    type: str | None = None
    resets_at: datetime | None = None
    is_using_overage: bool = False
    read_at: datetime | None = None


UNREAD = Quota()


@frozen(kw_only=True)
class Readings:
    """The run's readings.

    Args:
        quota: What they come to.
        counted: How many of them each job has given.
        rejected: Of each job whose client was told of a window that is used up, whatever it was told
            later: when that window begins anew, or None.
    """

    quota: Quota = UNREAD
    counted: Map[str, int] = field(factory=Map)
    rejected: Map[str, datetime | None] = field(factory=Map)
