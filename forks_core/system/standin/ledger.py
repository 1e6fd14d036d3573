"""What a call has spent, by model, on top of what it carries on."""

from typing import Any

from forks_core.system.standin.prices import Usage, cost, model_entry


class Ledger:
    """Counters by model, cumulative; `call_usd` is this call's part alone."""

    def __init__(self, models: dict[str, Usage], costs: dict[str, float]) -> None:
        """Start from counters that are carried on, or from empty ones."""
        self.models = dict(models)
        self.costs = dict(costs)
        self.call_usd = 0.0
        self._unsaid_models: dict[str, Usage] = {}
        self._unsaid_costs: dict[str, float] = {}

    @property
    def total_usd(self) -> float:
        """What a result reports: everything carried on, and this call."""
        return sum(self.costs.values())

    def spend(self, model: str, usage: Usage) -> None:
        """Count the usage of one response."""
        price = cost(model, usage)
        self.call_usd += price
        for models, costs in (
            (self.models, self.costs),
            (self._unsaid_models, self._unsaid_costs),
        ):
            models[model] = models.get(model, Usage()).plus(usage)
            costs[model] = costs.get(model, 0.0) + price

    def model_usage(self, *, modern: bool) -> dict[str, Any]:
        """Return the result's `modelUsage`: everything counted so far."""
        return _entries(self.models, self.costs, modern=modern)

    def since_last_result(self) -> dict[str, Any]:
        """Return what was spent since this was asked last, in the same form."""
        entries = _entries(self._unsaid_models, self._unsaid_costs, modern=True)
        self._unsaid_models, self._unsaid_costs = {}, {}
        return entries


def _entries(models: dict[str, Usage], costs: dict[str, float], *, modern: bool) -> dict[str, Any]:
    return {
        model: model_entry(model, usage, costs[model], modern=modern)
        for model, usage in models.items()
    }
