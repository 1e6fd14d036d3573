"""The words that the client's errors are told in, gathered over many of its versions."""

import re
from typing import Final

from forks_events.words import ErrorKind


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE | re.MULTILINE)


_WHOSE: Final = (
    r"(?:\d+-(?:hour|day)|hourly|daily|weekly|monthly|session|usage|plan|rate|quota|account|spend(?:ing)?"
    r"|requests?|opus|sonnet|haiku|fable|mythos|claude)"
)
MISSING: Final = _pattern(r"no (?:conversation|session) found")
# Only limits of an account count: a context's, a memory's or a recursion's are no quota. Warnings
# ("You've used 90% of ...", "You're close to ...") and the news that paid credits are used now are
# no limits hit.
LIMIT: Final = _pattern(
    r"(?:hit|reached|exceeded) your [^.\n]{0,60}?limits?\b",
    rf"(?:hit|reached|exceeded) (?:its|their) [^.\n]{{0,60}}?{_WHOSE} limits?\b",
    r"(?:hit|reached|exceeded) the (?:[^.\s]+ )?(?:\d+-hour|hourly|daily|weekly|monthly|session|usage|plan|opus|sonnet)"
    r" limits?\b",
    r"quota (?:was |has been |is )?(?:exceeded|exhausted|reached)\b",
    rf"\b{_WHOSE}[ -]limits? (?:was |has been |is )?(?:reached|exceeded|hit)\b",
    r"^limit (?:reached|exceeded|hit)\b",
    r"out of (?:extra )?usage\b",
    r"out of (?:usage )?credits\b",
    r"rate[_ -]limit(?:ed|_error)?\b",
    r"usage_limit_reached",
    r"too many requests",
    r"(?:error|status|rejected|http)\W{0,3}429\b",
)
WORDS: Final[tuple[tuple[ErrorKind, re.Pattern[str]], ...]] = (
    (
        ErrorKind.BILLING,
        _pattern(r"credit balance", r"billing[_ ]error", r"payment (?:required|method|failed)"),
    ),
    (
        ErrorKind.AUTH,
        _pattern(
            r"failed to authenticate",
            r"authentication[_ ](?:failed|error)",
            r"invalid (?:api key|x-api-key|bearer token|token|credentials)",
            r"oauth (?:token|session|authentication)",
            r"(?:please )?run /login",
            r"not logged in",
            r"unauthori[sz]ed",
            r"account (?:is )?on hold",
            r"(?:api )?error\W{0,3}40[13]\b",
            r"permission_error",
            r"organization[^.\n]{0,60}(?:disabled|not allowed)",
        ),
    ),
    (
        ErrorKind.OVERLOADED,
        _pattern(
            r"overloaded",
            r"(?:error|status|repeated)\W{0,3}5\d\d\b",
            r"internal server error",
            r"service unavailable",
            r"bad gateway",
        ),
    ),
    (
        ErrorKind.CONTEXT,
        _pattern(
            r"prompt is too long",
            r"(?:conversation|input|context)[^.\n]{0,20} too (?:long|large)",
            r"context (?:window|length|limit)",
            r"request (?:is )?too large",
        ),
    ),
    (ErrorKind.TURNS, _pattern(r"maximum number of turns", r"max[-_ ]turns")),
    (ErrorKind.BUDGET, _pattern(r"maximum budget", r"max[-_ ]budget")),
    (ErrorKind.SCHEMA, _pattern(r"structured output", r"json schema")),
    (
        ErrorKind.REFUSAL,
        _pattern(
            r"usage polic(?:y|ies)", r"unable to respond to this request", r"\brefus(?:al|ed to)\b"
        ),
    ),
    (
        ErrorKind.MODEL,
        _pattern(
            r"model\b[^\n]{0,100}(?:restricted|not found|not exist|not available|not supported)",
            r"(?:issue|problem) with the selected model",
            r"model_not_found",
        ),
    ),
    (
        ErrorKind.NETWORK,
        _pattern(
            r"connection (?:error|refused|reset|closed|timed out)",
            r"\bE(?:CONN[A-Z]+|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b",
            r"fetch failed",
            r"socket hang up",
            r"request timed out",
            r"unable to connect",
            r"network error",
            r"certificate",
        ),
    ),
)
STARTUP: Final = _pattern(
    r"session(?: id)?\b[^\n]{0,80}\bin use",
    r"unknown (?:option|command|argument)",
    r"^error: (?:option|required|too many|missing)\b",
    r"invalid (?:mcp|session|settings|value|json|config|option|argument|permission|model)",
    r"(?:file|config(?:uration)?|settings|directory)\b[^\n]{0,100}(?:not found|does not exist)",
    r"cannot be used with",
    r"can only be used with",
    r"(?:must be|no) (?:a valid uuid|(?:input )?provided)",
    r"command not found",
    r"no such file or directory",
    r"permission denied",
    r"cannot find (?:module|package)",
    r"syntaxerror",
    r"exec format error",
    r"requires? node",
)
GAVE_UP: Final = _pattern(r"background tasks? still running[^\n]*terminat")
ENDS_EPOCH: Final = re.compile(r"limit reached\s*\|\s*(\d{9,11})\b", re.IGNORECASE)
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ENDS_CLOCK: Final = re.compile(
    rf"resets (?:at )?(?:(?P<month>{'|'.join(MONTHS)})[a-z]* (?P<day>\d{{1,2}}),?(?: at)? )?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>am|pm) \(UTC\)",
    re.IGNORECASE,
)
ENDS_DATE: Final = re.compile(
    r"resets (\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::\d\d)? ?(?:UTC|Z)\b", re.IGNORECASE
)
