"""The edges of reckoning: where one case gives way to another."""

from typing import Any

import pytest
from immutables import Map

from forks_core.rules.usage import reckon
from forks_events.values import NOTHING_SPENT, Counters, Spent, Usage
from forks_events.words import UsageBasis
from tests.claude.lines import MODEL, counted, init, result, says, stream, usage
from tests.rules.calls import BASE, NEW, OLD, call

CARRIED, FRESH = UsageBasis.CARRIED, UsageBasis.FRESH
LONG = f"{MODEL}[1m]"


def spent(cost: float, used: Usage) -> Spent:
    """Counters of one model, and what they cost."""
    return Spent(cost_usd=cost, models=Map({MODEL: Counters(usage=used)}))


class TestArbiter:
    """Which responses are close to one case, and no more to the other."""

    @pytest.mark.parametrize(
        ("counted_prompt", "seen", "version", "basis"),
        [
            (10_900, 10_300, OLD, CARRIED),
            (10_900, 10_301, OLD, FRESH),
            (10_900, 10_600, NEW, FRESH),
            (10_900, 10_599, NEW, CARRIED),
            (1900, 1050, OLD, CARRIED),
            (1900, 1051, OLD, FRESH),
        ],
    )
    def test_how_close(
        self, counted_prompt: int, seen: int, version: str, basis: UsageBasis
    ) -> None:
        """Half as far away is close, and a twentieth more than was booked is within it."""
        before = spent(0.5, Usage(input=900))
        heard = call(0.6, {MODEL: counted(counted_prompt)}, seen, version=version)
        assert reckon(heard, before).basis is basis

    def test_no_difference(self) -> None:
        """A parent without prompt tokens makes no difference, and the version decides."""
        before = spent(0.5, Usage(output=5))
        for version, basis in ((OLD, FRESH), (NEW, CARRIED)):
            heard = call(0.6, {MODEL: counted(100, output=7)}, 100, version=version)
            assert reckon(heard, before).basis is basis

    def test_no_version(self) -> None:
        """A client that never introduced itself is taken for one of today."""
        heard = stream(result(0.9, {MODEL: counted(1010, 1000)}))
        assert reckon(heard, BASE).basis is CARRIED


class TestPossible:
    """What can be carried at all."""

    def test_as_dear_as_its_parent(self) -> None:
        """The noise of floats makes no call cheaper than its parent."""
        before = spent(1e-9, Usage(input=10))
        assert reckon(call(0.0, {MODEL: counted(30)}, 20), before).basis is CARRIED

    @pytest.mark.parametrize("lifetime", ["cache_creation_1h", "cache_creation_5m"])
    def test_lifetimes(self, lifetime: str) -> None:
        """Neither lifetime of writes need be told again."""
        told: dict[str, Any] = {lifetime: 1000}
        before = spent(0.5, Usage(input=10, cache_creation=1000, **told))
        assert reckon(call(0.6, {MODEL: counted(30, 1000)}, 20), before).basis is CARRIED

    def test_a_first_result_without_a_cost(self) -> None:
        """It decides nothing; the counters that came later do."""
        heard = stream(
            init(),
            says("m", usage(20)),
            result(None, {}),
            result(0.6, {MODEL: counted(30, 1000)}),
        )
        assert reckon(heard, BASE).basis is CARRIED


class TestBooked:
    """What is booked of the counters."""

    def test_digits(self) -> None:
        """Money is told to a billionth of a dollar."""
        assert reckon(call(0.5000000004, {MODEL: counted(30, 1000)}, 20), BASE).cost_usd == 0.0
        assert reckon(call(0.500000001, {MODEL: counted(30, 1000)}, 20), BASE).cost_usd == 1e-9

    @pytest.mark.parametrize("split", [(9, 30), (30, 9), (1, 0), (0, 1), (0, 40)])
    def test_lifetimes(self, split: tuple[int, int]) -> None:
        """A split within the whole is believed, however it lies."""
        names = ("cacheCreationEphemeral1hInputTokens", "cacheCreationEphemeral5mInputTokens")
        told = dict(zip(names, split, strict=True))
        used = reckon(call(0.1, {MODEL: counted(1, 40) | told}), None).usage
        assert used is not None
        assert (used.cache_creation_1h, used.cache_creation_5m) == split

    def test_two_spellings(self) -> None:
        """Counters of one model under two spellings are added up."""
        used = reckon(call(0.1, {MODEL: counted(10), LONG: counted(20)}, 30), None).usage
        assert used == Usage(input=30)

    @pytest.mark.rule("B23.2")
    @pytest.mark.parametrize(
        ("before", "after", "used"),
        [
            (counted(), counted(prompt=1), True),
            (counted(), counted(written=1), True),
            (counted(), counted(read=1), True),
            (counted(), counted(output=1), True),
            (counted(), counted(), False),
            (counted(5), counted(5), False),
        ],
    )
    def test_who_was_used(self, before: Any, after: Any, *, used: bool) -> None:
        """A model was used when any of its tokens grew."""
        first = reckon(call(0.5, {MODEL: counted(10), "helper": before}, 10), None)
        heard = call(0.6, {MODEL: counted(30), "helper": after}, 20)
        told = reckon(heard, first.carry)
        assert told.basis is CARRIED
        assert ("helper" in told.models_used) is used

    @pytest.mark.parametrize("told", [counted(), counted() | {"costUSD": 0.1}])
    def test_who_was_only_named(self, told: Any) -> None:
        """A model that is named without any tokens was not used, whatever it cost."""
        heard = call(0.1, {MODEL: counted(10), "helper": told}, 10)
        assert reckon(heard, None).models_used == (MODEL,)

    def test_the_spelling_that_grew(self) -> None:
        """Of one model under two spellings the one that grew was used."""
        first = reckon(call(0.5, {MODEL: counted(10), LONG: counted(10)}, 20), None)
        told = reckon(call(0.6, {MODEL: counted(10), LONG: counted(30)}, 20), first.carry)
        assert (told.basis, told.models_used) == (CARRIED, (LONG,))

    @pytest.mark.rule("B23.2")
    def test_order(self) -> None:
        """The models are told in the order of the alphabet."""
        names = [f"m{number}" for number in range(9)]
        told = reckon(call(0.1, {name: counted(1) for name in reversed(names)}), None)
        assert list(told.models_used) == names


class TestNothing:
    """What is told of a call that did nothing, and of one of which little is known."""

    def test_a_first_call_without_anything(self) -> None:
        """Its counters stand at nothing, which the next call may start from."""
        assert reckon(call(0, {}), None).carry == NOTHING_SPENT

    def test_a_response_without_tokens(self) -> None:
        """A response was there: nothing is known to have been used, which is not unknown."""
        assert reckon(stream(init(), says("m", usage())), None).usage == Usage()

    def test_a_subagent_alone(self) -> None:
        """What only a subagent used counts among the lower bound."""
        assert reckon(stream(init(), says("m", usage(5), parent="t")), None).usage == Usage(input=5)
