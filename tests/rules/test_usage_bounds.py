"""What is known of a call's usage where not all is told, and what always holds."""

import math
from functools import partial

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from forks_core.registry import SILENT
from forks_core.rules.usage import Reckoning, reckon
from forks_events.values import Usage
from forks_events.words import UsageBasis
from tests.claude.lines import MODEL, counted, init, result, says, stream, usage
from tests.rules.calls import BASE, NEW, OLD, UNKNOWN, call

COUNTS = st.integers(0, 3000)


class TestLowerBound:
    """Without counters the tokens are a lower bound from what was seen, and the cost is unknown."""

    @pytest.mark.rule("B23.5", "D7")
    def test_no_result(self) -> None:
        """Prompt tokens of distinct responses; their output is not believed."""
        heard = stream(
            init(), says("a", usage(6, 1200, 18000, 2)), says("a", usage(6, 1200, 18000, 2))
        )
        assert reckon(heard, BASE) == Reckoning(
            usage=Usage(input=6, cache_creation=1200, cache_read=18000),
            cost_usd=None,
            basis=None,
            models_used=(),
            carry=BASE,
            mismatch=False,
        )

    def test_zeroed_result(self) -> None:
        """A crash that left its counters at zero after responses says nothing of the cost."""
        crash = result(0, {}, usage=usage(), is_error=True, num_turns=0)
        told = reckon(stream(init(), says("a", usage(50)), crash), BASE)
        assert (told.usage, told.cost_usd, told.basis) == (Usage(input=50), None, None)
        assert told.carry == BASE

    def test_told_to_be_nothing(self) -> None:
        """A good result that says that it cost nothing says so: nothing is not unknown."""
        for models in ({}, {MODEL: counted(0)}):
            told = reckon(stream(init(), says("a", usage(50)), result(0.0, models)), None)
            assert (told.cost_usd, told.basis) == (0.0, UsageBasis.FIRST)

    def test_nothing(self) -> None:
        """Where nothing was seen, nothing is known."""
        told = reckon(SILENT, None)
        assert (told.usage, told.cost_usd, told.carry) == (None, None, None)

    def test_refused_request(self) -> None:
        """A request that was refused before any response cost nothing, and that is known."""
        told = reckon(stream(result(0, {}, usage=usage(), is_error=True)), BASE)
        assert (told.usage, told.cost_usd, told.basis) == (Usage(), 0.0, UsageBasis.FRESH)
        assert told.carry == BASE

    def test_no_counters_but_a_cost(self) -> None:
        """A total without counters books the cost, and the tokens that were told or seen."""
        told = reckon(call(0.1, {}, 30, usage=usage(20, output=13)), None)
        assert (told.usage, told.cost_usd) == (Usage(input=30, output=13), 0.1)


@pytest.mark.rule("B23.1", "D7")
class TestLifetimes:
    """How long writes live is told by the counters, else by the responses, within the whole."""

    def test_counters(self) -> None:
        """The counters' own split is believed."""
        split = {
            "cacheCreationEphemeral1hInputTokens": 30,
            "cacheCreationEphemeral5mInputTokens": 9,
        }
        told = reckon(call(0.1, {MODEL: counted(1, 40) | split}), None).usage
        assert told is not None
        assert (told.cache_creation_1h, told.cache_creation_5m) == (30, 9)

    def test_responses(self) -> None:
        """Without it the responses tell, and never more than the whole."""
        split = {"ephemeral_1h_input_tokens": 30, "ephemeral_5m_input_tokens": 20}
        seen = says("a", usage(0, 50, cache_creation=split))
        for whole, expected in ((60, (30, 20)), (40, (30, 10)), (20, (20, 0))):
            told = reckon(stream(seen, result(0.1, {MODEL: counted(1, whole)})), None).usage
            assert told is not None
            assert (told.cache_creation_1h, told.cache_creation_5m) == expected


@pytest.mark.rule("B23.3", "D7")
class TestMismatch:
    """More prompt tokens seen than booked are a mismatch; fewer are subagents and helpers."""

    @pytest.mark.parametrize(("seen", "expected"), [(100, False), (101, True), (20, False)])
    def test_exceeds(self, seen: int, *, expected: bool) -> None:
        """Only what exceeds is one."""
        assert reckon(call(0.1, {MODEL: counted(100, output=7)}, seen), None).mismatch is expected


class TestLaws:
    """What holds for any call."""

    GIVEN = (COUNTS, COUNTS, COUNTS, st.sampled_from([OLD, NEW, UNKNOWN]))

    @settings(deadline=None)
    @given(*GIVEN)
    def test_law_within_bounds(self, prompt: int, written: int, seen: int, version: str) -> None:
        """A call used no less than nothing and no more than was counted, and its split is a part."""
        heard = call(prompt / 1000, {MODEL: counted(prompt, written)}, seen, version=version)
        told = reckon(heard, BASE)
        assert told.usage is not None
        assert 0 <= (told.cost_usd or 0) <= prompt / 1000
        assert told.cost_usd is None or told.usage.prompt <= prompt + written
        assert (
            told.usage.cache_creation_1h + told.usage.cache_creation_5m <= told.usage.cache_creation
        )

    @settings(deadline=None)
    @given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6))
    def test_law_a_chain_adds_up(self, added: list[int]) -> None:
        """Along a chain of carried calls, the costs add up to the last total."""
        before, total, costs = None, 0, []
        for more in added:
            total += more
            told = reckon(call(total / 10**6, {MODEL: counted(total)}, more), before)
            costs.append(told.cost_usd or 0.0)
            before = told.carry
        assert math.fsum(costs) == pytest.approx(total / 10**6, abs=1e-9)

    def test_reachability(self) -> None:
        """Both bases are reached, and lower bounds."""
        for basis in (UsageBasis.FRESH, UsageBasis.CARRIED, None):
            assert find(st.tuples(*self.GIVEN, st.booleans()), partial(self.is_on, basis))

    @staticmethod
    def is_on(basis: UsageBasis | None, drawn: tuple[int, int, int, str, bool]) -> bool:
        """Tell whether such a call is reckoned on a basis; one that crashed may be on none."""
        prompt, written, seen, version, crashed = drawn
        models = {MODEL: counted(prompt, written)}
        heard = call(prompt / 1000, models, seen, version=version, is_error=crashed)
        return reckon(heard, BASE).basis is basis
