"""What went wrong, told by fields and by words."""

from datetime import UTC, datetime

import pytest

from forks_core.claude.errors import Signs, classify, classify_stderr, limit_ends
from forks_events.words import ErrorKind as E

SEEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
LIMITS = [
    "Claude AI usage limit reached|1753077600",
    "5-hour limit reached ∙ resets 5:30am",
    "7-day limit reached · resets Aug 3",
    "You've hit your limit · resets 2pm (America/Toronto)",
    "You've hit your session limit · resets 4:20am (Europe/Warsaw)",
    "You've hit your 5-hour limit · resets 3:30pm (UTC)",
    "You\N{RIGHT SINGLE QUOTATION MARK}ve hit your weekly limit · resets Aug 3, 7am (Europe/Zurich)",
    "You've hit your Opus limit · resets 3:45pm",
    "You're out of extra usage · resets 11:30am (Asia/Colombo)",
    "spend limit reached (daily; resets 2026-08-09 00:00 UTC)",
    "You have reached your specified API usage limits.",
    "Your organization has reached its monthly usage limit",
    "API Error: Request rejected (429)",
    "API Error: 429 Too Many Requests",
    'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"x"}}',
]
NO_LIMITS = [
    "You've used 91% of your weekly limit · resets 7am",
    "You're close to your session limit",
    "Approaching usage limit · resets at 7pm",
    "You're now using usage credits · Your weekly limit resets 7am",
    "Something about limits in general",
    "Error: memory limit exceeded",
    "worker: memory limit reached",
    "The process has exceeded its memory limit",
    "Recursion limit reached",
    "Time limit exceeded",
    "Step limit reached",
    "Cost limit reached ($0.50)",
    "API Error: 400 image limit exceeded",
    "",
]
WORDS = [
    ("No conversation found with session ID: S9", E.SESSION_MISSING),
    ("API Error: Repeated 529 Overloaded errors", E.OVERLOADED),
    ("API Error: 500 Internal server error", E.OVERLOADED),
    ("API Error: 503 Service Unavailable", E.OVERLOADED),
    ("Failed to authenticate. API Error: 401 invalid token", E.AUTH),
    ("Invalid API key · Please run /login", E.AUTH),
    ("OAuth token has expired", E.AUTH),
    ("Credit balance is too low", E.BILLING),
    ("Reached maximum budget ($0.5)", E.BUDGET),
    ("Reached maximum number of turns (30)", E.TURNS),
    ("Failed to provide valid structured output after 5 attempts", E.SCHEMA),
    ("Prompt is too long", E.CONTEXT),
    ("Conversation too long", E.CONTEXT),
    ("Context limit reached · /compact or /clear to continue", E.CONTEXT),
    ("input length and `max_tokens` exceed context limit: 190000 + 21333", E.CONTEXT),
    (
        "API Error: unable to respond to this request, which appears to violate our Usage Policy",
        E.REFUSAL,
    ),
    ("There's an issue with the selected model (claude-x). It may not exist", E.MODEL),
    ('Model "claude-x" is restricted by your organization\'s settings.', E.MODEL),
    ("API Error: Connection error.", E.NETWORK),
    ("Unable to connect to API (ECONNREFUSED)", E.NETWORK),
    ("fetch failed", E.NETWORK),
    ("Something broke", None),
]
FIELDS = [
    (Signs(subtype="error_max_turns"), E.TURNS),
    (Signs(subtype="error_max_budget_usd"), E.BUDGET),
    (Signs(subtype="error_max_structured_output_retries"), E.SCHEMA),
    (Signs(subtype="error_during_execution"), None),
    (Signs(terminal_reason="budget_exhausted"), E.BUDGET),
    (Signs(terminal_reason="max_turns"), E.TURNS),
    (Signs(terminal_reason="structured_output_retry_exhausted"), E.SCHEMA),
    (Signs(terminal_reason="prompt_too_long"), E.CONTEXT),
    (Signs(terminal_reason="blocking_limit"), E.CONTEXT),
    (Signs(terminal_reason="rapid_refill_breaker"), E.CONTEXT),
    (Signs(terminal_reason="api_error"), E.NETWORK),
    (Signs(terminal_reason="api_error", api_error_status=400), None),
    (Signs(api_error_status=401), E.AUTH),
    (Signs(api_error_status=402), E.BILLING),
    (Signs(api_error_status=403), E.AUTH),
    (Signs(api_error_status=413), E.CONTEXT),
    (Signs(api_error_status=429), E.RATE_LIMIT),
    (Signs(api_error_status=500), E.OVERLOADED),
    (Signs(api_error_status=529), E.OVERLOADED),
    (Signs(assistant_error="rate_limit"), E.RATE_LIMIT),
    (Signs(assistant_error="overloaded"), E.OVERLOADED),
    (Signs(assistant_error="server_error"), E.OVERLOADED),
    (Signs(assistant_error="authentication_failed"), E.AUTH),
    (Signs(assistant_error="oauth_org_not_allowed"), E.AUTH),
    (Signs(assistant_error="account_on_hold"), E.AUTH),
    (Signs(assistant_error="billing_error", api_error_status=403), E.BILLING),
    (Signs(assistant_error="model_not_found", api_error_status=404), E.MODEL),
    (Signs(assistant_error="unknown"), None),
    (Signs(refused=True), E.REFUSAL),
    (Signs(startup_failure=True, api_error_status=401), E.STARTUP),
    (Signs(rejected=True, api_error_status=401), E.RATE_LIMIT),
]
STDERR = [
    ("Error: Session ID e829863e is already in use.", E.STARTUP),
    ("error: unknown option '--frobnicate'", E.STARTUP),
    ("error: option '--model <model>' argument missing", E.STARTUP),
    ("Error: --session-id can only be used with --continue or --resume", E.STARTUP),
    ("Error: Invalid MCP configuration:\nfile not found: x.json", E.STARTUP),
    ("Error: Settings file not found: /x.json", E.STARTUP),
    ("--dangerously-skip-permissions cannot be used with root/sudo privileges", E.STARTUP),
    ("Error: Input must be provided either through stdin", E.STARTUP),
    ("No conversation found with session ID: f5ea9c73\n", E.SESSION_MISSING),
    ("Invalid API key · Please run /login", E.AUTH),
    ("You've hit your weekly limit", E.RATE_LIMIT),
    ("(node:12) ExperimentalWarning: x", None),
    ("", None),
]


