"""F: the process and its host."""

from attrs import evolve

from forks_core.rules.outcome import Imposed
from forks_events.words import ErrorKind, Flag, Reason, Status
from tests.claude.lines import (
    MODEL,
    answers,
    calls,
    counted,
    init,
    result,
    says,
    system,
    usage,
)
from tests.claude.reports.case import OK, TIMEOUT, Case, done, failed
from tests.claude.reports.results import KILL
from tests.rules.calls import RESTRICTED

_RAN = (init(), says("a", usage(5, 10, 20)), calls("t1"))
_ORPHANED = Imposed(status=Status.KILLED, reason=Reason.ORPHANED)
_MUTE = Imposed(status=Status.FAILED, reason=Reason.NO_RESULT, error_kind=ErrorKind.STARTUP)
_LOST = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)
_MISSING = "No conversation found with session ID: S9"
_DISK_FULL = system("session_writes_lost", error_code="ENOSPC", lost=["transcript"])
CASES: tuple[Case, ...] = (
    Case(ref="F1", lines=(), exit_code=-9, imposed=_MUTE, then=failed("no_result", "startup")),
    *(
        Case(
            ref="F2",
            name=name,
            lines=_RAN,
            exit_code=code,
            kill=kill,
            imposed=imposed,
            then={"cost": None, **then},
        )
        for name, code, kill, imposed, then in (
            ("", 143, None, None, failed("exit_code", detail="143", turns=2)),
            ("by a signal", -15, None, None, failed("exit_code", detail="-15")),
            ("by us", 143, KILL, None, {"status": "killed", "reason": "kill"}),
            (
                "expired",
                143,
                evolve(KILL, reason=Reason.EXPIRE),
                None,
                {"status": "killed", "reason": "expire", "flags": ("expired",)},
            ),
            ("out of time", 143, None, TIMEOUT, {"status": "timeout", "reason": None}),
            (
                "orphaned",
                143,
                None,
                _ORPHANED,
                {"status": "killed", "reason": "orphaned", "flags": ("orphaned",)},
            ),
            (
                "with its supervisor",
                None,
                None,
                _LOST,
                {"status": "lost", "reason": "supervisor_dead", "flags": ()},
            ),
        )
    ),
    *(
        Case(
            ref="F3",
            name=name,
            lines=_RAN,
            exit_code=code,
            stderr=stderr,
            then=failed("exit_code", cost=None, detail=str(code)),
        )
        for name, code, stderr in (
            ("", 137, ""),
            ("by a signal", -9, ""),
            (
                "heap",
                134,
                "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            ),
        )
    ),
    Case(
        ref="F7",
        lines=(
            init(),
            says(),
            done(),
            system("background_tasks_changed", tasks=[{"task_id": "b", "task_type": "local_bash"}]),
        ),
        exit_code=-9,
        imposed=Imposed(flags=(Flag.KILLED_AFTER_RESULT,)),
        then={**OK, "flags": ("killed_after_result",)},
    ),
    Case(
        ref="F9",
        lines=(
            done(
                0,
                None,
                subtype="error_during_execution",
                is_error=True,
                num_turns=0,
                errors=[_MISSING],
                stop_reason=None,
            ),
        ),
        exit_code=1,
        stderr=_MISSING,
        then=failed("is_error", "session_missing", turns=0),
    ),
    Case(
        ref="F9",
        name="only there",
        lines=(),
        exit_code=1,
        stderr=_MISSING,
        then=failed("exit_code", "session_missing"),
    ),
    Case(
        ref="F11",
        lines=(init(), says("a", usage(100)), result(0.3, {MODEL: counted(500)})),
        then={**OK, "prompt": 500, "mismatch": False},
    ),
    Case(
        ref="F11",
        name="more events than counted",
        lines=(init(), says("a", usage(600)), result(0.3, {MODEL: counted(500)})),
        then={**OK, "prompt": 500, "mismatch": True},
    ),
    Case(ref="F12", lines=(init(), says(), done(), _DISK_FULL), then=OK),
    Case(
        ref="F13",
        lines=(*_RAN, answers("t1"), says("late"), done(0.4)),
        exit_code=-9,
        kill=KILL,
        then={**OK, "flags": ("killed_after_result",), "cost": 0.4, "turns": 3},
    ),
    Case(
        ref="F13",
        name="refused meanwhile",
        lines=(*_RAN, RESTRICTED),
        exit_code=-9,
        then=failed("model_refused", "model"),
    ),
)
