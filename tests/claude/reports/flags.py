"""B: success and error flags that disagree."""

from typing import Any

from tests.claude.lines import (
    MODEL,
    Line,
    counted,
    failure,
    init,
    result,
    says,
    system,
    usage,
)
from tests.claude.reports.case import OK, Case, done, failed, without

_API_ERROR = {"terminal_reason": "api_error", "total_cost_usd": 0}


def _error(text: str, status: int | None, **more: Any) -> Line:
    return failure(text, api_error_status=status, **(_API_ERROR | more))


_LIMIT = "You've hit your session limit · resets 9am (Europe/Berlin)"
_DENIED = [{"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": "a"}}]
_REFUSED = system("permission_denied", tool_name="Write", tool_use_id="t1", message="denied")
_COULD_NOT = done(0.03, "I could not write the file", num_turns=3, permission_denials=_DENIED)


def _capped(subtype: str, cost: float = 0.91, **more: Any) -> Line:
    told = {"subtype": subtype, "is_error": True, "usage": usage(9, output=900)}
    return without(result(cost, {MODEL: counted(9, output=900)}, **(told | more)), "result")


_SWITCHED = system(
    "model_refusal_fallback",
    trigger="refusal",
    original_model=MODEL,
    fallback_model="claude-opus-4-8",
    retracted_message_uuids=["r1"],
)
_PART = says("m1", content=[{"type": "text", "text": "part"}]) | {"uuid": "r1"}
_OTHER = says("m2", model="claude-opus-4-8", content=[{"type": "text", "text": "other"}])
_BOTH = {MODEL: counted(10), "claude-opus-4-8": counted(10)}
_SUCCESS: tuple[Line, ...] = (init(), says())
_B1: tuple[tuple[str, Line, int, str], ...] = (
    ("", _error(_LIMIT, 429), 1, "rate_limit"),
    ("exit 0", _error(_LIMIT, 429), 0, "rate_limit"),
    ("by the text", _error(_LIMIT, None), 1, "rate_limit"),
    ("overloaded", _error("API Error: 529", 529), 0, "overloaded"),
    ("server", _error("API Error: 500", 500), 1, "overloaded"),
    ("gateway", _error("API Error: 502 Bad Gateway", 502), 1, "overloaded"),
    ("login", _error("Invalid API key · Please run /login", 401), 0, "auth"),
    ("credit", _error("Credit balance is too low", 400), 1, "billing"),
    ("network", _error("API Error: Connection error.", None), 1, "network"),
    ("context", _error("Prompt is too long", 400), 1, "context"),
    ("without words", _error("", None), 1, "network"),
    ("novel", failure("It broke in a new way"), 1, "other"),
)
CASES: tuple[Case, ...] = (
    *(
        Case(
            ref="B1",
            name=name,
            lines=(init(), line),
            exit_code=code,
            then=failed("is_error", kind, detail="success", cost=0.0, turns=0),
        )
        for name, line, code, kind in _B1
    ),
    Case(
        ref="B3",
        lines=(_REFUSED, _COULD_NOT),
        then={**OK, "flags": ("needs_attention",), "denials": ("Write",)},
    ),
    Case(
        ref="B3",
        name="with a response",
        lines=(*_SUCCESS, _REFUSED, _COULD_NOT),
        then={**OK, "flags": ("needs_attention",), "denials": ("Write",), "cost": 0.03},
    ),
    Case(
        ref="B3",
        name="three times",
        lines=(
            *_SUCCESS,
            done(
                0.03,
                permission_denials=[
                    {"tool_name": "Bash", "tool_use_id": f"t{n}"} for n in (1, 2, 3)
                ],
            ),
        ),
        then={**OK, "flags": ("needs_attention",), "denials": ("Bash",) * 3},
    ),
    *(
        Case(
            ref="B5",
            name=name,
            lines=(*_SUCCESS, line),
            exit_code=1,
            then=failed("is_error", "turns", detail="error_max_turns", cost=0.91),
        )
        for name, line in (
            ("", _capped("error_max_turns", errors=[])),
            ("missing", _capped("error_max_turns")),
            ("null", _capped("error_max_turns", errors=None)),
            ("called no error", _capped("error_max_turns", is_error=False)),
        )
    ),
    Case(ref="B6", lines=(*_SUCCESS, done(num_turns=108)), then={**OK, "num_turns": 108}),
    Case(
        ref="B7",
        lines=(
            init(),
            _capped("error_max_turns", num_turns=2, errors=["Reached maximum number of turns (1)"]),
        ),
        exit_code=1,
        then=failed("is_error", "turns", num_turns=2),
    ),
    *(
        Case(
            ref="B8",
            name=name,
            lines=(*_SUCCESS, _capped("error_max_budget_usd", cost, **more)),
            exit_code=code,
            then=failed("is_error", "budget", cost=cost, output=900),
        )
        for name, cost, code, more in (
            ("", 0.532, 1, {"errors": ["Reached maximum budget ($0.5)"]}),
            ("far over", 0.13, 1, {"errors": ["Reached maximum budget ($0.0001)"]}),
            ("called no error", 0.532, 0, {"is_error": False}),
            ("usage zeroed", 0.532, 1, {"usage": usage()}),
        )
    ),
    Case(ref="B9", lines=(*_SUCCESS, done(text="Which file should I edit?")), then=OK),
    Case(
        ref="B10",
        lines=(
            *_SUCCESS,
            _capped(
                "error_max_structured_output_retries",
                errors=["Failed to provide valid structured output after 5 attempts"],
                terminal_reason="structured_output_retry_exhausted",
            ),
        ),
        exit_code=1,
        then=failed("is_error", "schema", cost=0.91),
    ),
    Case(ref="B10", name="a placeholder", lines=(init(), says(error="null"), done()), then=OK),
    *(
        Case(
            ref="B11",
            name=name,
            lines=(init(), *lines),
            then=failed("is_error", "refusal"),
        )
        for name, lines in (
            ("", (says(), system("model_refusal_no_fallback"), done(stop_reason="refusal"))),
            ("an error too", (says(), failure("Refused", stop_reason="refusal"))),
            ("before any answer", (done(0.0, "", stop_reason="refusal"),)),
        )
    ),
    *(
        Case(
            ref="B11",
            name=name,
            lines=(init(), _PART, _SWITCHED, *lines),
            then={**OK, "flags": flags, "text": text},
        )
        for name, lines, flags, text in (
            ("fallback", (_OTHER, result(0.2, _BOTH)), (), "Done."),
            (
                "fallback without a text",
                (_OTHER, result(0.2, _BOTH, result="")),
                ("result_text_recovered",),
                "other",
            ),
            (
                "retracted alone",
                (result(0.2, _BOTH, result=""),),
                (),
                None,
            ),
        )
    ),
)
