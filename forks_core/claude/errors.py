"""What went wrong, out of an error's fields and its text.

Fields are believed before words, with two exceptions that only words tell on some versions: a
session that is not there, and a limit that was hit. Only text of errors is ever given to these
functions; the text of a good answer may speak of limits as it likes.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from attrs import frozen

from forks_core.claude.fields import at_epoch
from forks_core.claude.wording import (
    ENDS_CLOCK,
    ENDS_DATE,
    ENDS_EPOCH,
    GAVE_UP,
    LIMIT,
    MISSING,
    MONTHS,
    STARTUP,
    WORDS,
)
from forks_events.words import ErrorKind


@frozen(kw_only=True)
class Signs:
    """What the client said about an error beside its text.

    Args:
        subtype: The result's subtype.
        api_error_status: HTTP status of the error that ended the turn, or None.
        terminal_reason: The client's own word for the end, or None.
        assistant_error: The ``error`` of the last line of the main thread, or None.
        refused: Whether the model refused to answer.
        rejected: Whether a quota window was announced as exhausted just before.
        startup_failure: Whether the client named a reason for not starting.
    """

    subtype: str | None = None
    api_error_status: int | None = None
    terminal_reason: str | None = None
    assistant_error: str | None = None
    refused: bool = False
    rejected: bool = False
    startup_failure: bool = False


NO_SIGNS: Final = Signs()
_JUST_PAST: Final = timedelta(minutes=5)

_ASSISTANT: Final[Mapping[str, ErrorKind]] = {
    "authentication_failed": ErrorKind.AUTH,
    "oauth_org_not_allowed": ErrorKind.AUTH,
    "account_on_hold": ErrorKind.AUTH,
    "verification_required": ErrorKind.AUTH,
    "cloud_credential_error": ErrorKind.AUTH,
    "billing_error": ErrorKind.BILLING,
    "rate_limit": ErrorKind.RATE_LIMIT,
    "overloaded": ErrorKind.OVERLOADED,
    "server_error": ErrorKind.OVERLOADED,
    "model_not_found": ErrorKind.MODEL,
}
_STATUS: Final[Mapping[int, ErrorKind]] = {
    401: ErrorKind.AUTH,
    402: ErrorKind.BILLING,
    403: ErrorKind.AUTH,
    408: ErrorKind.NETWORK,
    413: ErrorKind.CONTEXT,
    429: ErrorKind.RATE_LIMIT,
}
_TERMINAL: Final[Mapping[str, ErrorKind]] = {
    "prompt_too_long": ErrorKind.CONTEXT,
    "blocking_limit": ErrorKind.CONTEXT,
    "rapid_refill_breaker": ErrorKind.CONTEXT,
    "budget_exhausted": ErrorKind.BUDGET,
    "max_turns": ErrorKind.TURNS,
    "structured_output_retry_exhausted": ErrorKind.SCHEMA,
}
_SUBTYPE: Final[Mapping[str, ErrorKind]] = {
    "error_max_turns": ErrorKind.TURNS,
    "error_max_budget_usd": ErrorKind.BUDGET,
    "error_max_structured_output_retries": ErrorKind.SCHEMA,
}
# A billing error may come as a 403, a full context as a 400: the more telling field goes first.
_PRECEDENCE: Final = (
    ErrorKind.BILLING,
    ErrorKind.AUTH,
    ErrorKind.OVERLOADED,
    ErrorKind.CONTEXT,
    ErrorKind.TURNS,
    ErrorKind.BUDGET,
    ErrorKind.SCHEMA,
    ErrorKind.REFUSAL,
    ErrorKind.MODEL,
    ErrorKind.NETWORK,
    ErrorKind.STARTUP,
)


def classify(text: str, signs: Signs = NO_SIGNS) -> ErrorKind | None:
    """Say what an error is about, or None when neither its fields nor its words tell.

    Args:
        text: The error's text, empty when it has none; never the text of a good answer.
        signs: What the client said beside it.
    """
    words = _plain(text)
    told = _told(signs)
    if signs.startup_failure:
        return ErrorKind.STARTUP
    if MISSING.search(words):
        return ErrorKind.SESSION_MISSING
    if signs.rejected or ErrorKind.RATE_LIMIT in told or LIMIT.search(words):
        return ErrorKind.RATE_LIMIT
    if kind := next((kind for kind in _PRECEDENCE if kind in told), None):
        return kind
    return _worded(words) or _unreached(signs)


def classify_stderr(text: str) -> ErrorKind | None:
    """Say what standard error complains of, or None when it does not tell.

    A client that cannot start often says why there and nowhere else.
    """
    words = _plain(text)
    if MISSING.search(words):
        return ErrorKind.SESSION_MISSING
    if STARTUP.search(words):
        return ErrorKind.STARTUP
    return ErrorKind.RATE_LIMIT if LIMIT.search(words) else _worded(words)


def gave_work_up(stderr: str) -> bool:
    """Tell whether the client says on standard error that it ended its own background work."""
    return GAVE_UP.search(stderr) is not None


def limit_ends(text: str, seen_at: datetime | None) -> datetime | None:
    """Read when a limit ends.

    Args:
        text: The error's text.
        seen_at: When it came; by it an hour is known to be today's or tomorrow's. None: nobody
            knows, so only a whole date tells. Hours of other zones than UTC would need their rules.
    """
    try:
        if found := ENDS_EPOCH.search(text):
            return at_epoch(int(found[1]))
        if found := ENDS_DATE.search(text):
            year, month, day, hour, minute = map(int, found.groups())
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
        found = ENDS_CLOCK.search(text)
        return _by_clock(found, seen_at) if found and seen_at else None
    except (ValueError, OverflowError):
        return None


def _by_clock(found: re.Match[str], seen_at: datetime) -> datetime:
    now = seen_at.astimezone(UTC)
    hour = int(found["hour"])
    if not 1 <= hour <= 12:
        raise ValueError("no hour of half a day")
    at = now.replace(
        hour=hour % 12 + (12 if found["half"].lower() == "pm" else 0),
        minute=int(found["minute"] or 0),
        second=0,
        microsecond=0,
    )
    if not found["month"]:
        return at if at >= now - _JUST_PAST else at + timedelta(days=1)
    at = at.replace(month=MONTHS.index(found["month"].lower()) + 1, day=int(found["day"]))
    return at if at >= now - _JUST_PAST else at.replace(year=at.year + 1)


def _plain(text: str) -> str:
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def _told(signs: Signs) -> set[ErrorKind]:
    status = signs.api_error_status
    told = {
        _ASSISTANT.get(signs.assistant_error or ""),
        _STATUS.get(status or 0),
        _TERMINAL.get(signs.terminal_reason or ""),
        _SUBTYPE.get(signs.subtype or ""),
        ErrorKind.OVERLOADED if status is not None and 500 <= status < 600 else None,
        ErrorKind.REFUSAL if signs.refused else None,
    }
    return {kind for kind in told if kind is not None}


def _worded(words: str) -> ErrorKind | None:
    return next((kind for kind, pattern in WORDS if pattern.search(words)), None)


def _unreached(signs: Signs) -> ErrorKind | None:
    # An API error without a status is one that no server answered.
    unanswered = signs.terminal_reason == "api_error" and signs.api_error_status is None
    return ErrorKind.NETWORK if unanswered else None
