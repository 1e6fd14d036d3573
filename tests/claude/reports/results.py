"""A: results that are missing, late, double or misleading."""

from forks_core.claude.stream import EPOCH
from forks_core.rules.outcome import Imposed
from forks_events.jobs import KillRequested
from forks_events.words import Flag, Reason
from tests.claude.lines import (
    JOB,
    MODEL,
    Line,
    answers,
    calls,
    counted,
    failure,
    init,
    result,
    says,
    system,
    usage,
)
from tests.claude.reports.case import LINGERED, OK, TIMEOUT, Case, done, failed, without
from tests.rules.calls import BASE

KILL = KillRequested(at=EPOCH, job=JOB, reason=Reason.KILL)
_HUNG = (calls("t1"), answers("t1"))
_LAUNCHED = done(0.05, "LAUNCHED", num_turns=3, structured_output={"ok": True}, result_index=0)
_FINISHED = done(
    0.07, "Both finished", origin={"kind": "task-notification"}, result_index=1, num_turns=1
)
_NOTED = system("task_notification", task_id="b1", status="completed", output_file="/t")
_KILLED_WORK = {"subagent_stats": {"killed": {"parent": 0, "user": 0, "system": 3}}}
_INTERRUPTED = [{"type": "text", "text": "[Request interrupted by user]"}]
_STOPPED: tuple[Line, ...] = (
    system("task_notification", task_id="a1", status="stopped", output_file="/t"),
    {
        "type": "user",
        "message": {"role": "user", "content": _INTERRUPTED},
        "parent_tool_use_id": "t7",
    },
)
_AGENTS_LEFT = done(30.0, "3 agents still running", num_turns=9, **_KILLED_WORK)
_EMPTY = result(0, {}, result="", usage=usage(), duration_ms=400, terminal_reason="completed")
_ABORTED = without(
    result(
        0.02,
        {},
        subtype="error_during_execution",
        is_error=True,
        errors=[],
        usage={},
        stop_reason="tool_use",
        terminal_reason="aborted_tools",
        num_turns=2,
    ),
    "result",
)
CASES: tuple[Case, ...] = (
    Case(ref="A1", lines=_HUNG, exit_code=143, then=failed("exit_code", detail="143", cost=None)),
    Case(
        ref="A1",
        name="killed by us",
        lines=(init(), says("m0", usage(5, 10, 20, 1)), *_HUNG),
        exit_code=-9,
        kill=KILL,
        then={"status": "killed", "reason": "kill", "cost": None, "prompt": 45},
    ),
    Case(
        ref="A1",
        name="out of time",
        lines=(init(), *_HUNG),
        exit_code=-9,
        imposed=TIMEOUT,
        then={"status": "timeout", "reason": None, "cost": None},
    ),
    *(
        Case(
            ref="A2",
            name=name,
            lines=(*lines, done()),
            exit_code=code,
            imposed=LINGERED,
            then={**OK, "flags": ("killed_after_result",), "cost": 0.1, "text": "done"},
        )
        for name, lines, code in (
            ("", (), 143),
            ("with a response", (init(), says()), 143),
            ("killed hard", (init(), says()), -9),
            ("as a shell tells it", (init(), says()), 137),
        )
    ),
    Case(
        ref="A2",
        name="an error that lingers",
        lines=(init(), failure("overloaded")),
        exit_code=143,
        imposed=LINGERED,
        then=failed("is_error", "overloaded"),
    ),
    Case(
        ref="A3",
        lines=(says(content=[{"type": "text", "text": "All finished."}]),),
        then=failed("no_result", text="All finished.", cost=None),
    ),
    Case(
        ref="A3",
        name="after many turns",
        lines=(init(), *_HUNG, says("m9", stop_reason="end_turn")),
        then=failed("no_result", turns=2, text="Hello."),
    ),
    Case(
        ref="A4",
        lines=(init(), *_HUNG, done(0.2)),
        imposed=Imposed(flags=(Flag.STALLED,)),
        then={**OK, "flags": ("stalled",), "cost": 0.2},
    ),
    Case(
        ref="A6",
        lines=(_LAUNCHED, _NOTED, _FINISHED),
        then={**OK, "cost": 0.07, "text": "Both finished"},
    ),
    Case(
        ref="A6",
        name="with responses",
        lines=(init(), says("a"), _LAUNCHED, init(), says("b"), _NOTED, _FINISHED),
        then={**OK, "cost": 0.07, "turns": 2, "text": "Both finished"},
    ),
    Case(
        ref="A6",
        name="three",
        lines=(init(), says("a"), _LAUNCHED, _NOTED, _FINISHED, done(0.09, "Third")),
        then={**OK, "cost": 0.09, "text": "Third"},
    ),
    Case(
        ref="A6",
        name="a note without a turn",
        lines=(init(), says("a"), done(0.05, num_turns=3), _FINISHED | {"num_turns": 0}),
        then={**OK, "cost": 0.07, "num_turns": 3},
    ),
    Case(
        ref="A6",
        name="the second one failed",
        lines=(init(), says("a"), _LAUNCHED, failure("overloaded", total_cost_usd=0.06)),
        exit_code=1,
        then=failed("is_error", "overloaded", cost=0.06, flags=("error_after_success",)),
    ),
    Case(
        ref="A8",
        lines=(*_STOPPED, _AGENTS_LEFT),
        then={**OK, "flags": ("killed_work",), "cost": 30.0},
    ),
    Case(
        ref="A8",
        name="with a response",
        lines=(init(), says(), *_STOPPED, _AGENTS_LEFT),
        then={**OK, "flags": ("killed_work",), "cost": 30.0, "denials": ()},
    ),
    Case(
        ref="A8",
        name="told on standard error",
        lines=(init(), says(), *_STOPPED, done(30.0)),
        stderr="Background tasks still running after 600s; terminating.\n",
        then={**OK, "flags": ("killed_work",)},
    ),
    Case(
        ref="A8",
        name="ended by their parent",
        lines=(init(), says(), done(1.0, subagent_stats={"killed": {"parent": 2, "system": 0}})),
        then=OK,
    ),
    Case(
        ref="A9",
        lines=(init(), *(says(f"m{number}") for number in range(30))),
        exit_code=1,
        then=failed("exit_code", detail="1", turns=30, cost=None),
    ),
    Case(
        ref="A10",
        lines=(says(), done(0.01, "", usage={"output_tokens": 13})),
        then={**OK, "flags": ("result_text_recovered",), "text": "Hello.", "cost": 0.01},
    ),
    Case(
        ref="A10",
        name="without the key",
        lines=(init(), says(), without(done(0.01), "result")),
        then={**OK, "flags": ("result_text_recovered",), "text": "Hello."},
    ),
    *(
        Case(ref="A12", name=name, lines=lines, then=failed("no_result", "no_work"))
        for name, lines in (
            ("", (_EMPTY,)),
            ("after an introduction", (init(), _EMPTY)),
            ("no turn", (init(), _EMPTY | {"num_turns": 0})),
            ("without usage", (init(), without(_EMPTY, "usage", "modelUsage"))),
            ("without a cost", (init(), _EMPTY | {"total_cost_usd": None})),
            ("with counters at zero", (init(), _EMPTY | {"modelUsage": {MODEL: counted()}})),
            ("with words", (init(), _EMPTY | {"result": "(no content)"})),
            ("the prompt was read", (init(), _EMPTY | {"usage": usage(120)})),
            ("an empty response", (init(), says("m", usage(), content=[]), _EMPTY)),
        )
    ),
    Case(
        ref="A12",
        name="carried counters",
        lines=(init(), _EMPTY | {"total_cost_usd": 0.5, "modelUsage": {MODEL: counted(10, 1000)}}),
        before=BASE,
        then=failed("no_result", "no_work", cost=0.0),
    ),
    Case(
        ref="A13",
        lines=(_ABORTED,),
        exit_code=1,
        then=failed("is_error", "other", detail="error_during_execution", cost=0.02, text=None),
    ),
    Case(
        ref="A13",
        name="streaming",
        lines=(init(), says(), _ABORTED | {"terminal_reason": "aborted_streaming"}),
        exit_code=1,
        then=failed("is_error", "other", cost=0.02),
    ),
    Case(
        ref="A15",
        lines=(init(), calls("t1")),
        then=failed("no_result", cost=None, turns=1),
    ),
    Case(
        ref="A15",
        name="torn",
        lines=(init(), calls("t1"), b'{"type":"result","subtype":"success","is_er'),
        then=failed("no_result", cost=None),
    ),
)
