"""What one call used, out of counters that some clients carry on from the parent session.

1. A result's counters only grow within a process; their peak is what the client counted.
2. They may be *carried*, hold the parent's too, when the first of them are at least the parent's
   in every field of every model that the parent used, and the cost at least the parent's. If they
   cannot be, they are *fresh*: this call's own.
3. A large fresh call can look carried, so the responses that were seen must agree: their prompt
   tokens lie close to what was used in one of the two cases. Where they decide nothing, the
   version does: clients from 2.1.277 on carry.
4. The parent's value for the next call is what this call's client would carry on.
5. A conversation that was reset begins at nothing: what was counted before it is added, and only
   what came after is carried on.
6. Without a result, or with one whose counters a crash left at zero, the tokens are a lower bound
   from the responses seen, their output unknown, and the cost is unknown, which is not zero.
"""

import re
from operator import add

from attrs import evolve, frozen

from forks_core.registry import Stream
from forks_core.rules.flags import is_error
from forks_core.rules.models import identity
from forks_events.values import COLUMNS, NOTHING_SPENT, Spent, Usage, joined, total
from forks_events.words import UsageBasis

FIRST_CARRYING = (2, 1, 277)
"""The first version of the client that carries its counters on to a resumed or forked session."""
DIGITS = 9
"""Money is rounded to this many digits: below what is ever billed, above the noise of floats."""
EPSILON = 1e-9
CLOSER = 2
"""One case is decided for when the other lies at least this many times as far from what was seen."""
EXCESS = 1.05
"""Responses seen beyond this share of what a case books speak against it."""


@frozen(kw_only=True)
class Reckoning:
    """What one call used.

    Args:
        usage: Its tokens, or None when nothing was seen.
        cost_usd: Its money in USD, or None when unknown.
        basis: How they follow from the counters; None when they are a lower bound.
        models_used: Models whose counters grew, sorted.
        carry: What its client would carry on to a next call of the session, or None.
        mismatch: Whether more prompt tokens were seen than are booked.
    """

    usage: Usage | None
    cost_usd: float | None
    basis: UsageBasis | None
    models_used: tuple[str, ...]
    carry: Spent | None
    mismatch: bool


def reckon(stream: Stream, before: Spent | None) -> Reckoning:
    """Reckon what a call used.

    Args:
        stream: What its client said.
        before: The parent session's counters at its last result when this call was launched, or
            None for a fresh session.
    """
    counted = _counted(stream)
    if counted is None or (_is_zero(counted) and _is_untold(stream)):
        return _lower_bound(stream, before)
    basis = _basis(stream, counted, before)
    parent = before if before is not None and basis is UsageBasis.CARRIED else NOTHING_SPENT
    usage = _booked(stream, counted, parent)
    return Reckoning(
        usage=usage,
        cost_usd=round(max(0.0, counted.cost_usd - parent.cost_usd), DIGITS),
        basis=basis,
        models_used=_grown(counted, parent),
        carry=_carry(stream, before),
        mismatch=stream.seen_in_all.prompt > usage.prompt,
    )


def _is_untold(stream: Stream) -> bool:
    """Whether counters of zero say nothing: responses were seen, and then it crashed."""
    crashed = stream.result is None or is_error(stream.result)
    return crashed and stream.seen_in_all.prompt > 0


def _counted(stream: Stream) -> Spent | None:
    """What the client counted in this process, before and after resets; None without any."""
    if stream.peak is None:
        return None if stream.closed == NOTHING_SPENT else stream.closed
    return joined(stream.closed, stream.peak, add)


def _carry(stream: Stream, before: Spent | None) -> Spent | None:
    if stream.reset is not None:
        return stream.peak or NOTHING_SPENT
    peak = stream.peak
    return peak if before is None or (peak and not _is_zero(peak)) else before


def _lower_bound(stream: Stream, before: Spent | None) -> Reckoning:
    output = stream.result.usage.output if stream.result else 0
    seen = evolve(stream.seen_in_all, output=output)
    nothing = stream.first is None and seen == Usage()
    return Reckoning(
        usage=None if nothing else seen,
        cost_usd=None,
        basis=None,
        models_used=(),
        carry=NOTHING_SPENT if stream.reset else before,
        mismatch=False,
    )


