"""A case: what a client printed and how it exited, and what is concluded of it."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from forks_core.claude.errors import classify_stderr, gave_work_up
from forks_core.claude.stream import parse
from forks_core.claude.text import answer_text
from forks_core.reducer.quota import merge
from forks_core.reducer.stream import summed
from forks_core.registry import UNREAD
from forks_core.rules.outcome import Imposed, conclude
from forks_core.rules.quota import gate
from forks_core.rules.usage import reckon
from forks_events.jobs import KillRequested
from forks_events.quota import QuotaRead
from forks_events.values import Spent
from forks_events.words import Flag, Status
from tests.claude.lines import JOB, MODEL, SESSION, Line, result, wire

Told = Mapping[str, Any]

OK: Told = {"status": "ok", "reason": None, "kind": None, "flags": ()}
LINGERED = Imposed(flags=(Flag.KILLED_AFTER_RESULT,))
TIMEOUT = Imposed(status=Status.TIMEOUT)


def failed(reason: str, kind: str | None = None, **more: Any) -> Told:
    """A failed job, for that reason."""
    return {"status": "failed", "reason": reason, "kind": kind} | more


@frozen(kw_only=True)
class Case:
    """One case.

    Args:
        ref: The report's reference.
        name: What is special about it; empty for the input that the report shows.
        lines: What the client printed: lines, or bytes as they are.
        then: What is concluded: some of what `told` gives.
        exit_code: The client's exit code.
        stderr: What it said on standard error.
        before: What the session's parent had counted.
        imposed: What we ended it for.
        kill: A wish to end it.
    """

    ref: str
    lines: tuple[Line | bytes, ...]
    then: Told
    name: str = ""
    exit_code: int | None = 0
    stderr: str = ""
    before: Spent | None = None
    imposed: Imposed | None = None
    kill: KillRequested | None = None

    @property
    def label(self) -> str:
        """Its id among the tests."""
        return f"{self.ref}-{self.name}" if self.name else self.ref

    @property
    def raw(self) -> bytes:
        """What the client printed, as bytes."""
        return b"".join(line if isinstance(line, bytes) else wire(line) for line in self.lines)


def told(case: Case) -> dict[str, Any]:
    """Conclude a case: all that is told of it, in plain words and numbers."""
    said = parse(case.raw, JOB)
    stream = summed(said)
    used = reckon(stream, case.before)
    end = conclude(
        stream,
        model=MODEL,
        session=SESSION,
        models_used=used.models_used,
        cost_usd=used.cost_usd,
        exit_code=case.exit_code,
        stderr_kind=classify_stderr(case.stderr),
        imposed=case.imposed,
        kill=case.kill,
        has_text=answer_text(case.raw) is not None,
    )
    given_up = (Flag.KILLED_WORK,) if gave_work_up(case.stderr) else ()
    quota = UNREAD
    for number, event in enumerate(said):
        if isinstance(event, QuotaRead):
            quota = merge(quota, event.reading, event.at.replace(microsecond=number), event.at)
    asked = gate(quota)
    return {
        "status": end.status.value,
        "reason": end.reason and end.reason.value,
        "detail": end.detail,
        "kind": end.error_kind and end.error_kind.value,
        "flags": tuple(flag.value for flag in (*end.flags, *given_up)),
        "resets_at": end.resets_at and end.resets_at.timestamp(),
        "cost": used.cost_usd,
        "basis": used.basis and used.basis.value,
        "prompt": used.usage and used.usage.prompt,
        "output": used.usage and used.usage.output,
        "models": used.models_used,
        "mismatch": used.mismatch,
        "turns": stream.turns,
        "num_turns": stream.result and stream.result.num_turns,
        "denials": stream.denials,
        "text": answer_text(case.raw),
        "quota": asked.action.value,
        "until": asked.wait_until and asked.wait_until.timestamp(),
    }


def done(cost: Any = 0.1, text: Any = "done", **fields: Any) -> Line:
    """A good result that tells no tokens, as the reports show it."""
    told = {"result": text, "usage": {}, "terminal_reason": "completed", "stop_reason": "end_turn"}
    return result(cost, {}, **(told | fields))


def without(line: Line, *keys: str) -> Line:
    """A line without some of its keys."""
    return {key: value for key, value in line.items() if key not in keys}
