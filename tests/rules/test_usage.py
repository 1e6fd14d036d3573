"""What one call used."""

from typing import Any

import pytest
from immutables import Map

from forks_core.rules.usage import Reckoning, reckon
from forks_events.values import Counters, Spent, Usage
from forks_events.words import UsageBasis
from tests.claude.lines import MODEL, counted, init, result, says, stream, usage
from tests.rules.calls import BASE, NEW, OLD, UNKNOWN, call


class TestFirst:
    """A fresh session's counters are the call's own."""

    @pytest.mark.rule("B23.1", "B23.4", "D7")
    def test_first(self) -> None:
        """All is as counted, and is what the next call starts from."""
        told = reckon(call(0.25, {MODEL: counted(1, 2, 3, 4)}, 6), None)
        assert told == Reckoning(
            usage=Usage(input=1, cache_creation=2, cache_read=3, output=4),
            cost_usd=0.25,
            basis=UsageBasis.FIRST,
            models_used=(MODEL,),
            carry=Spent(
                cost_usd=0.25,
                models=Map(
                    {
                        MODEL: Counters(
                            usage=Usage(input=1, cache_creation=2, cache_read=3, output=4)
                        )
                    }
                ),
            ),
            mismatch=False,
        )

    def test_zero_is_known(self) -> None:
        """A cost of zero is one, and unlike none at all."""
        assert reckon(call(0, {MODEL: counted(1)}, 1), None).cost_usd == 0.0
        assert reckon(call(None, {MODEL: counted(1)}, 1), None).cost_usd is None


@pytest.mark.rule("D7")
class TestPossible:
    """Carried is possible when the first result has at least the parent's of everything."""

    @pytest.mark.parametrize(
        ("cost", "models"),
        [
            (0.49, {MODEL: counted(20, 1000)}),
            (0.6, {MODEL: counted(20, 999)}),
            (0.6, {"haiku": counted(9000, 9000)}),
            (0.6, {}),
        ],
    )
    def test_impossible(self, cost: float, models: dict[str, Any]) -> None:
        """Less of anything, or a model that is missing, makes it fresh for any version."""
        told = reckon(call(cost, models), BASE)
        assert (told.basis, told.cost_usd) == (UsageBasis.FRESH, cost)

    @pytest.mark.parametrize("suffix", ["[1m]", "-20251101", "@20251101", "-20251101[1m]"])
    def test_suffix(self, suffix: str) -> None:
        """A model whose context suffix or date of snapshot was dropped is the same model."""
        before = Spent(cost_usd=0.5, models=Map({f"{MODEL}{suffix}": BASE.models[MODEL]}))
        told = reckon(call(0.6, {MODEL: counted(30, 1000)}, 20), before)
        assert (told.basis, told.cost_usd) == (UsageBasis.CARRIED, 0.1)
        assert told.models_used == (MODEL,)

    def test_first_result_decides(self) -> None:
        """A later result that outgrows the parent does not make the first one carried."""
        later = result(0.9, {MODEL: counted(2000, 1000)}, num_turns=2)
        heard = stream(init(), says(), result(0.1, {MODEL: counted(10)}), later)
        assert reckon(heard, BASE).basis is UsageBasis.FRESH

    def test_zeroed_first_result(self) -> None:
        """A first result that holds nothing decides nothing."""
        heard = stream(
            init(),
            says("m", usage(20)),
            result(0, {}, num_turns=0),
            result(0.6, {MODEL: counted(30, 1000)}),
        )
        assert reckon(heard, BASE).basis is UsageBasis.CARRIED

    def test_lifetimes_do_not_count(self) -> None:
        """A version that tells no lifetimes of writes can carry all the same."""
        split = Usage(input=10, cache_creation=1000, cache_creation_1h=1000)
        before = Spent(cost_usd=0.5, models=Map({MODEL: Counters(usage=split)}))
        assert reckon(call(0.6, {MODEL: counted(30, 1000)}, 20), before).basis is UsageBasis.CARRIED


