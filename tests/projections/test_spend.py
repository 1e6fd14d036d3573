"""What was spent, added up: exactly, by who and what for, by run, by day."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.claude.fields import DEAREST
from forks_core.projections.spend import cumulative, spend_row
from forks_core.reducer.stream import summed
from forks_core.rules.usage import reckon
from forks_events.account import SpendBooked
from forks_events.words import Kind
from tests.claude.lines import events, result
from tests.histories import NOON, forward
from tests.strategies import drawn

SPEND = forward("run-1", 7, NOON).entries[1]
MIDNIGHT = datetime.fromisoformat("2026-12-01T00:00:00+00:00")


def spend(cost_usd: float | None, ended_at: datetime = NOON, **told: Any) -> SpendBooked:
    """A fork's spend."""
    assert isinstance(SPEND, SpendBooked)
    return evolve(SPEND, cost_usd=cost_usd, ended_at=ended_at, **told)


def row(usd: float, calls: int, unknown: int = 0, last: datetime = NOON) -> dict[str, Any]:
    """The columns that every row has."""
    last_at = f"{last:%Y-%m-%dT%H:%M:%S.%f}+00:00"
    return {
        "usd": usd,
        "calls": calls,
        "estimated_usd": 0.0,
        "unknown": unknown,
        "last_at": last_at,
    }


SPENDS = st.builds(
    spend,
    st.sampled_from([None, 0.0, 1e-7, 0.1, 0.2, 0.3, 1.234567, 1e10]),
    st.sampled_from([NOON, MIDNIGHT, MIDNIGHT - timedelta(microseconds=1)]),
    who=st.sampled_from(["forks", "study:a", "study:b"]),
    purpose=st.sampled_from([Kind.TRAIN, Kind.FORK]),
    run=st.sampled_from(["run-1", "run-2"]),
)
LISTS = st.lists(SPENDS, max_size=8)


@pytest.mark.rule("A10.5")
def test_what_a_client_may_claim() -> None:
    """An absurd cost is unknown, and the largest that counts overflows no sum."""
    said = summed(events(result(1e308), result(DEAREST)))
    costs = [reckon(summed(events(result(1e308))), None).cost_usd, reckon(said, None).cost_usd]
    assert costs == [None, DEAREST]
    told = spend_row([spend(cost) for cost in costs * 1000])
    assert (told["usd"], told["calls"], told["unknown"]) == (1e12, 2000, 1000)


@pytest.mark.rule("A10.5")
class TestCumulative:
    """The sum of all, or of one; what nobody knows adds nothing."""

    def test_who(self) -> None:
        """Of one only what is exactly theirs."""
        spends = [
            spend(0.1),
            spend(0.2, who="study:a"),
            spend(None, who="study:a"),
            spend(0.4, who="study:ab"),
        ]
        assert cumulative(spends) == 0.7
        assert cumulative(spends, "study:a") == 0.2
        assert cumulative(spends, "forks") == 0.1
        assert cumulative(spends, "nobody") == 0.0

    @pytest.mark.rule("A10.4")
    def test_nothing(self) -> None:
        """Nothing spent is zero."""
        assert cumulative([]) == 0.0
        assert spend_row([]) == {
            "usd": 0.0,
            "calls": 0,
            "estimated_usd": 0.0,
            "unknown": 0,
            "last_at": None,
            "by_who": [],
            "by_run": [],
            "by_day": [],
        }

    def test_digits(self) -> None:
        """Six digits, rounded once at the end."""
        assert cumulative([spend(0.0000004)]) == 0.0
        assert cumulative([spend(0.0000004), spend(0.0000004)]) == 0.000001


class TestTables:
    """Three tables, whose rows have the same columns."""

    def test_all(self) -> None:
        """By who and what for, by run, and by day in UTC; in order."""
        late = MIDNIGHT - timedelta(microseconds=1)
        spends = [
            spend(0.4, MIDNIGHT, who="study:a", purpose=Kind.FORK, run="run-2", source="/b"),
            spend(0.1, purpose=Kind.TRAIN),
            spend(None, late),
            spend(0.2, late),
        ]
        found = spend_row(spends)
        assert {name: found[name] for name in row(0, 0)} == row(0.7, 4, 1, MIDNIGHT)
        assert found["by_who"] == [
            {"who": "forks", "purpose": "fork"} | row(0.2, 2, 1, late),
            {"who": "forks", "purpose": "train"} | row(0.1, 1),
            {"who": "study:a", "purpose": "fork"} | row(0.4, 1, 0, MIDNIGHT),
        ]
        assert found["by_run"] == [
            {"run": "run-1", "source": "/run-forks"} | row(0.3, 3, 1, late),
            {"run": "run-2", "source": "/b"} | row(0.4, 1, 0, MIDNIGHT),
        ]
        assert found["by_day"] == [
            {"day": "2026-11-30"} | row(0.3, 3, 1, late),
            {"day": "2026-12-01"} | row(0.4, 1, 0, MIDNIGHT),
        ]

    def test_estimates(self) -> None:
        """What was estimated is added up apart, and is not unknown."""
        told = spend_row([spend(None, estimate_usd=0.5), spend(None), spend(0.25)])
        assert (told["usd"], told["estimated_usd"], told["unknown"]) == (0.25, 0.5, 1)

    def test_only_unknown(self) -> None:
        """A row of unknown costs says how many there are, and no more than zero."""
        (only,) = spend_row([spend(None)])["by_who"]
        assert (only["usd"], only["calls"], only["unknown"]) == (0.0, 1, 1)


class TestLaws:
    """What holds of any spends."""

    @pytest.mark.rule("D21", "A10.5")
    @settings(deadline=None)
    @given(LISTS.flatmap(lambda it: st.tuples(st.just(it), st.permutations(it))))
    def test_law_any_order(self, told: tuple[list[SpendBooked], list[SpendBooked]]) -> None:
        """In whatever order they were booked, they come to the same."""
        assert spend_row(told[0]) == spend_row(told[1])

    @settings(deadline=None)
    @given(LISTS)
    def test_law_each_table_is_all(self, spends: list[SpendBooked]) -> None:
        """Each table holds every call once, and all the money."""
        found = spend_row(spends)
        for table in ("by_who", "by_run", "by_day"):
            assert sum(line["calls"] for line in found[table]) == len(spends)
            assert sum(line["unknown"] for line in found[table]) == found["unknown"]
            parts = sum(line["usd"] for line in found[table])
            assert parts == pytest.approx(found["usd"], abs=1e-5)

    def test_reachability(self) -> None:
        """The laws look at costs whose plain sum depends on their order, and at several groups."""
        found = drawn(LISTS, 80)
        plain = [[one.cost_usd or 0.0 for one in spends] for spends in found]
        assert any(sum(costs) != sum(reversed(costs)) for costs in plain)
        assert any(len(spend_row(spends)["by_day"]) > 1 for spends in found)
        assert any(0 < spend_row(spends)["unknown"] < len(spends) for spends in found)
