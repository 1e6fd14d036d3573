"""Money of a study: what was spent, and whether one more trial may be (A10.5, A10.6)."""

import math
from collections.abc import Iterable

DIGITS = 6
"""A study's money is told to this many digits."""


def total_usd(costs: Iterable[float | None]) -> float:
    """Add up costs, exactly before they are rounded: their order changes nothing (A10.5).

    Args:
        costs: Each in USD; None, a cost that nobody knows, counts as 0.
    """
    return round(math.fsum(cost or 0.0 for cost in costs), DIGITS)


def budget_allows(cumulative: float, per_trial_cap: float | None, cap: float | None) -> bool:
    """Tell whether a trial that spends all it may still ends within the cap (A10.6).

    What comes to the cap exactly is allowed; sums are compared as they are told.

    Args:
        cumulative: USD spent so far.
        per_trial_cap: USD that one trial may spend; None is without limit, which no cap allows.
        cap: USD that the study may spend; without it everything is allowed.
    """
    if cap is None:
        return True
    if per_trial_cap is None:
        return False
    return total_usd((cumulative, per_trial_cap)) <= total_usd((cap,))
