"""Money of a study: its sum, and what it still allows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.budget import budget_allows, total_usd
from tests.projections.builders import reached

MONEY = st.sampled_from([0.0, 1e-7, 0.1, 0.2, 0.3, 1.234567, 6.0, 1e10])
COSTS = st.lists(st.none() | MONEY, max_size=6)


@pytest.mark.rule("A10.5")
class TestTotal:
    """Spend is the sum of the costs that are known."""

    @pytest.mark.parametrize(
        ("costs", "expected"),
        [
            ([], 0.0),
            ([None], 0.0),
            ([0.25, None, 0.5], 0.75),
            ([0.1] * 10, 1.0),
            ([0.1, 0.2], 0.3),
            ([0.0000004], 0.0),
            ([0.0000004, 0.0000004], 0.000001),
            ([1.2345678], 1.234568),
        ],
    )
    def test_told(self, costs: list[float | None], expected: float) -> None:
        """What nobody knows counts as nothing; it is rounded to 6 digits once, at the end."""
        assert total_usd(costs) == expected

    @settings(deadline=None)
    @given(COSTS.flatmap(lambda costs: st.tuples(st.just(costs), st.permutations(costs))))
    def test_law_any_order(self, told: tuple[list[float | None], list[float | None]]) -> None:
        """In whatever order the costs came, they come to the same."""
        assert total_usd(told[0]) == total_usd(told[1])

    def test_reachability(self) -> None:
        """The law looks at costs whose plain sum depends on their order."""
        assert reached(
            COSTS,
            lambda costs: sum(c or 0.0 for c in costs) != sum(c or 0.0 for c in reversed(costs)),
        )


@pytest.mark.rule("A10.6")
class TestAllows:
    """One more trial must fit under the cap even if it spends all that it may."""

    @pytest.mark.parametrize(
        ("cumulative", "per_trial_cap", "cap", "expected"),
        [
            (1e9, 6.0, None, True),
            (1e9, None, None, True),
            (194.0, 6.0, 200.0, True),
            (194.000001, 6.0, 200.0, False),
            (0.1, 0.2, 0.3, True),
            (0.0, 4e-7, 4e-7, True),
            (0.0, 6e-7, 6e-7, True),
            (0.0, None, 200.0, False),
            (0.0, 6.0, 5.0, False),
        ],
    )
    def test_told(
        self, cumulative: float, per_trial_cap: float | None, cap: float | None, *, expected: bool
    ) -> None:
        """The cap itself may be reached; without a cap all goes, without a trial's own none does."""
        assert budget_allows(cumulative, per_trial_cap, cap) is expected

    @settings(deadline=None)
    @given(MONEY, MONEY, MONEY, MONEY)
    def test_law_monotone(self, spent: float, trial: float, cap: float, more: float) -> None:
        """What is allowed would be with less spent, a cheaper trial, and a greater cap."""
        if budget_allows(spent + more, trial, cap):
            assert budget_allows(spent, trial, cap)
        if budget_allows(spent, trial + more, cap):
            assert budget_allows(spent, trial, cap)
        if budget_allows(spent, trial, cap):
            assert budget_allows(spent, trial, cap + more)

    @pytest.mark.parametrize("before", [True, False])
    def test_reachability(self, *, before: bool) -> None:
        """The law looks at both answers, and at money that makes the difference."""
        assert reached(
            st.tuples(MONEY, MONEY, MONEY),
            lambda it: (
                budget_allows(*it) is before and budget_allows(it[0] + 6.0, *it[1:]) is False
            ),
        )
