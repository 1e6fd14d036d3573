"""How the quota moves: window by window, so that what is not told of stays known.

- A later reading of a window wins; one without a utilization leaves the one that is known, while
  its window lasts. The status, and what goes with it, is the latest reading's.
- The order in which readings come does not count, only when they were seen.
- A reading that was found afterwards has no time of its own, so it wins only where that is safe:
  a window that lasts still, and begins later or is fuller; a rejection that still stands.
"""

from datetime import datetime

from attrs import evolve as change
from immutables import Map

from forks_core.registry import KnownWindow, Quota, Readings
from forks_events.quota import QuotaRead, Reading, Window


def evolve(readings: Readings, event: QuotaRead) -> Readings:
    """Take a run's reading in, and count it, so that none is recorded twice."""
    return Readings(
        quota=merge(readings.quota, event.reading, event.seen_at, event.at),
        counted=readings.counted.set(event.job, readings.counted.get(event.job, 0) + 1),
        rejected=_rejected(readings.rejected, event.job, event.reading),
    )


def _rejected(
    before: Map[str, datetime | None], job: str, reading: Reading
) -> Map[str, datetime | None]:
    """Keep a rejection that a job was told of, whatever follows; what overage pays for is none."""
    if reading.status == "rejected" and not reading.is_using_overage:
        named = reading.windows.get(reading.type or "")
        return before.set(job, reading.resets_at or (named.resets_at if named else None))
    return before


def merge(quota: Quota, reading: Reading, seen_at: datetime | None, recorded_at: datetime) -> Quota:
    """Merge a reading in.

    Args:
        quota: What is known.
        reading: What was read.
        seen_at: When, or None: it was found afterwards.
        recorded_at: When it was recorded.
    """
    at = seen_at or recorded_at
    windows = quota.windows.mutate()
    for name, window in reading.windows.items():
        known = windows.get(name)
        if known is None or _wins(window, known, seen_at, at):
            windows[name] = _merged(known, window, at)
    merged = change(quota, windows=windows.finish())
    if not _is_newest(quota, reading, seen_at, at):
        return merged
    return change(
        merged,
        status=reading.status,
        type=reading.type,
        resets_at=reading.resets_at,
        is_using_overage=reading.is_using_overage,
        read_at=at,
    )


def _wins(window: Window, known: KnownWindow, seen_at: datetime | None, at: datetime) -> bool:
    if seen_at is not None:
        return seen_at >= known.read_at or _was_kept(window, known)
    if _is_over(window, at):
        return False
    if known.utilization is None or _is_over(known, at):
        return True
    later = bool(window.resets_at and known.resets_at and window.resets_at > known.resets_at)
    return later or (window.utilization or 0.0) > known.utilization


def _was_kept(window: Window, known: KnownWindow) -> bool:
    # What is known was read later and told no utilization: had this come in time, it would have stayed.
    told = window.utilization is not None and known.utilization is None
    return told and not _is_over(window, known.read_at)


def _merged(known: KnownWindow | None, window: Window, at: datetime) -> KnownWindow:
    told = known is not None and known.utilization is not None
    if window.utilization is None and known and told and not _is_over(known, at):
        return known
    return KnownWindow(utilization=window.utilization, resets_at=window.resets_at, read_at=at)


def _is_over(window: KnownWindow | Window, at: datetime) -> bool:
    return window.resets_at is not None and window.resets_at <= at


def _is_newest(quota: Quota, reading: Reading, seen_at: datetime | None, at: datetime) -> bool:
    if quota.read_at is None or seen_at is not None:
        return quota.read_at is None or at >= quota.read_at
    named = reading.windows.get(reading.type or "")
    resets_at = reading.resets_at or (named.resets_at if named else None)
    return reading.status == "rejected" and (resets_at is None or resets_at > at)
