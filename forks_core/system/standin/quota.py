"""The two quota windows of a subscription, and the line that tells of them."""

import time
from typing import Any

_SPAN_S = {"five_hour": 5 * 3600, "seven_day": 7 * 86_400}
_WARNING = {"five_hour": 0.9, "seven_day": 0.75}
WINDOWS = tuple(_SPAN_S)


class Quota:
    """How much of each window is used: fractions from 0 to 1, and when the window begins anew."""

    def __init__(self, five_hour: float = 0.42, seven_day: float = 0.61) -> None:
        """Start somewhere in the middle of both windows."""
        now = int(time.time())
        self._used = {"five_hour": five_hour, "seven_day": seven_day}
        self._resets_at = {window: now + span // 2 for window, span in _SPAN_S.items()}
        self.unsaid = True

    def read(self, told: dict[str, Any]) -> None:
        """Take new values: `five_hour`, `seven_day` (fractions), `resets_in_s` (one for both)."""
        self._used |= {window: float(told[window]) for window in WINDOWS if window in told}
        if "resets_in_s" in told:
            resets_at = int(time.time() + float(told["resets_in_s"]))
            self._resets_at = dict.fromkeys(WINDOWS, resets_at)
        self.unsaid = True

    def reject(self, window: str, resets_in_s: float) -> int:
        """Use a window up until it resets; return that time in seconds since 1970."""
        self._used[window] = 1.0
        self._resets_at[window] = int(time.time() + resets_in_s)
        return self._resets_at[window]

    def line(self, rejected: str | None = None, *, windows: bool) -> dict[str, Any]:
        """Return the `rate_limit_event`, with `unifiedWindows` where the version has them."""
        self.unsaid = False
        warned = [w for w in reversed(WINDOWS) if self._used[w] >= _WARNING[w]]
        named = rejected or (warned[0] if warned else "five_hour")
        info: dict[str, Any] = {
            "status": self._status(named, rejected),
            "resetsAt": self._resets_at[named],
            "rateLimitType": named,
            "isUsingOverage": False,
        }
        if warned and not rejected:
            info |= {"utilization": self._used[named], "surpassedThreshold": _WARNING[named]}
        if windows:
            info["unifiedWindows"] = {w: self._window(w, rejected) for w in WINDOWS}
        return {"type": "rate_limit_event", "rate_limit_info": info}

    def _window(self, window: str, rejected: str | None) -> dict[str, Any]:
        return {
            "utilization": self._used[window],
            "resetsAt": self._resets_at[window],
            "status": self._status(window, rejected),
        }

    def _status(self, window: str, rejected: str | None) -> str:
        if window == rejected:
            return "rejected"
        return "allowed_warning" if self._used[window] >= _WARNING[window] else "allowed"


def limit_text(window: str, resets_at: int, *, modern: bool) -> str:
    """Return what the client says when a window is used up; `resets_at` is seconds since 1970."""
    clock = time.gmtime(resets_at)
    hour = f"{clock.tm_hour % 12 or 12}:{clock.tm_min:02d}{'am' if clock.tm_hour < 12 else 'pm'}"
    if window == "five_hour":
        return f"You've hit your {'5-hour' if modern else 'session'} limit · resets {hour} (UTC)"
    far = resets_at - time.time() > 86_400
    day = f"{time.strftime('%b', clock)} {clock.tm_mday}, " if far else ""
    return f"You've hit your weekly limit · resets {day}{hour} (UTC)"
