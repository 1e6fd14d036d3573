"""The cutoff of a study: nothing starts from then on, and no block that would reach beyond (A9)."""

from datetime import UTC, datetime, timedelta

FIT_TENTHS = 11
"""A block must fit with 1.1 of its estimate (A1.7); in tenths, which are exact."""


def parse_utc(text: str) -> datetime:
    """Read a time in ISO 8601; without a zone it is in UTC, and so is what is given back (A9.1).

    Args:
        text: The time; spaces around it and a ``Z`` for UTC are fine, a date alone is its start.

    Raises:
        ValueError: It is no time, or none of the years 1 to 9999 in UTC.
    """
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"not a time in ISO 8601: {text!r}") from error


def past_cutoff(cutoff: datetime | None, now: datetime) -> bool:
    """Tell whether the cutoff has come; without one it never does (A9.2)."""
    return cutoff is not None and now >= cutoff


def block_fits(cutoff: datetime | None, now: datetime, estimate_s: float | None) -> bool:
    """Tell whether a block of the second phase is over by the cutoff, to the microsecond (A9.3).

    Args:
        cutoff: The cutoff; without one everything fits.
        now: When the block would start.
        estimate_s: Seconds that it is expected to take; None or 0 when nobody knows, which
            fits no cutoff.
    """
    if cutoff is None:
        return True
    if not estimate_s:
        return False
    return timedelta(seconds=estimate_s) * FIT_TENTHS <= (cutoff - now) * 10
