"""What the recordings of two real clients conclude: each fed as the stream of a job."""

from datetime import UTC, datetime

import pytest

from forks_core.rules.cache import is_cold_start, warmth
from forks_core.rules.outcome import Conclusion, Imposed
from forks_events.values import Usage
from forks_events.words import Cache, ErrorKind, Flag, Reason, Status, UsageBasis, Warmth
from tests.claude.lines import every_recording
from tests.claude.recorded import BOTH, NEW, OLD, before, cache, concluded, heard, meta, reckoned


class TestGoodCalls:
    """A call that did its work is ok, with one turn for each distinct response."""

    TURNS = (
        ("train", 1),
        ("tools", 4),
        ("big-output", 2),
        ("bad-utf8", 2),
        ("partial-messages", 1),
        ("leftover-child", 2),
        ("fork", 1),
        ("continue", 1),
        ("quota-warning", 1),
        ("quota-over-stop", 1),
    )

    @BOTH
    @pytest.mark.parametrize(("scenario", "turns"), TURNS)
    def test_ok(self, version: str, scenario: str, turns: int) -> None:
        """It is ok without a reason, an error kind or a flag."""
        assert concluded(version, scenario) == Conclusion(status=Status.OK)
        assert heard(version, scenario).turns == turns

    @BOTH
    def test_denied(self, version: str) -> None:
        """A denied tool is ok too, and needs attention."""
        expected = Conclusion(status=Status.OK, flags=(Flag.NEEDS_ATTENTION,))
        assert concluded(version, "denied") == expected
        assert heard(version, "denied").denials == ("Bash",)

    def test_restricted_model_ignored(self) -> None:
        """The old client ignores the restriction and runs what was asked for."""
        assert concluded(OLD, "restricted-model") == Conclusion(status=Status.OK)


class TestUsage:
    """A call is booked what it used itself, whatever its client carries on."""

    COSTS = (
        (NEW, "train", UsageBasis.FIRST, 0.157755),
        (NEW, "fork", UsageBasis.CARRIED, 0.008666),
        (NEW, "continue", UsageBasis.CARRIED, 0.0086985),
        (NEW, "fork-cache-miss", UsageBasis.CARRIED, 0.158405),
        (NEW, "fork-cache-partial", UsageBasis.CARRIED, 0.083298),
        (NEW, "max-budget", UsageBasis.FIRST, 0.158015),
        (NEW, "subagent", UsageBasis.FIRST, 0.394764),
        (OLD, "train", UsageBasis.FIRST, 0.05206),
        (OLD, "fork", UsageBasis.FRESH, 0.01041875),
        (OLD, "continue", UsageBasis.FRESH, 0.01043675),
        (OLD, "fork-cache-miss", UsageBasis.FRESH, 0.05802875),
        (OLD, "fork-cache-partial", UsageBasis.FRESH, 0.0315983),
        (OLD, "max-budget", UsageBasis.FIRST, 0.05222875),
    )

    @pytest.mark.parametrize(("version", "scenario", "basis", "cost"), COSTS)
    def test_cost(self, version: str, scenario: str, basis: UsageBasis, cost: float) -> None:
        """Basis and cost are exact."""
        call = reckoned(version, scenario)
        assert (call.basis, call.cost_usd, call.mismatch) == (basis, cost, False)

    def test_tokens_of_the_carried_fork(self) -> None:
        """The fork's tokens are the difference, with the lifetime of its writes."""
        expected = Usage(
            input=12, output=9, cache_creation=50, cache_creation_1h=50, cache_read=15762
        )
        assert reckoned(NEW, "fork").usage == expected

    def test_looks_carried(self) -> None:
        """The old client's miss has more of everything than its parent; the stream decides."""
        parent, call = before(OLD, "fork-cache-miss"), heard(OLD, "fork-cache-miss").peak
        assert parent is not None
        assert call is not None
        assert call.cost_usd > parent.cost_usd
        assert reckoned(OLD, "fork-cache-miss").basis is UsageBasis.FRESH

    @BOTH
    def test_budget_tokens(self, version: str) -> None:
        """Over the budget the result's own usage is zero, and the counters are right."""
        result, usage = heard(version, "max-budget").result, reckoned(version, "max-budget").usage
        assert result is not None
        assert usage is not None
        assert (result.usage, usage.output) == (Usage(), 9)
        assert usage.cache_creation > 8000

    def test_helpers_are_booked(self) -> None:
        """The old client's helper models are part of the call."""
        assert len(reckoned(OLD, "fork").models_used) == 3

    def test_subagents(self) -> None:
        """Two results of one call are booked once, with the tokens of the whole tree."""
        call = heard(NEW, "subagent")
        usage = reckoned(NEW, "subagent").usage
        assert call.turns == 3
        assert usage == Usage(
            input=96,
            output=72,
            cache_creation=36830,
            cache_creation_1h=36830,
            cache_read=48368,
        )
        assert concluded(NEW, "subagent") == Conclusion(status=Status.OK)
        assert concluded(OLD, "subagent") == Conclusion(status=Status.OK)


