"""What the recordings of three real clients conclude: each fed as the stream of a job."""

import itertools
from datetime import UTC, datetime

import pytest
from attrs import evolve

from forks_core.rules.cache import is_cold_start, warmth
from forks_core.rules.outcome import Conclusion, Imposed
from forks_events.values import Usage
from forks_events.words import Cache, ErrorKind, Flag, Reason, Status, UsageBasis, Warmth
from tests.claude.lines import every_recording
from tests.claude.recorded import (
    EACH,
    MIDDLE,
    NEW,
    OLD,
    before,
    cache,
    concluded,
    heard,
    lines,
    meta,
    reckoned,
)


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

    @EACH
    @pytest.mark.parametrize(("scenario", "turns"), TURNS)
    def test_ok(self, version: str, scenario: str, turns: int) -> None:
        """It is ok without a reason, an error kind or a flag."""
        assert concluded(version, scenario) == Conclusion(status=Status.OK)
        assert heard(version, scenario).turns == turns

    @EACH
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
        # 5, 25, 10 and 0.5 USD for a million tokens of input, output, writes and reads.
        (MIDDLE, "train", UsageBasis.FIRST, 0.139365),
        (MIDDLE, "fork", UsageBasis.FRESH, 0.0077465),
        (MIDDLE, "continue", UsageBasis.FRESH, 0.007779),
        (MIDDLE, "fork-cache-miss", UsageBasis.FRESH, 0.140015),
        (MIDDLE, "fork-cache-partial", UsageBasis.FRESH, 0.073648),
        (MIDDLE, "max-budget", UsageBasis.FIRST, 0.139625),
        (MIDDLE, "subagent", UsageBasis.FIRST, 0.491052),
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

    @pytest.mark.parametrize("version", [MIDDLE, OLD])
    def test_looks_carried(self, version: str) -> None:
        """An older client's miss has more of everything than its parent; the stream decides."""
        parent, call = before(version, "fork-cache-miss"), heard(version, "fork-cache-miss").peak
        assert parent is not None
        assert call is not None
        assert call.cost_usd > parent.cost_usd
        assert reckoned(version, "fork-cache-miss").basis is UsageBasis.FRESH

    @EACH
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

    SUBAGENTS = (
        (NEW, 3, 8, Usage(cache_creation=36830, cache_creation_1h=36830, cache_read=48368)),
        # Its counters do not tell lifetimes apart, and only the outermost subagent's are printed.
        (MIDDLE, 2, 11, Usage(cache_creation=46563, cache_creation_1h=20223, cache_read=44574)),
    )

    @pytest.mark.parametrize(("version", "turns", "responses", "cached"), SUBAGENTS)
    def test_subagents(self, version: str, turns: int, responses: int, cached: Usage) -> None:
        """The tokens of the whole tree are booked, once, also of a call with two results."""
        assert heard(version, "subagent").turns == turns
        told = evolve(cached, input=12 * responses, output=9 * responses)
        assert reckoned(version, "subagent").usage == told

    @EACH
    def test_subagents_are_ok(self, version: str) -> None:
        """A call with subagents is ok; the newest client gives a result more."""
        assert concluded(version, "subagent") == Conclusion(status=Status.OK)
        results = [line for line in lines(version, "subagent") if line["type"] == "result"]
        assert len(results) == (2 if version == NEW else 1)


