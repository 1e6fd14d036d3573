"""D: cost and tokens."""

from typing import Any

from immutables import Map

from forks_events.values import Counters, Spent, Usage
from tests.claude.lines import (
    MODEL,
    Line,
    answers,
    calls,
    counted,
    failure,
    init,
    result,
    says,
    usage,
)
from tests.claude.reports.case import OK, TIMEOUT, Case, done, failed

_GOOD = (init(), says(), result(result="Done."))
_SEEN = usage(6, 1200, 18_000, 2)
_ONE = (
    says("msg_s1", _SEEN),
    calls("t1", "msg_s1") | {"message": {"id": "msg_s1", "model": MODEL, "usage": _SEEN}},
)


def spent(cost: float, **used: int) -> Spent:
    """What a parent had counted."""
    return Spent(cost_usd=cost, models=Map({MODEL: Counters(usage=Usage(**used))}))


def _forked(total: float) -> Case:
    own = round((total - 5.0) * 1000)
    return Case(
        ref="D5",
        name=str(total),
        lines=(init(), says("m", usage(own)), result(total, {MODEL: counted(9000 + own)})),
        before=spent(5.0, input=9000),
        then={**OK, "cost": round(total - 5.0, 2), "prompt": own, "basis": "carried"},
    )


def _resumed(name: str, cost: float, counters: int, version: str, basis: str) -> Case:
    return Case(
        ref="D4",
        name=name,
        lines=(
            init(claude_code_version=version),
            says("m", usage(30)),
            result(cost, {MODEL: counted(counters)}),
        ),
        before=spent(0.25, input=200),
        then={**OK, "cost": 0.028, "prompt": 30, "basis": basis},
    )


def _killed(ref: str, name: str, *lines: Line, **then: Any) -> Case:
    return Case(
        ref=ref,
        name=name,
        lines=(init(), *lines),
        exit_code=-9,
        imposed=TIMEOUT,
        then={"status": "timeout", "cost": None, "basis": None} | then,
    )


CASES: tuple[Case, ...] = (
    _killed("D1", "", *_ONE, prompt=19_206, turns=1),
    _killed("D1", "five lines", *(says("msg_s1", _SEEN) for _ in range(5)), prompt=19_206, turns=1),
    _killed("D2", "", says("A", _SEEN), answers("t"), says("A", _SEEN), prompt=19_206, turns=1),
    _killed(
        "D2",
        "a subagent between",
        says("A", _SEEN),
        says("B", usage(100), parent="t1"),
        says("A", _SEEN),
        says("B", usage(100), parent="t1"),
        prompt=19_306,
        turns=1,
    ),
    _resumed("old", 0.028, 30, "2.1.221", "fresh"),
    _resumed("new", 0.278, 230, "2.1.284", "carried"),
    _resumed("new that has no saved total", 0.028, 30, "2.1.332", "fresh"),
    _resumed("unknown version that carries", 0.278, 230, "nightly", "carried"),
    _forked(5.1),
    _forked(5.2),
    _forked(5.05),
    Case(
        ref="D7",
        lines=(
            init(),
            says(),
            result(0.4, {MODEL: counted(10, output=900)}, usage=usage(10, output=100)),
        ),
        then={**OK, "output": 900},
    ),
    Case(
        ref="D7",
        name="several models",
        lines=(
            init(),
            says(),
            result(
                0.4, {MODEL: counted(10, output=100), "claude-haiku-4-5": counted(5, output=800)}
            ),
        ),
        then={**OK, "output": 900, "prompt": 15, "models": ("claude-haiku-4-5", MODEL)},
    ),
    Case(ref="D8", lines=(*_GOOD[:2], result(0.0)), then={**OK, "cost": 0.0}),
    Case(ref="D8", name="absent", lines=(*_GOOD[:2], result(None)), then={**OK, "cost": None}),
    _killed("D10", "", *(says(f"m{n}", usage(1, output=n)) for n in (1, 2, 4)), output=0, prompt=3),
    Case(
        ref="D10",
        name="with a result",
        lines=(
            init(),
            says("m", usage(10, output=4)),
            result(0.1, {MODEL: counted(10, output=87)}),
        ),
        then={**OK, "output": 87},
    ),
    *(
        Case(
            ref="D11",
            name=name,
            lines=(init(), says(), line),
            exit_code=1,
            then=failed("is_error", kind, cost=0.3, prompt=10),
        )
        for name, line, kind in (
            (
                "",
                failure(
                    "You've hit your weekly limit",
                    total_cost_usd=0.3,
                    modelUsage={MODEL: counted(10)},
                ),
                "rate_limit",
            ),
            ("turns", result(0.3, {MODEL: counted(10)}, subtype="error_max_turns"), "turns"),
            (
                "overloaded",
                failure(
                    "x", api_error_status=529, total_cost_usd=0.3, modelUsage={MODEL: counted(10)}
                ),
                "overloaded",
            ),
        )
    ),
    Case(
        ref="D11",
        name="then a crash",
        lines=(
            init(),
            says(),
            result(0.3, {MODEL: counted(10)}),
            done(0, None, subtype="error_during_execution", is_error=True, num_turns=0),
        ),
        exit_code=0,
        then={"status": "ok", "cost": 0.3, "flags": ("error_after_success",)},
    ),
)
