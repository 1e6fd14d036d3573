"""The attempts of a study as rows: identity, settings, outcome, effort, quota."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from attrs import frozen

from forks_core.projections.blocks import flag_incomplete
from forks_core.projections.jobs import cost, tokens
from forks_core.projections.pace import known_usd
from forks_core.projections.trials import scheduled, study_of
from forks_core.registry import Ended, Job, Registry
from forks_core.registry.trials import Attempt, Trial
from forks_core.rules.quota import FIVE_HOUR, SEVEN_DAY
from forks_core.rules.schedule import Block, seed
from forks_events.codec import unstructure
from forks_events.jobs import JobEnded
from forks_events.trials import AttemptAborted, AttemptConcluded, InfraKind
from forks_events.values import Launch

Row = dict[str, Any]
MESSAGE_LENGTH, TEXT_LENGTH = 300, 500
ABORTED = "aborted"
CHECK_LATE = "the check's time was up"
OUTCOME = (
    "final",
    "status",
    "infra_kind",
    "message",
    "resets_at",
    "excluded",
    "reason",
    "passed",
    "score",
    "checks",
    "check_exit_code",
    "evaluator_error",
    "diagnostics",
    "final_text",
    "diff",
)


@frozen(kw_only=True)
class Texts:
    """What the log does not hold of an attempt: it lies in the raw file and the check's output.

    Args:
        final_text: What the agent answered last, or None.
        error: What its result says of an error, or None.
        message: What the client says went wrong, there or elsewhere, or None.
        check_message: What the check said last on standard error, or None.
        diagnostics: What the check said beside its verdict, or None.
        tool_calls: Tools that the agent called, or None when that is not known.
    """

    final_text: str | None = None
    error: str | None = None
    message: str | None = None
    check_message: str | None = None
    diagnostics: Any = None
    tool_calls: int | None = None


Read = Callable[[str, int, str], Texts]
"""Reads the texts of an attempt by its trial, its number and its job."""


def attempt_rows(registry: Registry, blocks: Sequence[Block], read: Read) -> list[Row]:
    """Every attempt that is over, in the order in which they began.

    Args:
        registry: The state; its study is scheduled.
        blocks: All blocks of the study.
        read: Reads the texts.
    """
    study_of(registry)
    attempts = [
        (trial, attempt)
        for trial in registry.trials.values()
        for attempt in trial.attempts
        if attempt.end is not None
    ]
    attempts.sort(key=lambda known: (known[1].begun.at, known[1].begun.job))
    rows = [_row(registry, trial, attempt, read) for trial, attempt in attempts]
    return flag_incomplete(blocks, rows)


def _row(registry: Registry, trial: Trial, attempt: Attempt, read: Read) -> Row:
    begun, end = attempt.begun, attempt.end
    assert end is not None  # noqa: S101 - the caller's duty
    _, entry, smoke = scheduled(registry, begun.trial_id)
    job = registry.jobs[begun.job]
    launch = registry.launches[job.spec.fingerprint]
    texts = read(begun.trial_id, begun.attempt, begun.job)
    return {
        **unstructure(entry),
        "trial_id": begun.trial_id,
        "attempt": begun.attempt,
        "attempts": len(trial.attempts),
        "smoke": smoke,
        "seed": seed(entry.task, entry.run_index),
        "job": begun.job,
        **_settings(job, launch),
        **_outcome(end, texts, job),
        **_effort(attempt, job),
        "tool_calls": texts.tool_calls,
        "quota_before": _quota(begun.quota),
        "quota_after": _quota(end.quota) if isinstance(end, AttemptConcluded) else None,
    }


def _settings(job: Job, launch: Launch) -> Row:
    prompt = launch.append_system_prompt
    return {
        "model": launch.model,
        "effort": launch.effort,
        "base": job.spec.base,
        "client_version": job.spec.binary_version,
        "fingerprint": job.spec.fingerprint,
        "system_prompt_sha256": prompt.sha256 if prompt else None,
        "drift": list(job.spec.drift),
    }


def _outcome(end: AttemptConcluded | AttemptAborted, texts: Texts, job: Job) -> Row:
    if isinstance(end, AttemptAborted):
        told = {"final": False, "status": ABORTED, "excluded": False, "passed": False}
        reason = job.state.end.reason if isinstance(job.state, Ended) else None
        told |= {"message": reason and f"ended by {reason.value}", "diff": unstructure(end.diff)}
        return dict.fromkeys(OUTCOME) | told
    infra = unstructure(end.infra_kind)
    message = _message(end, texts, job)
    return {
        "final": end.final,
        "status": end.status.value,
        "infra_kind": infra,
        "message": message[:MESSAGE_LENGTH] if message else None,
        "resets_at": unstructure(end.resets_at),
        # Only final rows are judged by: of the others it says the same of each attempt.
        "excluded": end.infra_kind is not None,
        "reason": f"infra_failure:{infra}" if infra else None,
        "passed": end.passed,
        "score": end.check.score if end.check else None,
        "checks": unstructure(end.check.checks) if end.check else {},
        "check_exit_code": end.check.exit_code if end.check else None,
        "evaluator_error": end.evaluator_error,
        "diagnostics": texts.diagnostics,
        "final_text": texts.final_text[:TEXT_LENGTH] if texts.final_text else None,
        "diff": unstructure(end.diff),
    }


def _message(end: AttemptConcluded, texts: Texts, job: Job) -> str | None:
    """What went wrong, in the words of whoever it went wrong with."""
    if end.infra_kind is InfraKind.RUNNER and isinstance(job.state, Ended):
        ended = job.state.end
        told = (ended.reason.value if ended.reason else None, ended.reason_detail)
        return ": ".join(filter(None, told)) or None
    if end.infra_kind is not None:
        return texts.message
    if not end.evaluator_error:
        return texts.error
    return CHECK_LATE if end.check and end.check.timed_out else texts.check_message


def _effort(attempt: Attempt, job: Job) -> Row:
    assert attempt.end is not None  # noqa: S101 - the caller's duty
    ended = job.state.end if isinstance(job.state, Ended) else None
    wall_s = _seconds(attempt.begun.at, attempt.end.at)
    times = {
        "begun_at": unstructure(attempt.begun.at),
        "ended_at": unstructure(attempt.end.at),
        "wall_s": wall_s,
    }
    return times | (_of_call(ended, wall_s) if ended else {})


def _of_call(ended: JobEnded, wall_s: float) -> Row:
    return {
        "agent_wall_s": ended.wall_s,
        "overhead_s": round(max(0.0, wall_s - ended.wall_s), 1),
        "agent_status": ended.status.value,
        "exit_code": ended.exit_code,
        "error_kind": unstructure(ended.error_kind),
        "turns": ended.turns,
        **tokens(ended),
        "usage_basis": unstructure(ended.usage_basis),
        "cost_usd": known_usd(ended),
        "cost_source": cost(ended)["cost_source"],
        "models_used": list(ended.models_used),
        "denials": len(ended.denials),
        "flags": [flag.value for flag in ended.flags],
    }


def _quota(known: Any) -> Row:
    return {name: known.get(name) for name in sorted({FIVE_HOUR, SEVEN_DAY, *known})}


def _seconds(since: datetime, until: datetime) -> float:
    return round(max(0.0, (until - since).total_seconds()), 1)
