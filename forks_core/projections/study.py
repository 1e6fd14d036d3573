"""What a study means, before anything of it is run."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forks_core.rules.attempts import AUTH_WAIT_S, OTHER_WAIT_S
from forks_core.rules.backoff import backoff_s
from forks_core.rules.fingerprint import differences
from forks_core.rules.schedule import Block, flat
from forks_events.codec import unstructure
from forks_events.study import Entry, Plan, Task
from forks_events.values import Launch

Row = dict[str, Any]


def study_row(plan: Plan, launches: Sequence[Launch], blocks: Sequence[Block]) -> Row:
    """The study in numbers: blocks, trials, order, arms and what tells them apart, its limits.

    Args:
        plan: The plan.
        launches: The arms' launches, in the order of the arms.
        blocks: Its blocks, in order.
    """
    trials = flat(blocks)
    first = Counter(entry.first_arm for entry in trials if entry.arm_slot == 0)
    return {
        "id": plan.id,
        "file": unstructure(plan.file),
        "blocks": len(blocks),
        "trials": len(trials),
        "trials_by_phase": _by_phase(trials),
        "order": [task.id for task in plan.tasks],
        "arms": [
            {
                "name": arm.name,
                "model": launch.model,
                "base": arm.base,
                "fingerprint": arm.fingerprint,
                "goes_first": first[arm.name],
            }
            for arm, launch in zip(plan.arms, launches, strict=True)
        ],
        "differences": arm_differences(plan, launches),
        "at_most": at_most(plan, blocks),
        "cutoff": unstructure(plan.cutoff),
        "seven_day_stop": plan.seven_day_stop,
        "overage": unstructure(plan.overage),
        "concurrency": plan.concurrency,
        "pins": unstructure(plan.pins),
    }


def _by_phase(trials: Iterable[Entry]) -> dict[str, int]:
    count = Counter(entry.phase for entry in trials)
    return {str(phase): count[phase] for phase in (1, 2)}


def arm_differences(plan: Plan, launches: Sequence[Launch]) -> dict[str, dict[str, Any]]:
    """Name the launch fields, by dotted paths, in which arms differ, with each arm's value."""
    told: list[Row] = [
        {**unstructure(launch), "base": arm.base}
        for arm, launch in zip(plan.arms, launches, strict=True)
    ]
    paths = sorted({path for one in told[1:] for path in differences(told[0], one)})
    return {
        path: {arm.name: _value(one, path) for arm, one in zip(plan.arms, told, strict=True)}
        for path in paths
    }


def _value(data: Any, path: str) -> Any:
    for name in path.split("."):
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def at_most(plan: Plan, blocks: Iterable[Block]) -> Row:
    """How long it can take and how much it can cost, without waits for a quota.

    Returns:
        Seconds and USD with one attempt at each trial, and with as many as may be. USD is None
        where no attempt has a budget; a cap on the whole study holds for both.
    """
    tasks = {task.id: task for task in plan.tasks}
    held = tuple(blocks)
    trials = sum(len(block.entries) for block in held)
    tries = plan.max_attempts
    # What is not overload shares its retries; those after a refused credential wait longest.
    most = tries.overloaded + max(tries.other, tries.auth) - 1
    others = AUTH_WAIT_S * (tries.auth - 1) + OTHER_WAIT_S * max(0, tries.other - tries.auth)
    waits = math.fsum((*map(backoff_s, range(tries.overloaded - 1)), others))
    once = [_seconds(plan, block, tasks[block.task], 1, 0.0) for block in held]
    often = [_seconds(plan, block, tasks[block.task], most, waits) for block in held]
    return {
        "seconds": math.fsum(once),
        "usd": _usd(plan, trials),
        "attempts_of_a_trial": most,
        "seconds_with_retries": math.fsum(often),
        "usd_with_retries": _usd(plan, trials * most),
    }


def _seconds(plan: Plan, block: Block, task: Task, attempts: int, waits_s: float) -> float:
    """A block's time: its pairs run beside each other, the arms of a pair never do."""
    rounds = math.ceil(len(block.runs) / plan.concurrency)
    trial = attempts * (task.timeout_s + task.check_timeout_s) + waits_s
    return rounds * len(plan.arms) * trial


def _usd(plan: Plan, attempts: int) -> float | None:
    if plan.max_budget_usd is None:
        return None
    whole = attempts * plan.max_budget_usd
    return whole if plan.budget_cap_usd is None else min(whole, plan.budget_cap_usd)
