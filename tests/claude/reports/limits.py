"""E: limits, retries and scheduling."""

from typing import Any

from tests.claude.lines import (
    MODEL,
    Line,
    banner,
    counted,
    failure,
    init,
    limit,
    result,
    says,
    system,
    usage,
)
from tests.claude.reports.case import OK, TIMEOUT, Case, done, failed
from tests.claude.test_errors import LIMITS, NO_LIMITS

RESET = 1796040000
MORE_LIMITS = (
    "Claude usage limit reached. Your limit will reset at 5pm (America/New_York).",
    "Session limit reached ∙ resets 3pm",
    "Weekly limit reached ∙ resets Oct 9 at 5am",
    "Opus weekly limit reached ∙ resets Oct 6, 1pm",
    "You've reached your session limit · resets 9am",
    "You've hit your monthly spend limit",
    "You've hit your org's monthly usage limit · resets Jan 1",
    "You're out of usage credits",
    "Extra usage limit reached",
    "API Error: Rate limit reached",
    'API Error: 429 {"error":{"type":"usage_limit_reached"}}',
)
HARDER = (
    "You've hit the 5-hour limit · resets 3pm",
    "You've reached the weekly limit",
    "You have exceeded your usage limit",
)
_OPUS = 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'


def _windows(five: float, seven: float) -> dict[str, Any]:
    told = {"five_hour": (five, RESET), "seven_day": (seven, RESET + 460_000)}
    return {n: {"utilization": used, "resetsAt": ends} for n, (used, ends) in told.items()}


def _retries(status: int | None, number: int) -> tuple[Line, ...]:
    return tuple(
        system("api_retry", attempt=n, max_retries=10, retry_delay_ms=500 * n, error_status=status)
        for n in range(1, number + 1)
    )


def _refused(text: str, status: int | None, error: str, **more: Any) -> tuple[Line, ...]:
    told = {"api_error_status": status, "terminal_reason": "api_error"}
    return banner(error, text), failure(text, **(told | more))


