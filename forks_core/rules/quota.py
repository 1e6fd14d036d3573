"""What the quota permits: for the next trial, and for the launch of a whole study.

A window whose reset is past has begun anew, so what was read of it says nothing any more; a status
lapses with the window that it names.
"""

from datetime import datetime
from enum import Enum

from attrs import evolve, frozen
from immutables import Map

from forks_core.registry import KnownWindow, Quota
from forks_events.study import Overage

SEVEN_DAY_STOP = 0.95
"""From this share of the seven-day window on nothing is started any more."""
FIVE_HOUR_FULL = 1.0
FIVE_HOUR, SEVEN_DAY = "five_hour", "seven_day"
REJECTED = "rejected"


class Action(Enum):
    """What a reading permits."""

    GO = "go"
    WAIT = "wait"
    STOP = "stop"


@frozen(kw_only=True)
class Gate:
    """What may be done now.

    Args:
        action: Go on, wait, or stop.
        reason: Why, in words.
        wait_until: When to look again, or None: not known, or there is nothing to wait for.
    """

    action: Action
    reason: str
    wait_until: datetime | None = None


def current(quota: Quota, now: datetime) -> Quota:
    """Leave out what lapsed: windows whose reset is past, and a status that such a window had."""
    windows = {name: known for name, known in quota.windows.items() if not _is_past(known, now)}
    kept = evolve(quota, windows=Map(windows))
    if not _has_lapsed(quota, now):
        return kept
    return evolve(kept, status=None, type=None, resets_at=None, is_using_overage=False)


def _is_past(known: KnownWindow, now: datetime) -> bool:
    return known.resets_at is not None and known.resets_at <= now


def _has_lapsed(quota: Quota, now: datetime) -> bool:
    resets_at = status_resets_at(quota)
    return resets_at is not None and resets_at <= now


def status_resets_at(quota: Quota) -> datetime | None:
    """When the window that the status is about begins anew, or None."""
    named = quota.windows.get(quota.type or "")
    return quota.resets_at or (named.resets_at if named else None)


def gate(quota: Quota, *, stop: float = SEVEN_DAY_STOP, overage: Overage = Overage.STOP) -> Gate:
    """Ask whether another trial may be started.

    The first that holds: nothing is known, go; the seven-day window is used up to ``stop``, stop;
    the five-hour window was refused, wait for it; anything else was refused, stop; the five-hour
    window is full, wait for it; else go. A warning alone never blocks.

    Args:
        quota: What is known now, see `current`.
        stop: Share of the seven-day window at which nothing is started any more, inclusive.
        overage: What a refused or full five-hour window means while overage is paid for. To
            stop says so whatever the window, since every further call costs money.
    """
    five, seven = _used(quota, FIVE_HOUR), _used(quota, SEVEN_DAY)
    rejected = quota.status == REJECTED
    if not quota.windows and quota.status is None:
        return Gate(action=Action.GO, reason="no quota data yet")
    if seven is not None and seven >= stop:
        return Gate(action=Action.STOP, reason=f"seven_day utilization {seven:.3f} >= {stop}")
    if rejected and quota.is_using_overage and overage is Overage.STOP:
        return Gate(action=Action.STOP, reason=f"overage in use ({quota.type})")
    if quota.is_using_overage and overage is Overage.GO:
        return Gate(action=Action.GO, reason="overage in use")
    if rejected and quota.type != FIVE_HOUR:
        return Gate(action=Action.STOP, reason=f"quota rejected ({quota.type})")
    if rejected:
        until = _resets_at(quota, FIVE_HOUR) or quota.resets_at
        return Gate(action=Action.WAIT, reason="five_hour window rejected", wait_until=until)
    if five is not None and five >= FIVE_HOUR_FULL:
        until = _resets_at(quota, FIVE_HOUR)
        reason = f"five_hour utilization {five:.3f}"
        return Gate(action=Action.WAIT, reason=reason, wait_until=until)
    return Gate(action=Action.GO, reason="ok")


