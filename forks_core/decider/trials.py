"""Trials: an attempt is begun with its job, and judged when its job is over."""

from datetime import datetime

from attrs import frozen
from immutables import Map

from forks_core.decider.fork import check_fork, parent_of
from forks_core.decider.launching import Call, Terms, created, is_asked_again
from forks_core.decider.run import seen, settings_of
from forks_core.errors import Refused
from forks_core.projections.trials import call_of, kinds_so_far, scheduled, task_of
from forks_core.registry import Base, Registry
from forks_core.registry.trials import Trial
from forks_core.rules.attempts import Call as AttemptCall
from forks_core.rules.attempts import (
    has_passed,
    infra_kind,
    is_evaluator_error,
    trial_status,
    verdict,
)
from forks_core.rules.quota import current
from forks_core.rules.study_file import SMOKE
from forks_events import Event
from forks_events.jobs import Text
from forks_events.study import Arm
from forks_events.trials import AttemptAborted, AttemptConcluded, Check, InfraKind, TrialBegun
from forks_events.words import Kind


@frozen(kw_only=True)
class BeginTrial:
    """Try a trial.

    Args:
        trial_id: The trial; of a smoke trial ``SMOKE-`` and the id.
        attempt: Number of the attempt, from 1.
        call: Its call.
        cwd: Its working copy.
    """

    trial_id: str
    attempt: int
    call: Call
    cwd: str


def begin_trial(command: BeginTrial, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Create the job, and say what it is for, unless the trial is over or goes on."""
    plan, entry, smoke = scheduled(registry, command.trial_id)
    if is_asked_again(registry, command.call):
        return ()
    _must_follow(registry.trials.get(command.trial_id), command)
    arm = next(arm for arm in plan.arms if arm.name == entry.arm)
    base = _base(registry, arm)
    settings = settings_of(registry)
    job = created(
        registry,
        now,
        command.call,
        kind=Kind.TRIAL,
        base=arm.base,
        fingerprint=arm.fingerprint,
        terms=Terms(
            max_s=task_of(plan, entry).timeout_s,
            max_budget_usd=plan.max_budget_usd,
            stagger_s=settings.stagger_s if base else 0.0,
            cwd=command.cwd,
        ),
        parent=parent_of(registry, base, now) if base else None,
    )
    begun = TrialBegun(
        at=now,
        trial_id=command.trial_id,
        attempt=command.attempt,
        job=job.job,
        smoke=smoke,
        quota=known_quota(registry, now),
    )
    return (*seen(registry, now), job, begun)


def _must_follow(trial: Trial | None, command: BeginTrial) -> None:
    number = len(trial.attempts) + 1 if trial else 1
    if trial and trial.final and not command.trial_id.startswith(SMOKE):
        raise Refused("the trial is over", trial_id=command.trial_id)
    if trial and trial.last.end is None:
        raise Refused("the trial goes on", trial_id=command.trial_id, job=trial.last.begun.job)
    if command.attempt != number:
        raise Refused("not the next attempt", trial_id=command.trial_id, attempt=number)


def _base(registry: Registry, arm: Arm) -> Base | None:
    if arm.base is None:
        return None
    try:
        return check_fork(registry, arm.base, force=False, capped=False)
    except Refused as error:
        raise Refused(f"the arm's {error.message}", **{"arm": arm.name, **error.fields}) from error


@frozen(kw_only=True)
class ConcludeAttempt:
    """The attempt's job is over, and its work was judged.

    Args:
        trial_id: The trial.
        attempt: The attempt.
        check: What judged it, or None: nothing did.
        diff: What it changed in its working copy, or None.
    """

    trial_id: str
    attempt: int
    check: Check | None
    diff: Text | None


def conclude_attempt(
    command: ConcludeAttempt, registry: Registry, now: datetime
) -> tuple[Event, ...]:
    """Say what it came to, and whether the trial is over with it; once."""
    plan, _, _ = scheduled(registry, command.trial_id)
    trial = registry.trials.get(command.trial_id)
    if trial is None or not _goes_on(trial, command.attempt):
        return ()
    call = call_of(registry, trial.last.begun.job)
    if call is None:
        raise Refused("its job goes on", trial_id=command.trial_id, job=trial.last.begun.job)
    infra = infra_kind(call)
    judged = verdict(kinds_so_far(registry, trial, infra), plan.max_attempts)
    return (
        AttemptConcluded(
            at=now,
            trial_id=command.trial_id,
            attempt=command.attempt,
            final=judged.final,
            status=trial_status(call, infra),
            infra_kind=infra,
            resets_at=_resets_at(call) if infra is InfraKind.RATE_LIMIT else None,
            excluded=judged.final and infra is not None,
            passed=has_passed(call, command.check, infra),
            evaluator_error=is_evaluator_error(command.check),
            check=command.check,
            diff=command.diff,
            quota=known_quota(registry, now),
        ),
    )


def _resets_at(call: AttemptCall) -> datetime | None:
    return call.resets_at or call.end.resets_at


def _goes_on(trial: Trial, attempt: int) -> bool:
    return trial.last.end is None and trial.last.begun.attempt == attempt


@frozen(kw_only=True)
class AbortAttempt:
    """Whoever runs the study has broken the attempt off; ``diff`` is what it had changed by then."""

    trial_id: str
    attempt: int
    diff: Text | None = None


def abort_attempt(command: AbortAttempt, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, once; the trial stays pending."""
    trial = registry.trials.get(command.trial_id)
    if trial is None or not _goes_on(trial, command.attempt):
        return ()
    return (
        AttemptAborted(
            at=now, trial_id=command.trial_id, attempt=command.attempt, diff=command.diff
        ),
    )


def known_quota(registry: Registry, now: datetime) -> Map[str, float]:
    """Utilization of each window that is known now."""
    windows = current(registry.readings.quota, now).windows
    return Map(
        {
            name: known.utilization
            for name, known in windows.items()
            if known.utilization is not None
        }
    )