_HIT = _refused("You've hit your session limit · resets 9am", 429, "rate_limit")
_REJECTED = limit("rejected", resetsAt=RESET, utilization=1, overageStatus="rejected")
_IN_WINDOWS = limit("rejected", unifiedWindows=_windows(1, 0.4), resetsAt=RESET)
_WEEKLY = limit("rejected", "seven_day", resetsAt=RESET, utilization=1)
_OVERAGE = limit("rejected", resetsAt=RESET, isUsingOverage=True, overageStatus="allowed")
CASES: tuple[Case, ...] = (
    *(
        Case(
            ref="E1",
            name=text,
            lines=(init(), failure(text)),
            exit_code=1,
            then=failed("is_error", "rate_limit", turns=0),
        )
        for text in (*LIMITS, *MORE_LIMITS, *HARDER)
    ),
    *(
        Case(
            ref="E1",
            name=f"no limit: {text}",
            lines=(init(), failure(text)),
            exit_code=1,
            then=failed("is_error", "other"),
        )
        for text in NO_LIMITS
        if text
    ),
    *(
        Case(ref="E1", name=f"answer: {text}", lines=(init(), says(), done(text=text)), then=OK)
        for text in (*LIMITS, *MORE_LIMITS, *NO_LIMITS)
        if text
    ),
    *(
        Case(
            ref="E1",
            name=f"ends: {name}",
            lines=(init(), *lines),
            exit_code=1,
            then=failed("is_error", "rate_limit", resets_at=ends),
        )
        for name, lines, ends in (
            ("epoch", (failure("Claude AI usage limit reached|1753077600"),), 1753077600),
            (
                "gateway",
                (failure("spend limit reached (daily; resets 2026-08-09 00:00 UTC)"),),
                1786233600,
            ),
            (
                "the event first",
                (_REJECTED, failure("Claude AI usage limit reached|1753077600")),
                RESET,
            ),
        )
    ),
    *(
        Case(
            ref="E2",
            name=name,
            lines=(init(), *lines),
            exit_code=code,
            then=failed("is_error", "rate_limit", turns=0, cost=0.0, **then),
        )
        for name, lines, code, then in (
            ("", (_REJECTED, *_HIT), 1, {"resets_at": RESET, "quota": "wait", "until": RESET}),
            ("exit 0", (_REJECTED, *_HIT), 0, {"resets_at": RESET, "quota": "wait"}),
            ("all windows", (_IN_WINDOWS, *_HIT), 1, {"quota": "wait", "until": RESET}),
            ("weekly", (_WEEKLY, *_HIT), 1, {"resets_at": RESET, "quota": "stop"}),
            ("no event", _HIT, 1, {"resets_at": None, "quota": "go"}),
            ("no words", (_REJECTED, failure("")), 1, {"resets_at": RESET, "quota": "wait"}),
            ("no reset", (limit("rejected"), *_HIT), 1, {"quota": "wait", "until": None}),
        )
    ),
    *(
        Case(
            ref="E5", name=name, lines=(init(), *lines, says(), done()), then={**OK, "quota": gate}
        )
        for name, lines, gate in (
            (
                "",
                (
                    limit("allowed_warning", "seven_day", utilization=0.96),
                    limit("allowed", "seven_day"),
                ),
                "stop",
            ),
            (
                "another window",
                (
                    limit("allowed_warning", "seven_day", utilization=0.96),
                    limit("allowed", utilization=0.1),
                ),
                "stop",
            ),
            ("a fraction", (limit("allowed_warning", "seven_day", utilization=0.87),), "go"),
            ("an integer", (limit("allowed_warning", "five_hour", utilization=1),), "wait"),
            (
                "an unknown window",
                (limit("allowed_warning", "seven_day_novel", utilization=1),),
                "go",
            ),
        )
    ),
    *(
        Case(ref="E7", name=name, lines=(init(), line, says(), done()), then={**OK, "quota": gate})
        for name, line, gate in (
            ("", _OVERAGE, "stop"),
            ("allowed", limit("allowed", isUsingOverage=True, utilization=0.2), "go"),
            ("none to be had", limit("allowed", overageStatus="rejected", utilization=0.2), "go"),
        )
    ),
    *(
        Case(
            ref="E8",
            name=name,
            lines=(init(), *_retries(529, 3), *lines),
            exit_code=1,
            then=failed("is_error", "overloaded", resets_at=None, quota="go"),
        )
        for name, lines in (
            ("", _refused("API Error: Repeated 529 Overloaded errors", 529, "overloaded")),
            ("by the words", (failure("API Error: Repeated 529 Overloaded errors"),)),
            ("as JSON", (failure(_OPUS),)),
            ("server", _refused("API Error: 500 Internal server error", 500, "server_error")),
            ("unavailable", _refused("API Error: 503", 503, "server_error")),
            ("a timeout of the gateway", _refused("API Error: 504", 504, "unknown")),
        )
    ),
    Case(
        ref="E8",
        name="and then it worked",
        lines=(init(), *_retries(529, 3), says(), done()),
        then=OK,
    ),
    Case(
        ref="E9",
        lines=(init(), *_retries(429, 50)),
        exit_code=-9,
        imposed=TIMEOUT,
        then={"status": "timeout", "cost": None, "turns": 0},
    ),
    *(
        Case(
            ref="E9",
            name=name,
            lines=(init(), *_retries(status, 50)),
            exit_code=143,
            then=failed("exit_code", kind, cost=None),
        )
        for name, status, kind in (
            ("ended by another", 429, "rate_limit"),
            ("overloaded", 529, "overloaded"),
            ("network", None, "network"),
        )
    ),
    Case(ref="E9", name="and went on", lines=(init(), *_retries(429, 50), says(), done()), then=OK),
    *(
        Case(
            ref="E10",
            name=name,
            lines=(init(), *lines),
            exit_code=1,
            then=failed("is_error", "auth", turns=0),
        )
        for name, lines in (
            ("", _refused("Failed to authenticate. API Error: 401", 401, "authentication_failed")),
            ("by the status", (failure("API Error", api_error_status=401),)),
            ("by the words", (failure("OAuth token has expired"),)),
            ("on hold", _refused("Your account is on hold", 403, "account_on_hold")),
            ("called no error", (banner("authentication_failed"), result(0, {}, usage=usage()))),
        )
    ),
    *(
        Case(
            ref="E11",
            name=name,
            lines=(
                init(),
                says(),
                *_refused("403", 403, error, total_cost_usd=3.2, modelUsage={MODEL: counted(10)}),
            ),
            exit_code=1,
            then=failed("is_error", kind, cost=3.2, turns=1),
        )
        for name, error, kind in (
            ("", "oauth_org_not_allowed", "auth"),
            ("billing", "billing_error", "billing"),
            ("verification", "verification_required", "auth"),
        )
    ),
)
