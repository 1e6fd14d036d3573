"""How a study stands: every trial, blocks, spend, what it waits for, and what is left."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from forks_core.projections.blocks import block_status
from forks_core.projections.pace import estimate_s, spent_usd, unknown_costs
from forks_core.projections.quota import quota_row
from forks_core.projections.trials import final_rows, open_trials, study_of
from forks_core.registry import Registry
from forks_core.registry.trials import Trial
from forks_core.rules.schedule import Block
from forks_core.rules.study_file import SMOKE
from forks_events.codec import unstructure
from forks_events.trials import AttemptConcluded

Row = dict[str, Any]
PENDING, RUNNING, JUDGING, RETRYING = "pending", "running", "judging", "retrying"
PASSED, FAILED, EXCLUDED, ERROR = "passed", "failed", "excluded", "evaluator_error"
OVER = (PASSED, FAILED, EXCLUDED, ERROR)


def trial_state(registry: Registry, trial: Trial | None) -> str:
    """Where a trial stands, in one word."""
    if trial is None:
        return PENDING
    end = trial.last.end
    if end is None:
        return JUDGING if registry.jobs[trial.last.begun.job].ended else RUNNING
    if not isinstance(end, AttemptConcluded) or not end.final:
        return RETRYING
    if end.excluded:
        return EXCLUDED
    if end.evaluator_error:
        return ERROR
    return PASSED if end.passed else FAILED


def study_status(registry: Registry, blocks: Sequence[Block], now: datetime) -> Row:
    """The study as it stands now.

    Args:
        registry: The state; its study is scheduled.
        blocks: All blocks of the study.
        now: The time.
    """
    study, runner = study_of(registry), registry.runner
    estimated, unknown = unknown_costs(registry)
    trials = [
        {
            "trial_id": entry.trial_id,
            "task": entry.task,
            "arm": entry.arm,
            "run": entry.run,
            "phase": entry.phase,
            "state": trial_state(registry, registry.trials.get(entry.trial_id)),
            "attempts": _attempts(registry.trials.get(entry.trial_id)),
        }
        for entry in study.entries
    ]
    count = Counter(row["state"] for row in trials)
    complete = sum(known.complete for known in block_status(blocks, final_rows(registry)).values())
    return {
        "id": study.plan.id,
        "scheduled_at": unstructure(study.at),
        "trials": len(trials),
        "done": sum(count[state] for state in OVER),
        "states": dict(sorted(count.items())),
        "blocks": len(blocks),
        "blocks_complete": complete,
        "smoke_trials": sum(name.startswith(SMOKE) for name in registry.trials),
        "spent_usd": spent_usd(registry),
        "costs_estimated": estimated,
        "costs_unknown": unknown,
        "left_s": left_s(registry, blocks),
        "runner": unstructure(runner.started.runner) if runner.started else None,
        "started_at": unstructure(runner.started.at) if runner.started else None,
        "waits": _waits(registry),
        "stops_asked": runner.stops,
        "stopped": unstructure(runner.stopped),
        "quota": quota_row(registry.readings.quota, now),
        "going_on": [
            {
                "trial_id": trial.last.begun.trial_id,
                "attempt": trial.last.begun.attempt,
                "job": trial.last.begun.job,
                "state": trial_state(registry, trial),
            }
            for trial in open_trials(registry)
        ],
        "by_trial": trials,
    }


def _attempts(trial: Trial | None) -> int:
    return len(trial.attempts) if trial else 0


def _waits(registry: Registry) -> Row | None:
    pause = registry.runner.pause
    if pause is None:
        return None
    return {
        "for": pause.wait.value,
        "since": unstructure(pause.at),
        "until": unstructure(pause.until),
        "trial_id": pause.trial_id,
    }


def left_s(registry: Registry, blocks: Sequence[Block]) -> float | None:
    """How long what is left will take, without waits; None before any block is finished."""
    left = 0.0
    for block in blocks:
        missing = sum(
            not ((trial := registry.trials.get(entry.trial_id)) and trial.final)
            for entry in block.entries
        )
        whole = estimate_s(registry, blocks, block)
        if whole is None:
            return None
        left += whole * missing / len(block.entries)
    return round(left, 1)
