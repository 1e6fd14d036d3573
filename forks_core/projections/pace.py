"""How far a study is: what it has spent, and how long its blocks have taken."""

import math
from collections.abc import Iterable

from forks_core.projections.trials import concluded
from forks_core.registry import Ended, Registry
from forks_core.rules.budget import total_usd
from forks_core.rules.schedule import Block
from forks_events.jobs import JobEnded


def spent_usd(registry: Registry) -> float:
    """What all calls have cost so far as far as that is known, in USD, trainings and smoke included.

    Where no result gave a cost, an estimate of what was seen counts.
    """
    return total_usd(known_usd(end) for end in _ends(registry))


def charged_usd(registry: Registry, per_trial_cap: float | None) -> float:
    """What counts against a budget: a call of unknown cost may have spent all that it was allowed."""
    return total_usd(
        end.cost_usd
        if end.cost_usd is not None
        else max(per_trial_cap or 0.0, known_usd(end) or 0.0)
        for end in _ends(registry)
    )


def known_usd(end: JobEnded) -> float | None:
    """What a call cost as far as that is known: as its client told, else as it was estimated."""
    if end.cost_usd is not None or end.estimate is None:
        return end.cost_usd
    return end.estimate.usd


def unknown_costs(registry: Registry) -> tuple[int, int]:
    """How many calls have a cost that was estimated, and how many one that nobody knows."""
    untold = [end for end in _ends(registry) if end.cost_usd is None]
    estimated = sum(end.estimate is not None for end in untold)
    return estimated, len(untold) - estimated


def _ends(registry: Registry) -> list[JobEnded]:
    return [job.state.end for job in registry.jobs.values() if isinstance(job.state, Ended)]


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