def _basis(stream: Stream, counted: Spent, before: Spent | None) -> UsageBasis:
    if before is None:
        return UsageBasis.FIRST
    if stream.reset is not None and stream.closed == NOTHING_SPENT:
        # Nothing was counted before the conversation began anew: all of it came after.
        return UsageBasis.FRESH
    first = stream.first_result.spent if stream.first_result else None
    if not _can_be_carried(counted if first is None or _is_zero(first) else first, before):
        return UsageBasis.FRESH
    fresh, carried = _total(counted).prompt, _total(_less(counted, before)).prompt
    # What was seen later, of a call that was ended then, is not counted yet.
    seen = stream.seen_then or stream.seen_in_all.prompt
    return _told_by_tokens(seen, fresh, carried) or _told_by_version(stream)


def _can_be_carried(first: Spent, before: Spent) -> bool:
    if first.cost_usd < before.cost_usd - EPSILON:
        return False
    counted = _by_model(first)
    return all(
        getattr(counted.get(model, Usage()), column) >= getattr(usage, column)
        for model, usage in _by_model(before).items()
        for column in COLUMNS
        # How long a write lives is not told by every version; the whole is.
        if column not in {"cache_creation_1h", "cache_creation_5m"}
    )


def _told_by_tokens(seen: int, fresh: int, carried: int) -> UsageBasis | None:
    to_fresh, to_carried = abs(fresh - seen), abs(carried - seen)
    if not seen or to_fresh == to_carried:
        return None
    if to_carried * CLOSER <= to_fresh and seen <= carried * EXCESS:
        return UsageBasis.CARRIED
    return UsageBasis.FRESH if to_fresh * CLOSER <= to_carried else None


def _told_by_version(stream: Stream) -> UsageBasis:
    told = stream.opened.client_version if stream.opened else None
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", told or "")
    if numbers and tuple(map(int, numbers.groups())) < FIRST_CARRYING:
        return UsageBasis.FRESH
    return UsageBasis.CARRIED


def _booked(stream: Stream, counted: Spent, parent: Spent) -> Usage:
    seen = stream.seen_in_all
    if not counted.models:
        result = stream.result.usage if stream.result else Usage()
        return _split(_larger(seen, result), seen)
    return _split(_total(_less(counted, parent)), seen)


def _split(usage: Usage, seen: Usage) -> Usage:
    # Old clients don't count by lifetime, and a difference between versions is none.
    told = usage.cache_creation_1h + usage.cache_creation_5m
    if 0 < told <= usage.cache_creation:
        return usage
    one_hour = min(seen.cache_creation_1h, usage.cache_creation)
    five_minutes = min(seen.cache_creation_5m, usage.cache_creation - one_hour)
    return evolve(usage, cache_creation_1h=one_hour, cache_creation_5m=five_minutes)


def _grown(peak: Spent, parent: Spent) -> tuple[str, ...]:
    grown = _less(peak, parent)
    return tuple(
        sorted(
            model
            for model, counters in peak.models.items()
            if any(_tokens(grown[identity(model)])) and counters != parent.models.get(model)
        )
    )


def _tokens(usage: Usage) -> tuple[int, ...]:
    return (usage.input, usage.output, usage.cache_creation, usage.cache_read)


def _less(spent: Spent, parent: Spent) -> dict[str, Usage]:
    before = _by_model(parent)
    return {
        model: evolve(
            usage,
            **{
                column: max(0, getattr(usage, column) - getattr(before[model], column))
                for column in COLUMNS
                if model in before
            },
        )
        for model, usage in _by_model(spent).items()
    }


def _by_model(spent: Spent) -> dict[str, Usage]:
    totals: dict[str, Usage] = {}
    for model, counters in spent.models.items():
        totals[identity(model)] = total((totals.get(identity(model), Usage()), counters.usage))
    return totals


def _total(counted: Spent | dict[str, Usage]) -> Usage:
    return total((_by_model(counted) if isinstance(counted, Spent) else counted).values())


def _larger(one: Usage, other: Usage) -> Usage:
    return Usage(
        **{column: max(getattr(one, column), getattr(other, column)) for column in COLUMNS}
    )


def _is_zero(spent: Spent) -> bool:
    return not spent.cost_usd and not any(_tokens(_total(spent)))
