"""Events of the quota: what a client was told of the windows that its account is limited by."""

from datetime import datetime

from attrs import frozen
from immutables import Map


@frozen(kw_only=True)
class Window:
    """A quota window as one reading tells of it.

    Args:
        utilization: Share that is used up: 0 is nothing, at 1 it is full; None when not told.
        resets_at: When it begins anew, or None when not told.
    """

    utilization: float | None
    resets_at: datetime | None


@frozen(kw_only=True)
class Reading:
    """What one line tells of the quota, brought to one form.

    Args:
        status: allowed, allowed_warning or rejected, as the client says it; None when it does not.
        type: The window that the status is about, by the client's name, or None.
        resets_at: When that window begins anew, or None.
        is_using_overage: Whether the account pays for what goes beyond.
        windows: Every window that it told of, by the client's name.
    """

    status: str | None
    type: str | None
    resets_at: datetime | None
    is_using_overage: bool
    windows: Map[str, Window]


@frozen(kw_only=True)
class QuotaRead:
    """The client passed on what its account may still do.

    Args:
        at: When it was recorded.
        job: The job whose client said it.
        seen_at: When the line came, or None.
        reading: What it said.
    """

    at: datetime
    job: str
    seen_at: datetime | None
    reading: Reading


QuotaEvent = QuotaRead