def _used(quota: Quota, name: str) -> float | None:
    known = quota.windows.get(name)
    return known.utilization if known else None


def _resets_at(quota: Quota, name: str) -> datetime | None:
    known = quota.windows.get(name)
    return known.resets_at if known else None


def stopped_until(quota: Quota, *, stop: float = SEVEN_DAY_STOP) -> datetime | None:
    """When a gate that says stop may say something else, or None: that is not known."""
    seven = _used(quota, SEVEN_DAY)
    full = seven is not None and seven >= stop
    return _resets_at(quota, SEVEN_DAY) if full else status_resets_at(quota)


class Launching(Enum):
    """What the latest known reading says to the launch of a study."""

    GO = "go"
    GATED = "gated"
    UNKNOWN = "unknown"


@frozen(kw_only=True)
class LaunchGate:
    """Whether a study may be launched.

    Args:
        action: Go, gated, or unknown: then the preflight probes.
        reason: Why, in words.
        seven_day: Share of the seven-day window that is used up; None when unknown.
        as_of: When that was read; None when unknown.
        retry_at: When to come back, where it is gated and that is known.
    """

    action: Launching
    reason: str
    seven_day: float | None = None
    as_of: datetime | None = None
    retry_at: datetime | None = None


def launch_gate(
    quota: Quota,
    now: datetime,
    *,
    stop: float = SEVEN_DAY_STOP,
    overage: Overage = Overage.STOP,
) -> LaunchGate:
    """Ask whether a study may be launched, of what was last read, however long ago.

    The first that holds: nothing was read of the seven-day window, and no other is known to be
    refused until later, unknown; it is used up to ``stop`` and not over, gated; it is over,
    unknown; some window was refused that has not begun anew, gated; else go. A window is over when
    its reset is past and nothing was refused.

    Args:
        quota: All that was read; nothing may have been left out.
        now: The time to judge at.
        stop: Share of the seven-day window from which a launch is gated, inclusive.
        overage: Whether a refused window counts while overage is paid for.
    """
    window, refused = quota.windows.get(SEVEN_DAY), _refused(quota, now, overage)
    if window is None or window.utilization is None:
        if refused is not None and refused.retry_at is not None:
            return refused
        return LaunchGate(
            action=Launching.UNKNOWN,
            reason="no reading of the seven_day window on file; the preflight will probe",
        )
    used, resets_at = window.utilization, window.resets_at or quota.resets_at
    over = resets_at is not None and resets_at < now and quota.status != REJECTED
    if over and resets_at is not None:
        return LaunchGate(
            action=Launching.UNKNOWN,
            reason=f"the seven_day window has reset at {_minute(resets_at)}; "
            "the preflight will probe",
        )
    found = LaunchGate(
        action=Launching.GO,
        reason=f"seven_day utilization {used:.3f} < {stop}",
        seven_day=used,
        as_of=window.read_at,
    )
    if used >= stop:
        told = f"as of {window.read_at.isoformat()}, resets {_minute(resets_at)}"
        reason = f"seven_day utilization {used:.3f} >= {stop} {told}"
        return evolve(found, action=Launching.GATED, reason=reason, retry_at=resets_at)
    return evolve(refused, seven_day=used, as_of=window.read_at) if refused else found


def _refused(quota: Quota, now: datetime, overage: Overage) -> LaunchGate | None:
    """Gate for a window that was refused and has not begun anew, as far as anybody knows."""
    until = status_resets_at(quota)
    is_paid = quota.is_using_overage and overage is Overage.GO
    if quota.status != REJECTED or is_paid or (until is not None and until <= now):
        return None
    reason = f"quota rejected ({quota.type}), resets {_minute(until)}"
    return LaunchGate(action=Launching.GATED, reason=reason, retry_at=until)


def _minute(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC" if at else "unknown"