class TestCache:
    """The first response tells whether the base's prefix was read."""

    @BOTH
    @pytest.mark.parametrize(
        ("scenario", "expected"),
        [
            ("fork", Cache.HIT),
            ("fork-cache-miss", Cache.MISS),
            ("fork-cache-partial", Cache.PARTIAL),
        ],
    )
    def test_verdict(self, version: str, scenario: str, expected: Cache) -> None:
        """A miss and a partial hit of a warm base are cold starts, and the job is ok."""
        told = cache(version, scenario)
        noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
        base_state, _ = warmth(noon, 3600, noon)
        assert (told, base_state) == (expected, Warmth.WARM)
        assert is_cold_start(base_state, told, ()) is (expected is not Cache.HIT)
        assert concluded(version, scenario) == Conclusion(status=Status.OK)


class TestFailures:
    """What went wrong is told by the stream, the exit and standard error together."""

    ENDS = (
        (NEW, "rejected-five-hour", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (OLD, "rejected-five-hour", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (NEW, "rejected-seven-day", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (OLD, "rejected-seven-day", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (NEW, "restricted-model", Reason.MODEL_REFUSED, ErrorKind.MODEL),
        (NEW, "max-budget", Reason.IS_ERROR, ErrorKind.BUDGET),
        (OLD, "max-budget", Reason.IS_ERROR, ErrorKind.BUDGET),
        (NEW, "auth-error", Reason.IS_ERROR, ErrorKind.AUTH),
        (NEW, "resume-unknown-session", Reason.IS_ERROR, ErrorKind.SESSION_MISSING),
        (OLD, "resume-unknown-session", Reason.EXIT_CODE, ErrorKind.SESSION_MISSING),
        (NEW, "session-id-in-use", Reason.EXIT_CODE, ErrorKind.STARTUP),
        (OLD, "session-id-in-use", Reason.EXIT_CODE, ErrorKind.STARTUP),
    )

    @pytest.mark.parametrize(("version", "scenario", "reason", "kind"), ENDS)
    def test_failed(self, version: str, scenario: str, reason: Reason, kind: ErrorKind) -> None:
        """Status, reason and error kind are the table's, and nothing is flagged."""
        end = concluded(version, scenario)
        assert (end.status, end.reason, end.error_kind) == (Status.FAILED, reason, kind)
        assert end.flags == ()

    @pytest.mark.parametrize("scenario", ["rejected-five-hour", "rejected-seven-day"])
    @BOTH
    def test_rejected(self, version: str, scenario: str) -> None:
        """A refused request is no turn, says nothing of the cache and costs nothing."""
        assert (heard(version, scenario).turns, cache(version, scenario)) == (0, None)
        assert reckoned(version, scenario).cost_usd == 0.0

    def test_reset(self) -> None:
        """The new client tells when the window ends; the old one has it in words only."""
        expected = datetime(2026, 11, 30, 15, 30, 49, tzinfo=UTC)
        assert concluded(NEW, "rejected-five-hour").resets_at == expected
        assert concluded(OLD, "rejected-five-hour").resets_at is None

    def test_budget_is_an_error(self) -> None:
        """The old client says that it is none, and exits with 0."""
        result = heard(OLD, "max-budget").result
        assert result is not None
        assert (result.is_error, meta(OLD, "max-budget")["exit_code"]) == (False, 0)


class TestKilled:
    """A client that was killed gave no result: the one who killed it says how it ended."""

    @BOTH
    @pytest.mark.parametrize("scenario", ["killed", "overloaded-killed"])
    @pytest.mark.parametrize("status", [Status.KILLED, Status.TIMEOUT])
    def test_imposed(self, version: str, scenario: str, status: Status) -> None:
        """The status is theirs; the cost is unknown, which is not zero."""
        end = concluded(version, scenario, Imposed(status=status, detail="told"))
        assert end == Conclusion(status=status, detail="told")
        assert reckoned(version, scenario).cost_usd is None

    def test_retries_are_heard(self) -> None:
        """The new client announces its retries; the old one is silent."""
        retried = heard(NEW, "overloaded-killed").retried
        assert retried is not None
        assert (retried.attempt, retried.delay_ms, retried.error_status) == (5, 9520, 529)
        assert heard(OLD, "overloaded-killed").retried is None


def test_every_recording_is_concluded() -> None:
    """No recording is left out, and none raises."""
    paths = every_recording()
    assert len(paths) >= 40
    for path in paths:
        assert concluded(path.parent.name, path.stem).status in Status
