"""An account's quota for people and programs: each window with its age."""

from datetime import datetime
from typing import Any

from forks_core.registry import KnownWindow, Quota
from forks_core.rules.quota import FIVE_HOUR, SEVEN_DAY, Gate, LaunchGate, current
from forks_events.codec import unstructure

Row = dict[str, Any]


def quota_row(quota: Quota, now: datetime) -> Row:
    """What is known now, as one normalised reading, and below it every window that was ever told.

    Utilizations are shares from 0, where 1 is full; a window whose reset is past has lapsed, and
    counts no more. Ages are in seconds.
    """
    known = current(quota, now)
    flat: Row = {}
    for name in (FIVE_HOUR, SEVEN_DAY):
        window = known.windows.get(name)
        flat[name] = window.utilization if window else None
        flat[f"{name}_resets_at"] = unstructure(window.resets_at) if window else None
    return {
        "status": known.status,
        "type": known.type,
        **flat,
        "resets_at": unstructure(known.resets_at),
        "is_using_overage": known.is_using_overage,
        "read_at": unstructure(quota.read_at),
        "windows": [
            {"window": name, **_window_row(quota.windows[name], now)}
            for name in sorted(quota.windows)
        ],
    }


def _window_row(window: KnownWindow, now: datetime) -> Row:
    return {
        **unstructure(window),
        "age_s": round(max(0.0, (now - window.read_at).total_seconds()), 1),
        "lapsed": window.resets_at is not None and window.resets_at <= now,
    }


def gate_row(gate: Gate) -> Row:
    """What the quota permits now; every key is always there."""
    row: Row = unstructure(gate)
    return row


def launch_gate_row(gate: LaunchGate) -> Row:
    """Whether a study may be launched; what is not known is left out."""
    row: Row = unstructure(gate)
    return {name: value for name, value in row.items() if value is not None}