@pytest.mark.rule("E6", "D14")
class TestLimitTexts:
    """A limit that was hit is told in many wordings; warnings and news of credits are no limit."""

    @pytest.mark.parametrize("text", LIMITS)
    def test_hit(self, text: str) -> None:
        """Each wording is a limit, whatever follows it."""
        assert classify(text) is E.RATE_LIMIT

    @pytest.mark.parametrize("text", NO_LIMITS)
    def test_not_hit(self, text: str) -> None:
        """None of these is any error at all."""
        assert classify(text) is None


class TestWords:
    """Where no field tells, the error's words do."""

    @pytest.mark.parametrize(("text", "kind"), WORDS)
    def test_told(self, text: str, kind: E | None) -> None:
        """The words tell what it is about, or nothing."""
        assert classify(text) is kind


@pytest.mark.rule("D14")
class TestFields:
    """Fields are believed before words."""

    @pytest.mark.parametrize(("signs", "kind"), FIELDS)
    def test_told(self, signs: Signs, kind: E | None) -> None:
        """Without words the fields tell."""
        assert classify("", signs) is kind

    def test_against_words(self) -> None:
        """A status is not talked over."""
        assert classify("fetch failed", Signs(api_error_status=529)) is E.OVERLOADED

    @pytest.mark.parametrize(
        ("text", "kind"),
        [("No conversation found", E.SESSION_MISSING), ("You've hit your limit", E.RATE_LIMIT)],
    )
    def test_what_only_words_tell(self, text: str, kind: E) -> None:
        """A missing session and a limit are told by words on some versions, and go first."""
        assert classify(text, Signs(subtype="error_max_turns")) is kind

    def test_every_kind_is_told(self) -> None:
        """All kinds are reached but the two that need more than an error."""
        told = {kind for _, kind in (*WORDS, *STDERR)} | {kind for _, kind in FIELDS}
        assert set(E) - told == {E.NO_WORK, E.OTHER}


@pytest.mark.rule("D14")
class TestStandardError:
    """A client that cannot start says why on standard error."""

    @pytest.mark.parametrize(("text", "kind"), STDERR)
    def test_told(self, text: str, kind: E | None) -> None:
        """Complaints are told apart; mere warnings are none."""
        assert classify_stderr(text) is kind


@pytest.mark.rule("D14")
class TestLimitEnds:
    """When a limit ends is read where its text tells the whole date."""

    def test_epoch(self) -> None:
        """Old texts end in epoch seconds."""
        expected = datetime(2025, 7, 21, 6, tzinfo=UTC)
        assert limit_ends("Claude AI usage limit reached|1753077600", None) == expected

    def test_date(self) -> None:
        """A gateway tells the date in UTC."""
        expected = datetime(2026, 8, 9, tzinfo=UTC)
        assert (
            limit_ends("spend limit reached (daily; resets 2026-08-09 00:00 UTC)", None) == expected
        )

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("resets 3:30pm (UTC)", datetime(2026, 11, 30, 15, 30, tzinfo=UTC)),
            ("resets 12pm (utc)", datetime(2026, 11, 30, 12, tzinfo=UTC)),
            ("resets 12am (UTC)", datetime(2026, 12, 1, tzinfo=UTC)),
            ("resets at 7am (UTC)", datetime(2026, 12, 1, 7, tzinfo=UTC)),
            ("resets 11:57am (UTC)", datetime(2026, 11, 30, 11, 57, tzinfo=UTC)),
            ("resets 11:54am (UTC)", datetime(2026, 12, 1, 11, 54, tzinfo=UTC)),
            ("resets Dec 2, 9:05pm (UTC)", datetime(2026, 12, 2, 21, 5, tzinfo=UTC)),
            ("resets December 2 at 9pm (UTC)", datetime(2026, 12, 2, 21, tzinfo=UTC)),
            # That August is the next one.
            ("resets Aug 3, 7am (UTC)", datetime(2027, 8, 3, 7, tzinfo=UTC)),
        ],
    )
    def test_clock(self, text: str, expected: datetime) -> None:
        """An hour in UTC is the next such hour after it was told; a day of a month, the next."""
        assert limit_ends(f"You've hit your limit · {text}", SEEN) == expected
        assert limit_ends(f"You've hit your limit · {text}", None) is None

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "resets 5:30am",
            "resets 2026-13-41 00:00 UTC",
            "resets 2026-08-09 00:00 CET",
            "resets 13pm (UTC)",
            "resets 0am (UTC)",
            "resets 3:61pm (UTC)",
            "resets Feb 30, 7am (UTC)",
            "resets 7am (Europe/Warsaw)",
        ],
    )
    def test_unknown(self, text: str) -> None:
        """An hour without a zone or of another one, and an impossible date, tell nothing."""
        assert limit_ends(text, SEEN) is None
