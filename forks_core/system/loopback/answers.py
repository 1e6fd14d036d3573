"""What the API can answer, and the headers that tell of the quota."""

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from forks_core.system.loopback.prefix import Usage

GREETING = "Hello from loopback."
_SPAN_S = {"five_hour": 5 * 3600, "seven_day": 7 * 86_400}
_SHORT = {"five_hour": "5h", "seven_day": "7d"}
_WARNING = {"five_hour": 0.9, "seven_day": 0.75}
_HEADER = "anthropic-ratelimit-unified-"


class Quota(NamedTuple):
    """How much of each window is used, from 0 to 1, and in how many seconds both begin anew.

    Without `resets_in_s` each window is half over.
    """

    five_hour: float = 0.42
    seven_day: float = 0.61
    resets_in_s: float | None = None

    def headers(self, rejected: str | None = None) -> dict[str, str]:
        """Return the response headers; `rejected` names a window that is used up."""
        used = {"five_hour": self.five_hour, "seven_day": self.seven_day}
        states = {window: _state(window, used[window], rejected) for window in used}
        troubled = [w for w in ("seven_day", "five_hour") if states[w] != "allowed"]
        named = rejected or (troubled[0] if troubled else "five_hour")
        headers = {
            f"{_HEADER}status": states[named],
            f"{_HEADER}representative-claim": named,
            f"{_HEADER}reset": self._reset(named),
        }
        for window, short in _SHORT.items():
            fraction = 1.0 if window == rejected else used[window]
            headers[f"{_HEADER}{short}-status"] = states[window]
            headers[f"{_HEADER}{short}-utilization"] = f"{fraction:g}"
            headers[f"{_HEADER}{short}-reset"] = self._reset(window)
            if states[window] == "allowed_warning":
                headers[f"{_HEADER}{short}-surpassed-threshold"] = f"{_WARNING[window]:g}"
        return headers

    def _reset(self, window: str) -> str:
        wait_s = _SPAN_S[window] / 2 if self.resets_in_s is None else self.resets_in_s
        return str(int(time.time() + wait_s))


def _state(window: str, used: float, rejected: str | None) -> str:
    if window == rejected:
        return "rejected"
    return "allowed_warning" if used >= _WARNING[window] else "allowed"


class Call(NamedTuple):
    """A call of one of the client's tools."""

    tool: str
    given: Mapping[str, Any]


class Answer(NamedTuple):
    """One answer of the API: a message, or an error if the status is not 200."""

    text: str = GREETING
    call: Call | None = None
    """A tool that the client shall call after the text."""
    status: int = 200
    error: str = ""
    """The API's type of error, such as `overloaded_error`."""
    rejected: str | None = None
    """The quota window that is used up: `five_hour` or `seven_day`."""
    quota: Quota | None = None
    """The quota of this answer's headers; the API's own if None."""
    output_tokens: int | None = None
    usage: Usage | None = None
    """The prompt side that is answered; what the request earned from the prompt cache if None."""
    delay_s: float = 0.0
    """Seconds of silence before the answer."""
    hold: threading.Event | None = None
    """The answer waits until this is set, or the API is closed."""


def say(text: str = GREETING) -> Answer:
    """Answer with a text."""
    return Answer(text=text)


def run(command: str, text: str = "Running a command.") -> Answer:
    """Ask the client to run a shell command; it really does, and asks again with the output."""
    return call("Bash", text, command=command, description="run")


def call(tool: str, text: str = "", **given: Any) -> Answer:
    """Ask the client to call a tool with what it is given; without a text it is all there is."""
    return Answer(text=text, call=Call(tool, given))


def reject(window: str = "five_hour", resets_in_s: float = 3600) -> Answer:
    """Refuse because a quota window is used up, for so many seconds: a 429."""
    return Answer(
        text="This request would exceed your account's rate limit.",
        status=429,
        error="rate_limit_error",
        rejected=window,
        quota=Quota(resets_in_s=resets_in_s),
    )


def overload() -> Answer:
    """Refuse because the service is overloaded: a 529, which the client tries again by itself."""
    return Answer(text="Overloaded", status=529, error="overloaded_error")


def refuse_token() -> Answer:
    """Refuse the credential: a 401."""
    return Answer(text="invalid token", status=401, error="authentication_error")
