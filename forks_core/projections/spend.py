"""What was spent, added up exactly: by who and what for, by run, by day.

A cost that no client told is estimated, and added up apart; one that nobody knows is counted as
unknown, and is not zero.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from forks_core.rules.budget import total_usd
from forks_events.account import SpendBooked
from forks_events.codec import unstructure

Row = dict[str, Any]


def cumulative(spends: Iterable[SpendBooked], who: str | None = None) -> float:
    """Sum up what was spent in USD, by all or by one; unknown costs add nothing."""
    return total_usd(spend.cost_usd for spend in spends if who in {None, spend.who})


def spend_row(spends: Iterable[SpendBooked]) -> Row:
    """All of it in one number, and in three tables; each row has the same three columns."""
    held = tuple(spends)
    return {
        **_sum(held),
        "by_who": _grouped(held, ("who", "purpose"), lambda s: (s.who, s.purpose.value)),
        "by_run": _grouped(held, ("run", "source"), lambda s: (s.run, s.source)),
        "by_day": _grouped(held, ("day",), lambda s: (f"{s.ended_at:%Y-%m-%d}",)),
    }


def _grouped(
    spends: Iterable[SpendBooked],
    names: tuple[str, ...],
    key: Callable[[SpendBooked], tuple[str, ...]],
) -> list[Row]:
    groups: dict[tuple[str, ...], list[SpendBooked]] = defaultdict(list)
    for spend in spends:
        groups[key(spend)].append(spend)
    return [
        {**dict(zip(names, group, strict=True)), **_sum(groups[group])} for group in sorted(groups)
    ]


def _sum(spends: Iterable[SpendBooked]) -> Row:
    held = tuple(spends)
    return {
        "usd": cumulative(held),
        "calls": len(held),
        "estimated_usd": total_usd(s.estimate_usd for s in held if s.cost_usd is None),
        "unknown": sum(s.cost_usd is None and s.estimate_usd is None for s in held),
        "last_at": unstructure(max((spend.ended_at for spend in held), default=None)),
    }