@pytest.mark.rule("D7")
class TestArbiter:
    """Where carried is possible the responses that were seen decide, and then the version."""

    @pytest.mark.parametrize("version", [OLD, NEW, UNKNOWN])
    @pytest.mark.parametrize(
        ("seen", "basis"), [(1000, UsageBasis.CARRIED), (2010, UsageBasis.FRESH)]
    )
    def test_tokens_decide(self, version: str, seen: int, basis: UsageBasis) -> None:
        """Seen tokens close to one of the two decide, whatever the version."""
        told = reckon(call(0.9, {MODEL: counted(1010, 1000)}, seen, version=version), BASE)
        assert told.basis is basis

    @pytest.mark.parametrize(
        ("version", "basis"),
        [
            (OLD, UsageBasis.FRESH),
            ("2.0.76", UsageBasis.FRESH),
            (NEW, UsageBasis.CARRIED),
            ("2.1.332 (Claude Code)", UsageBasis.CARRIED),
            ("3.0.0", UsageBasis.CARRIED),
            (UNKNOWN, UsageBasis.CARRIED),
        ],
    )
    @pytest.mark.parametrize("seen", [0, 1500])
    def test_version_decides(self, version: str, basis: UsageBasis, seen: int) -> None:
        """Nothing seen, or as much between the two, leaves it to the version."""
        told = reckon(call(0.9, {MODEL: counted(1010, 1000)}, seen, version=version), BASE)
        assert told.basis is basis

    def test_hidden_subagents(self) -> None:
        """Where most of the call was not seen, neither case is close, and the version decides."""
        for version, basis in ((OLD, UsageBasis.FRESH), (NEW, UsageBasis.CARRIED)):
            told = reckon(call(9, {MODEL: counted(90_000, 1000)}, 50_000, version=version), BASE)
            assert told.basis is basis

    def test_subagents_are_seen(self) -> None:
        """A subagent's responses count among those that were seen."""
        heard = stream(
            init(claude_code_version=OLD),
            says("a", usage(500)),
            says("b", usage(500), parent="t"),
            result(0.9, {MODEL: counted(1010, 1000)}),
        )
        assert reckon(heard, BASE).basis is UsageBasis.CARRIED


@pytest.mark.rule("B23.2", "B23.4", "D7")
class TestCarried:
    """A carried call used what was added to its parent's counters."""

    def test_difference(self) -> None:
        """Tokens and cost are the difference, and only models that grew were used."""
        models = {MODEL: counted(10, 1000), "haiku": counted(7)}
        told = reckon(call(0.508, models, 7), BASE)
        assert told.usage == Usage(input=7)
        assert (told.cost_usd, told.models_used) == (0.008, ("haiku",))

    @pytest.mark.parametrize(
        ("total", "parent", "cost"),
        [(0.166421, 0.157755, 0.008666), (0.1751195, 0.166421, 0.0086985), (5.1, 5.0, 0.1)],
    )
    def test_money_is_exact(self, total: float, parent: float, cost: float) -> None:
        """The noise of floats is rounded away, and nothing that is billed."""
        told = reckon(call(total, {}), Spent(cost_usd=parent, models=Map()))
        assert told.cost_usd == cost

    def test_carries_the_total(self) -> None:
        """The next call starts from the whole, not from the difference."""
        told = reckon(call(0.508, {MODEL: counted(17, 1000)}, 7), BASE)
        assert told.carry is not None
        assert told.carry.cost_usd == 0.508

    def test_nothing_used(self) -> None:
        """A call that was refused on top of its parent's counters used nothing."""
        told = reckon(call(0.5, {MODEL: counted(10, 1000)}, usage=usage()), BASE)
        assert (told.usage, told.cost_usd, told.models_used) == (Usage(), 0.0, ())


class TestSeveralResults:
    """Of several results the largest counters hold; they are never added up."""

    def test_not_added(self) -> None:
        """Two results of 0.05 and 0.07 cost 0.07."""
        heard = stream(says(), result(0.05, {}), result(0.07, {}, num_turns=2))
        assert reckon(heard, None).cost_usd == 0.07

    def test_zeroed_later(self) -> None:
        """A crash after the result takes nothing back."""
        crash = result(0, {}, usage=usage(), is_error=True, num_turns=0)
        heard = stream(says(), result(0.05, {MODEL: counted(10)}), crash)
        assert reckon(heard, None) == reckon(
            stream(says(), result(0.05, {MODEL: counted(10)})), None
        )
