"""How long to wait before a trial is tried again (A8)."""

from datetime import datetime, timedelta

BACKOFF_BASE_S = 60
"""Seconds before the first retry (A1.2)."""
BACKOFF_CAP_S = 900
"""Seconds that a retry waits at most when nobody says when the quota resets (A1.3)."""
RESET_WAIT_MAX_S = 10_800
"""Seconds that a reset is waited for at most, and then asked again: 3 hours (A1.4)."""
OVERLOAD_RETRIES = 3
"""How often a trial is tried again while the service is overloaded (A1.5)."""
RESET_MARGIN_S = 30
"""Seconds after a reset until it can be relied on (A1.6)."""


def backoff_s(attempt: int) -> float:
    """Seconds to wait without a reset: doubled with every attempt, up to the cap (A8.1).

    Args:
        attempt: Waits before this one; below 0 counts as 0.
    """
    return float(min(BACKOFF_CAP_S, BACKOFF_BASE_S << max(0, attempt)))


def wait_s(
    attempt: int, reset: datetime | None, now: datetime, max_wait_s: float = RESET_WAIT_MAX_S
) -> float:
    """Seconds to wait for a quota: until it has reset, else the backoff (A8.2, A8.3).

    Args:
        attempt: Waits before this one; only the backoff asks.
        reset: When the quota resets, or None when nobody said; only a time ahead counts.
        now: The time to wait from.
        max_wait_s: Seconds that a reset is waited for at most, over 0; no limit of the backoff.
    """
    if reset is None or reset <= now:
        return backoff_s(attempt)
    ahead = reset - now + timedelta(seconds=RESET_MARGIN_S)
    return min(float(max_wait_s), ahead.total_seconds())
