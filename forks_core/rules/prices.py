"""What tokens cost, where nobody has said what they did cost: an estimate, and marked as one."""

import math
from collections.abc import Mapping

from attrs import field, frozen
from attrs.validators import ge
from immutables import Map

from forks_core.rules.models import is_same_model
from forks_events.values import Usage

MILLION = 1_000_000


@frozen(kw_only=True)
class Price:
    """The price of one model, in USD per million tokens."""

    input: float = field(validator=ge(0))
    output: float = field(validator=ge(0))
    cache_write_5m: float = field(validator=ge(0))
    cache_write_1h: float = field(validator=ge(0))
    cache_read: float = field(validator=ge(0))


@frozen(kw_only=True)
class PriceTable:
    """Prices as they were on a day.

    Args:
        as_of: The day, ISO 8601.
        models: Model id to its price.
    """

    as_of: str
    models: Map[str, Price]


def estimate(used: Mapping[str, Usage], table: PriceTable) -> float | None:
    """Reckon what tokens cost, in USD.

    Args:
        used: Model id to its tokens.
        table: The prices.

    Returns:
        The cost, or None when a model that was used is not in the table: unknown is not zero.
    """
    costs = [_cost(usage, _price(model, table)) for model, usage in used.items()]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def _price(model: str, table: PriceTable) -> Price | None:
    known = (price for name, price in table.models.items() if is_same_model(name, model))
    return next(known, None)


def _cost(usage: Usage, price: Price | None) -> float | None:
    if price is None:
        return None
    # A write of an untold life has the one that every launch pins, an hour.
    one_hour = usage.cache_creation - usage.cache_creation_5m
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_creation_5m * price.cache_write_5m
        + one_hour * price.cache_write_1h
        + usage.cache_read * price.cache_read
    ) / MILLION
