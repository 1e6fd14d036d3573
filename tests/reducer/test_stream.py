"""How a stream moves."""

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from forks_core.claude.stream import EPOCH
from forks_core.reducer.stream import summed
from forks_core.registry import SILENT, Stream
from forks_events.quota import QuotaRead
from forks_events.values import Usage
from tests.claude.lines import (
    MODEL,
    banner,
    calls,
    counted,
    events,
    failure,
    fold,
    init,
    result,
    says,
    stream,
    system,
    usage,
)

RETRY = system("api_retry", attempt=1, retry_delay_ms=5)
CRASH = {"usage": usage(), "subtype": "error_during_execution", "is_error": True}
LINES = st.lists(
    st.sampled_from(
        [
            init(),
            says("A", usage(10, 3, 2)),
            says("B", usage(5), parent="t"),
            says("C", usage(7)),
            RETRY,
            system("informational", model_restriction={"requested_model": "x"}),
            result(0.1, {MODEL: counted(10)}),
            result(0.3, {MODEL: counted(20), "haiku": counted(1)}, num_turns=2),
            result(0.2, {}, num_turns=0),
            result(0, {}, **CRASH),
            failure(permission_denials=[{"tool_name": "Bash"}]),
        ]
    ),
    max_size=8,
)


def tokens(heard: Stream) -> int:
    """Count what the peak holds."""
    return sum(of.usage.prompt for of in heard.peak.models.values()) if heard.peak else 0


@pytest.mark.rule("B22.3", "D16")
class TestTurns:
    """Turns, the first and the last response are the main thread's; what was seen is everybody's."""

    def test_main_only(self) -> None:
        """A subagent's response is seen and is no turn."""
        heard = stream(
            says("A", usage(1, 2, 3)), says("B", usage(10), parent="t"), says("C", usage(5))
        )
        assert heard.turns == 2
        assert heard.first is not None
        assert heard.last is not None
        assert heard.first.usage == Usage(input=1, cache_creation=2, cache_read=3)
        assert heard.last.usage == Usage(input=5)
        assert heard.seen_in_all == Usage(input=16, cache_creation=2, cache_read=3)

    def test_banner(self) -> None:
        """The client's own banner leaves no trace."""
        assert stream(banner("rate_limit")) == SILENT


class TestHeard:
    """Every event is counted, and its time kept."""

    def test_count(self) -> None:
        """Three events, and the time of the last."""
        heard = stream(init(), says(), result())
        assert (heard.heard, heard.heard_at) == (3, EPOCH)

    @settings(deadline=None)
    @given(LINES)
    def test_law_count(self, lines: list[dict[str, object]]) -> None:
        """As many are heard as there were, and step by step is the same as at once."""
        told = events(*lines)
        heard = SILENT
        for event in told:
            heard = summed((event,), heard)
        assert heard.heard == sum(not isinstance(event, QuotaRead) for event in told)
        assert heard == fold(told)


class TestRetried:
    """An announced retry holds until a response or a result follows."""

    def test_over(self) -> None:
        """Either ends it, a subagent's response too."""
        assert stream(RETRY).retried is not None
        assert stream(RETRY, says()).retried is None
        assert stream(RETRY, calls("t2", parent="t1")).retried is None
        assert stream(RETRY, failure()).retried is None


@pytest.mark.rule("B22.4")
class TestResult:
    """The last result wins, but a later one that is no real turn never replaces a real one."""

    def test_last_wins(self) -> None:
        """A second turn's result, good or not, is the result."""
        heard = stream(result(0.1), result(0.2, num_turns=2))
        assert heard.result is not None
        assert heard.result.num_turns == 2
        assert heard.first_result is not None
        assert heard.first_result.num_turns == 1
        failed = stream(result(0.1), failure(total_cost_usd=0.1)).result
        assert failed is not None
        assert failed.is_error

    def test_note_of_a_background_task(self) -> None:
        """A result without a turn only tells of a task."""
        heard = stream(result(0.1, num_turns=3), result(0.1, num_turns=0, result="noted"))
        assert heard.result is not None
        assert heard.result.num_turns == 3

    def test_crash(self) -> None:
        """Zeroed usage with a lower cost is no turn, also where the cost is not told."""
        for cost in (0, None):
            heard = stream(result(0.1, num_turns=3), result(cost, {}, **CRASH))
            assert heard.result is not None
            assert not heard.result.is_error

    def test_note_first(self) -> None:
        """A note that came first gives way to anything."""
        heard = stream(result(0.1, num_turns=0), result(0, {}, **CRASH))
        assert heard.result is not None
        assert heard.result.is_error

    def test_over_the_budget(self) -> None:
        """Zeroed usage with a cost that grew is a turn."""
        over = result(0.5, usage=usage(), subtype="error_max_budget_usd")
        heard = stream(result(0.1, num_turns=3), over)
        assert heard.result is not None
        assert heard.result.subtype == "error_max_budget_usd"

    def test_killed_work(self) -> None:
        """Work that was given up on stays known, whichever result told of it."""
        note = result(0.1, num_turns=0, subagent_stats={"killed": {"system": 2}})
        heard = stream(result(0.1, num_turns=3), note)
        assert heard.result is not None
        assert (heard.result.num_turns, heard.result.killed_work) == (3, 2)

    def test_succeeded(self) -> None:
        """Some real result was good."""
        assert stream(result(), failure(total_cost_usd=0.1)).succeeded
        assert not stream(failure()).succeeded
        assert not stream(result(num_turns=0)).succeeded
        assert not stream(result(subtype="error_max_budget_usd")).succeeded


class TestPeak:
    """Counters only grow: per model the largest of each, and the largest cost, whatever comes later."""

    def test_largest(self) -> None:
        """Each field has its own peak."""
        one = result(0.2, {MODEL: counted(5, 9)})
        two = result(0.1, {MODEL: counted(7, 1), "haiku": counted(1)})
        peak = stream(one, two).peak
        assert peak is not None
        assert peak.cost_usd == 0.2
        assert peak.models[MODEL].usage == Usage(input=7, cache_creation=9)
        assert peak.models["haiku"].usage == Usage(input=1)

    def test_without_a_cost(self) -> None:
        """A result without a total has no counters to keep."""
        assert stream(result(None)).peak is None

    @settings(deadline=None)
    @given(LINES, LINES)
    def test_law_never_lowered(
        self, some: list[dict[str, object]], more: list[dict[str, object]]
    ) -> None:
        """More lines never lower anything that was counted."""
        before, after = stream(*some), stream(*some, *more)
        assert tokens(after) >= tokens(before)
        assert (after.peak.cost_usd if after.peak else 0) >= (
            before.peak.cost_usd if before.peak else 0
        )
        assert after.turns >= before.turns
        assert len(after.denials) >= len(before.denials)

    def test_reachability(self) -> None:
        """Lines that try to lower the peak are among the drawn ones."""
        assert find(
            LINES,
            lambda lines: (
                (heard := stream(*lines)).peak is not None
                and heard.peak.cost_usd == 0.3
                and heard.heard > 2
                and bool(heard.denials)
            ),
        )


@pytest.mark.rule("D16")
class TestDenials:
    """Denials are united over all results, and a list that repeats itself counts once."""

    def test_united(self) -> None:
        """Per tool the largest number holds."""
        bash, write = {"tool_name": "Bash"}, {"tool_name": "Write"}
        heard = stream(
            result(permission_denials=[bash]),
            result(permission_denials=[bash, bash, write]),
            result(permission_denials=[write]),
        )
        assert sorted(heard.denials) == ["Bash", "Bash", "Write"]
