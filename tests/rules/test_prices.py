"""What tokens cost where nobody said it: reckoned by hand from the public prices."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.rules.prices import Price, PriceTable, estimate
from forks_events.values import Usage, total
from tests.projections.builders import reached

OPUS, SONNET, HAIKU = "claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"
# USD for a million tokens: input, output, a write of 5 minutes, one of an hour, a read.
TABLE = PriceTable(
    as_of="2026-08-22",
    models=Map(
        {
            OPUS: Price(
                input=5.0, output=25.0, cache_write_5m=6.25, cache_write_1h=10.0, cache_read=0.5
            ),
            SONNET: Price(
                input=3.0, output=15.0, cache_write_5m=3.75, cache_write_1h=6.0, cache_read=0.3
            ),
        }
    ),
)
COUNTS = st.integers(0, 10**7)


def _used(numbers: tuple[int, ...]) -> Usage:
    plain, output, one_hour, five_minutes, untold, read = numbers
    return Usage(
        input=plain,
        output=output,
        cache_creation=one_hour + five_minutes + untold,
        cache_creation_1h=one_hour,
        cache_creation_5m=five_minutes,
        cache_read=read,
    )


USAGES = st.tuples(*[COUNTS] * 6).map(_used)


class TestEstimate:
    """Each kind of token has its price."""

    @pytest.mark.parametrize(
        ("used", "usd"),
        [
            ({OPUS: Usage(input=1_000_000)}, 5.0),
            ({OPUS: Usage(output=1_000_000)}, 25.0),
            ({OPUS: Usage(cache_creation=1_000_000, cache_creation_5m=1_000_000)}, 6.25),
            ({OPUS: Usage(cache_creation=1_000_000, cache_creation_1h=1_000_000)}, 10.0),
            ({OPUS: Usage(cache_read=1_000_000)}, 0.5),
            # 12 x 5 + 9 x 25 + 15000 x 10 + 15762 x 0.5 = 158,166 millionths of a dollar.
            (
                {
                    OPUS: Usage(
                        input=12,
                        output=9,
                        cache_creation=15_000,
                        cache_creation_1h=15_000,
                        cache_read=15_762,
                    )
                },
                0.158166,
            ),
            # 1000 x 3 + 200 x 15 + 300 x 3.75 + 700 x 6 + 10000 x 0.3 = 14,325.
            (
                {
                    SONNET: Usage(
                        input=1000,
                        output=200,
                        cache_creation=1000,
                        cache_creation_5m=300,
                        cache_creation_1h=700,
                        cache_read=10_000,
                    )
                },
                0.014325,
            ),
            # Both models of one call are added up: 10 x 5 + 10 x 3.
            ({OPUS: Usage(input=10), SONNET: Usage(input=10)}, 0.00008),
            ({OPUS: Usage()}, 0.0),
            ({}, 0.0),
        ],
    )
    def test_by_hand(self, used: dict[str, Usage], usd: float) -> None:
        """The sum is that of tokens and prices."""
        assert estimate(used, TABLE) == pytest.approx(usd, abs=1e-12)

    def test_untold_life(self) -> None:
        """A write whose life is not told is priced as what every launch pins, an hour."""
        # 100 of five minutes and 900 of who knows: 100 x 6.25 + 900 x 10.
        used = Usage(cache_creation=1000, cache_creation_5m=100)
        assert estimate({OPUS: used}, TABLE) == pytest.approx(0.009625, abs=1e-12)
        used = Usage(cache_creation=1000, cache_creation_5m=100, cache_creation_1h=400)
        assert estimate({OPUS: used}, TABLE) == pytest.approx(0.009625, abs=1e-12)


class TestModels:
    """A model is priced whatever its id is dressed in, and an unknown one is not priced at all."""

    @pytest.mark.rule("D6")
    @pytest.mark.parametrize(
        "model",
        [OPUS, f"{OPUS}[1m]", f"{OPUS}-20251101", f"{OPUS}@20251101", f"{OPUS}-20251101[1m]"],
    )
    def test_same(self, model: str) -> None:
        """Neither the context suffix nor the date of the snapshot changes the price."""
        assert estimate({model: Usage(input=1_000_000)}, TABLE) == 5.0

    def test_a_dressed_table(self) -> None:
        """A table may name a snapshot, or the suffix, as well."""
        for name in (f"{OPUS}[1m]", f"{OPUS}-20251101"):
            table = PriceTable(as_of="x", models=Map({name: TABLE.models[OPUS]}))
            assert estimate({OPUS: Usage(input=1_000_000)}, table) == 5.0

    @pytest.mark.parametrize(
        "used",
        [
            {HAIKU: Usage(input=1)},
            {HAIKU: Usage()},
            {OPUS: Usage(input=1), HAIKU: Usage(input=1)},
            {"": Usage(input=1)},
            {"opus": Usage(input=1)},
            {f"{OPUS}-2025": Usage(input=1)},
            {"claude-opus-4-5-5": Usage(input=1)},
        ],
    )
    def test_unknown(self, used: dict[str, Usage]) -> None:
        """One model without a price leaves the whole unknown, which is not zero."""
        assert estimate(used, TABLE) is None

    @pytest.mark.parametrize(
        "column", ["input", "output", "cache_write_5m", "cache_write_1h", "cache_read"]
    )
    @pytest.mark.parametrize("price", [-1e-9, -1.0, float("nan")])
    def test_no_price(self, column: str, price: float) -> None:
        """No price is negative, or no number."""
        told = dict.fromkeys(
            ["input", "output", "cache_write_5m", "cache_write_1h", "cache_read"], 0.0
        )
        with pytest.raises(ValueError, match=column):
            Price(**(told | {column: price}))


class TestLaws:
    """What holds for any tokens."""

    @settings(deadline=None)
    @given(USAGES, USAGES)
    def test_law_monotone(self, one: Usage, more: Usage) -> None:
        """More of anything never costs less."""
        less, dearer = estimate({OPUS: one}, TABLE), estimate({OPUS: total((one, more))}, TABLE)
        assert less is not None
        assert dearer is not None
        assert 0 <= less <= dearer

    @settings(deadline=None)
    @given(USAGES, USAGES)
    def test_law_additive(self, one: Usage, other: Usage) -> None:
        """What two calls cost together is the sum of what each costs."""
        costs = [estimate({SONNET: used}, TABLE) or 0.0 for used in (one, other)]
        assert estimate({SONNET: total((one, other))}, TABLE) == pytest.approx(sum(costs))

    @settings(deadline=None)
    @given(USAGES, USAGES)
    def test_law_by_model(self, one: Usage, other: Usage) -> None:
        """The models of a call are priced apart from each other."""
        apart = (estimate({OPUS: one}, TABLE) or 0.0) + (estimate({SONNET: other}, TABLE) or 0.0)
        assert estimate({OPUS: one, SONNET: other}, TABLE) == pytest.approx(apart)

    def test_reachability(self) -> None:
        """The drawn tokens have writes of both lives and of none that is told."""
        assert reached(
            USAGES,
            lambda used: (
                used.cache_creation > used.cache_creation_5m + used.cache_creation_1h > 0
                and used.cache_creation_5m > 0 < used.cache_creation_1h
            ),
        )
