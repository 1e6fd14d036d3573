"""How far a study is: what it has spent, and how long its blocks have taken."""

import math
from collections.abc import Iterable

from forks_core.projections.jobs import cost
from forks_core.projections.trials import concluded
from forks_core.registry import Ended, Registry
from forks_core.rules.budget import total_usd
from forks_core.rules.prices import PriceTable
from forks_core.rules.schedule import Block


def spent_usd(registry: Registry, prices: PriceTable) -> float:
    """What all calls of the study have cost so far, smoke trials and trainings among them, in USD.

    Where no result gave a cost, it is estimated from the tokens that were seen.
    """
    return total_usd(
        _cost(registry, job.state, prices)
        for job in registry.jobs.values()
        if isinstance(job.state, Ended)
    )


def _cost(registry: Registry, state: Ended, prices: PriceTable) -> float | None:
    """What a job cost, as its own row has it."""
    money = cost(registry, state.end, prices)
    known: float | None = money["cost_delta_usd"]
    return money["cost_estimate_usd"] if known is None else known


def block_seconds(registry: Registry, block: Block) -> float | None:
    """How long a block's attempts took, one after the other; None while it is not finished."""
    seconds: list[float] = []
    for entry in block.entries:
        trial = registry.trials.get(entry.trial_id)
        if trial is None or not trial.final:
            return None
        # A clock that was set back makes nothing shorter than no time.
        seconds += [
            max(0.0, (end.at - attempt.begun.at).total_seconds())
            for attempt, end in concluded(trial)
        ]
    return math.fsum(seconds)


def estimate_s(registry: Registry, blocks: Iterable[Block], block: Block) -> float | None:
    """How long a block will take: the upper median of the finished ones, scaled by trials.

    Waits are not in it. None before any block is finished.
    """
    each = sorted(
        took / len(known.entries)
        for known in blocks
        if (took := block_seconds(registry, known)) is not None
    )
    return each[len(each) // 2] * len(block.entries) if each else None
