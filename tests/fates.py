"""How the call of an attempt goes: what its client prints, how it exits, what ends it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson
from attrs import frozen

from forks_core.claude.stream import Parser
from forks_core.rules.outcome import Imposed
from forks_events import Said
from forks_events.words import ErrorKind, Reason, Status
from tests.claude.lines import Line, failure, init, limit, result, says

TIMED_OUT = Imposed(status=Status.TIMEOUT)
LOST = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)


@frozen(kw_only=True)
class Told:
    """How a call goes.

    Args:
        lines: What its client prints.
        exit_code: How it exits; None: nobody saw it exit.
        stderr: What its standard error complains of, or None.
        imposed: What ended it, or None: it ended by itself.
        check: How the check exits, where there is one.
        seconds: How long it takes.
    """

    lines: tuple[Line, ...] = ()
    exit_code: int | None = 0
    stderr: ErrorKind | None = None
    imposed: Imposed | None = None
    check: int = 0
    seconds: float = 5.0


def told(*lines: Line, **fields: Any) -> Told:
    """A call whose client prints these lines."""
    return Told(lines=lines, **fields)


def heard(job: str, lines: Sequence[Line], now: datetime) -> tuple[Said, ...]:
    """What lines that come now come to."""
    parser = Parser(job)
    return tuple(said for line in lines for said in parser.feed(orjson.dumps(line), now))


def failed(text: str, status: int | None = None, cost: float = 0.0) -> Line:
    """A result that is an error of the service."""
    more = {} if status is None else {"api_error_status": status}
    return failure(text, total_cost_usd=cost, **more)


OK = told(init(), says(), result())


def reset_at(now: datetime, seconds: float) -> int:
    """When a window begins anew, as the client tells it."""
    return int((now + timedelta(seconds=seconds)).timestamp())


FIVE_HOUR_RESET_S, SEVEN_DAY_RESET_S = 40, 100
"""Short ones, so that they pass within a test."""


def fate(name: str, now: datetime, cost: float = 0.1, seven: float = 0.5) -> Told:
    """How the call goes of an attempt with this fate, which begins now.

    Args:
        name: One of FATES.
        now: When it begins.
        cost: Its cost in USD, as the client tells it at its end.
        seven: Share of the seven-day window that it tells.
    """
    windows = {"seven_day": {"utilization": seven}}
    fine = limit("allowed", unifiedWindows=windows | {"five_hour": {"utilization": 0.4}})
    begins = (init(), says())
    good = (*begins, fine, result(cost))
    match name:
        case "ok" | "slow":
            return told(*good, seconds=130.0 if name == "slow" else 5.0)
        case "wrong" | "broken check":
            return told(*good, check=1 if name == "wrong" else 2)
        case "timeout":
            return told(*begins, exit_code=-15, imposed=TIMED_OUT)
        case "lost":
            return told(*begins, exit_code=None, imposed=LOST)
        case "turns" | "budget":
            subtype = {"turns": "error_max_turns", "budget": "error_max_budget_usd"}[name]
            return told(*begins, fine, result(cost, subtype=subtype, is_error=True), exit_code=1)
        case "crash":
            return told(exit_code=1)
        case "mcp":
            return told(init(mcp_servers=[{"name": "db", "status": "failed"}]), *good[1:])
        case "overloaded":
            return told(*begins, failed("API Error: 529 Overloaded", 529, cost), exit_code=1)
        case "auth":
            return told(init(), failed("Please run /login", 401), exit_code=1)
        case _:
            return _limited(name, now, cost, windows)


def _limited(name: str, now: datetime, cost: float, windows: dict[str, Any]) -> Told:
    five = reset_at(now, FIVE_HOUR_RESET_S)
    full = windows | {"five_hour": {"utilization": 1.0, "resetsAt": five}}
    if name == "full":
        return told(init(), says(), limit("allowed_warning", unifiedWindows=full), result(cost))
    rejections = {
        "five": limit("rejected", resetsAt=five, unifiedWindows=full),
        "bare": limit("rejected"),
        "seven": limit("rejected", "seven_day", resetsAt=reset_at(now, SEVEN_DAY_RESET_S)),
    }
    return told(
        init(), says(), rejections[name], failed("You've hit your limit", 429, cost), exit_code=1
    )


OVER = ("ok", "slow", "wrong", "broken check", "timeout", "turns", "budget", "full")
"""What a trial is over with."""
AGAIN = ("five", "bare", "seven", "overloaded", "auth", "crash", "mcp", "lost")
"""What is no work of the arm."""
FATES = OVER + AGAIN