class TestCache:
    """The first response tells whether the base's prefix was read."""

    @EACH
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
        (MIDDLE, "rejected-five-hour", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (OLD, "rejected-five-hour", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (NEW, "rejected-seven-day", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (MIDDLE, "rejected-seven-day", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (OLD, "rejected-seven-day", Reason.IS_ERROR, ErrorKind.RATE_LIMIT),
        (NEW, "restricted-model", Reason.MODEL_REFUSED, ErrorKind.MODEL),
        (MIDDLE, "restricted-model", Reason.MODEL_REFUSED, ErrorKind.MODEL),
        (NEW, "max-budget", Reason.IS_ERROR, ErrorKind.BUDGET),
        (MIDDLE, "max-budget", Reason.IS_ERROR, ErrorKind.BUDGET),
        (OLD, "max-budget", Reason.IS_ERROR, ErrorKind.BUDGET),
        (NEW, "auth-error", Reason.IS_ERROR, ErrorKind.AUTH),
        (MIDDLE, "auth-error", Reason.IS_ERROR, ErrorKind.AUTH),
        (NEW, "resume-unknown-session", Reason.IS_ERROR, ErrorKind.SESSION_MISSING),
        (MIDDLE, "resume-unknown-session", Reason.IS_ERROR, ErrorKind.SESSION_MISSING),
        (OLD, "resume-unknown-session", Reason.EXIT_CODE, ErrorKind.SESSION_MISSING),
        (NEW, "session-id-in-use", Reason.EXIT_CODE, ErrorKind.STARTUP),
        (MIDDLE, "session-id-in-use", Reason.EXIT_CODE, ErrorKind.STARTUP),
        (OLD, "session-id-in-use", Reason.EXIT_CODE, ErrorKind.STARTUP),
    )

    @pytest.mark.parametrize(("version", "scenario", "reason", "kind"), ENDS)
    def test_failed(self, version: str, scenario: str, reason: Reason, kind: ErrorKind) -> None:
        """Status, reason and error kind are the table's, and nothing is flagged."""
        end = concluded(version, scenario)
        assert (end.status, end.reason, end.error_kind) == (Status.FAILED, reason, kind)
        assert end.flags == ()

    @pytest.mark.parametrize("scenario", ["rejected-five-hour", "rejected-seven-day"])
    @EACH
    def test_rejected(self, version: str, scenario: str) -> None:
        """A refused request is no turn, says nothing of the cache and costs nothing."""
        assert (heard(version, scenario).turns, cache(version, scenario)) == (0, None)
        assert reckoned(version, scenario).cost_usd == 0.0

    @EACH
    @pytest.mark.parametrize("scenario", ["rejected-five-hour", "rejected-seven-day"])
    def test_reset(self, version: str, scenario: str) -> None:
        """When the window ends is told by its reading; the old client has it in words only."""
        readings = [line for line in lines(version, scenario) if line["type"] == "rate_limit_event"]
        told = [reading["rate_limit_info"]["resetsAt"] for reading in readings]
        assert len(told) == (0 if version == OLD else 1)
        expected = datetime.fromtimestamp(told[0], UTC) if told else None
        assert concluded(version, scenario).resets_at == expected

    def test_budget_is_an_error(self) -> None:
        """The old client says that it is none, and exits with 0."""
        result = heard(OLD, "max-budget").result
        assert result is not None
        assert (result.is_error, meta(OLD, "max-budget")["exit_code"]) == (False, 0)
        for version in (NEW, MIDDLE):
            result = heard(version, "max-budget").result
            assert result is not None
            assert (result.is_error, meta(version, "max-budget")["exit_code"]) == (True, 1)


class TestKilled:
    """A client that was killed gave no result: the one who killed it says how it ended."""

    @pytest.mark.parametrize(
        ("version", "scenario"),
        [
            *itertools.product((NEW, MIDDLE, OLD), ("killed", "overloaded-killed")),
            (OLD, "auth-error"),
        ],
    )
    @pytest.mark.parametrize("status", [Status.KILLED, Status.TIMEOUT])
    def test_imposed(self, version: str, scenario: str, status: Status) -> None:
        """The status is theirs; the cost is unknown, which is not zero."""
        end = concluded(version, scenario, Imposed(status=status, detail="told"))
        assert end == Conclusion(status=status, detail="told")
        assert reckoned(version, scenario).cost_usd is None

    @pytest.mark.parametrize("version", [NEW, MIDDLE])
    def test_retries_are_heard(self, version: str) -> None:
        """A client of 2.1 announces its retries, each for twice as long, a quarter more at most."""
        retried = heard(version, "overloaded-killed").retried
        assert retried is not None
        assert (retried.attempt, retried.error_status) == (5, 529)
        told = lines(version, "overloaded-killed")[-1]["retry_delay_ms"]
        assert 8000 <= told <= 10_000
        assert retried.delay_ms == int(told)

    def test_retries_in_silence(self) -> None:
        """The old client is silent meanwhile."""
        assert heard(OLD, "overloaded-killed").retried is None


def test_every_recording_is_concluded() -> None:
    """No recording is left out, and none raises."""
    paths = every_recording()
    assert len(paths) >= 3 * 23
    for path in paths:
        assert concluded(path.parent.name, path.stem).status in Status
