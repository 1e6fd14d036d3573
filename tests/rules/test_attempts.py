"""What an attempt came to, whether it is tried again, and whether its work is right."""

from datetime import timedelta
from typing import Any

import pytest

from forks_core.rules.attempts import (
    infra_kind,
)
from forks_core.rules.outcome import Imposed
from forks_events.study import Attempts
from forks_events.trials import InfraKind
from forks_events.words import ErrorKind, Reason, Status
from tests.claude.lines import Line, failure, init, limit, result, says
from tests.fates import FIVE_HOUR_RESET_S, LOST, Told, failed, fate, told
from tests.studies import opened, tried, went

TRIAL = "MB-01-r1-plain"
REJECTED = limit("rejected")
UNCONNECTED: Line = init(mcp_servers=[{"name": "db", "status": "failed"}])
LIMITS = Attempts(overloaded=4, other=2, auth=2)
RATE, OVER, AUTH = InfraKind.RATE_LIMIT, InfraKind.OVERLOADED, InfraKind.AUTH
MCP, CRASH, OURS = InfraKind.MCP_START, InfraKind.CLIENT_CRASH, InfraKind.RUNNER


def kind_of(call: Told) -> InfraKind | None:
    """What failed of the infrastructure, when a call goes like this."""
    return infra_kind(went(call))


def error(text: str, status: int | None = None, *before: Line, **fields: Any) -> Told:
    """A call that ends with an error of the service."""
    return told(*(before or (init(),)), failed(text, status), exit_code=1, **fields)


@pytest.mark.rule("R3.1")
class TestInfraKinds:
    """What has nothing to do with the arm."""

    @pytest.mark.parametrize(
        ("call", "kind"),
        [
            pytest.param(told(init(), REJECTED), RATE, id="a refused window and no result"),
            pytest.param(told(init(), REJECTED, failure()), RATE, id="and an error"),
            pytest.param(error("?", 429), RATE, id="429"),
            pytest.param(error("You've hit your session limit"), RATE, id="words of a limit"),
            *(
                pytest.param(error("?", status), OVER, id=str(status))
                for status in (500, 502, 503, 504, 529)
            ),
            pytest.param(error("Overloaded"), OVER, id="words of overload"),
            pytest.param(error("?", 401), AUTH, id="401"),
            pytest.param(error("?", 403), AUTH, id="403"),
            pytest.param(error("Please run /login"), AUTH, id="words of authentication"),
            pytest.param(told(UNCONNECTED, says(), result()), MCP, id="a server did not connect"),
            pytest.param(told(exit_code=1), CRASH, id="no introduction"),
            pytest.param(told(init(), imposed=LOST, exit_code=None), OURS, id="lost"),
        ],
    )
    def test_each(self, call: Told, kind: InfraKind) -> None:
        """Each kind has its signs."""
        assert kind_of(call) is kind

    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (429, RATE),
            *((status, OVER) for status in (500, 502, 503, 504, 529)),
            *((status, AUTH) for status in (401, 403)),
        ],
    )
    def test_a_status_whatever_the_words(self, status: int, kind: InfraKind) -> None:
        """A status says it, also where the words are about something else."""
        assert kind_of(error("No conversation found", status)) is kind
        assert kind_of(error("No conversation found")) is None

    @pytest.mark.parametrize(
        "name", ["ok", "wrong", "broken check", "timeout", "turns", "budget", "slow", "full"]
    )
    def test_none(self, name: str) -> None:
        """To be done, wrong, or out of turns, money or time is no failure of infrastructure."""
        assert kind_of(fate(name, opened().now)) is None

    @pytest.mark.parametrize(
        ("reason", "kind"),
        [
            (Reason.SUPERVISOR_DEAD, OURS),
            (Reason.SUPERVISOR_ERROR, OURS),
            (Reason.SPAWN_FAILED, OURS),
            (Reason.LAUNCH_ERROR, OURS),
            (Reason.ORPHANED, OURS),
            (Reason.KILL, OURS),
            (Reason.EXPIRE, OURS),
        ],
    )
    @pytest.mark.parametrize("lines", [(), (init(),)], ids=["silent", "introduced"])
    def test_ours(self, reason: Reason, kind: InfraKind, lines: tuple[Line, ...]) -> None:
        """What we failed at is ours, also when the client had no time to introduce itself."""
        imposed = Imposed(status=Status.FAILED, reason=reason)
        assert kind_of(Told(lines=lines, exit_code=None, imposed=imposed)) is kind

    def test_ours_and_yet_done(self) -> None:
        """A supervisor that died behind a good result took nothing away."""
        assert kind_of(told(init(), says(), result(), imposed=LOST, exit_code=None)) is None


SIGNS = ("window", "limit status", "limit words", "overload", "auth", "mcp", "ours")
KINDS = dict(zip(SIGNS, (RATE, RATE, RATE, OVER, AUTH, MCP, OURS), strict=True))
STATUS = {"limit status": 429, "overload": 529, "auth": 401}
WORDS = {
    "limit words": "You've hit your weekly limit.",
    "overload": "Overloaded.",
    "auth": "Invalid API key.",
}


def with_signs(*signs: str) -> Told:
    """A call with these signs; of two statuses it has the first, of words all."""
    status = next((STATUS[sign] for sign in signs if sign in STATUS), None)
    words = " ".join(WORDS[sign] for sign in signs if sign in WORDS)
    lines = [
        UNCONNECTED if "mcp" in signs else init(),
        *([REJECTED] if "window" in signs else []),
        *([failed(words, status)] if words or status else []),
    ]
    imposed = LOST if "ours" in signs else None
    return told(*lines, exit_code=None if imposed else 1, imposed=imposed)


@pytest.mark.rule("R3.1")
class TestPrecedence:
    """The first kind that holds counts."""

    @pytest.mark.parametrize("second", SIGNS)
    @pytest.mark.parametrize("first", SIGNS)
    def test_every_pair(self, first: str, second: str) -> None:
        """Of two signs the earlier one decides."""
        signs = [sign for sign in SIGNS if sign in {first, second}]
        assert kind_of(with_signs(*signs)) is KINDS[signs[0]]

    def test_all(self) -> None:
        """Of all signs the first one decides, and then the one behind it."""
        for at in range(len(SIGNS)):
            assert kind_of(with_signs(*SIGNS[at:])) is KINDS[SIGNS[at]]

    @pytest.mark.parametrize(
        ("stderr", "kind"),
        [
            (ErrorKind.RATE_LIMIT, RATE),
            (ErrorKind.OVERLOADED, OVER),
            (ErrorKind.AUTH, AUTH),
            (ErrorKind.STARTUP, CRASH),
            (None, CRASH),
        ],
    )
    def test_an_error_before_the_introduction(
        self, stderr: ErrorKind | None, kind: InfraKind
    ) -> None:
        """What standard error says of a client that exited comes before that it said nothing."""
        assert kind_of(Told(exit_code=1, stderr=stderr)) is kind

    def test_an_exit_of_0_is_no_error(self) -> None:
        """Without a result only a client that failed has an error text."""
        assert kind_of(told(init(), stderr=ErrorKind.AUTH, exit_code=0)) is None
        assert kind_of(told(init(), stderr=ErrorKind.AUTH, exit_code=1)) is AUTH

    def test_an_exit_that_nobody_saw_is_no_error(self) -> None:
        """What had to be helped to its end did not fail by its exit."""
        helped = told(init(), stderr=ErrorKind.AUTH, exit_code=None, imposed=Imposed())
        assert kind_of(helped) is None

    def test_a_good_result_is_no_error(self) -> None:
        """Where the result is good, neither the exit nor standard error tells of a failure."""
        good = told(init(), says(), result(), stderr=ErrorKind.AUTH, exit_code=1)
        assert kind_of(good) is None


@pytest.mark.rule("R3.1", "E6")
class TestLimits:
    """Limits are read from events, from statuses and from the words of errors."""

    def test_a_window_that_was_refused_and_then_a_good_result(self) -> None:
        """Whoever waited for the window and succeeded hit no limit."""
        assert kind_of(told(init(), REJECTED, says(), result())) is None

    def test_overage(self) -> None:
        """A window that overage pays for is no limit, and neither is overage that is refused."""
        paid = limit("rejected", isUsingOverage=True)
        unpaid = limit("allowed", overageStatus="rejected")
        assert kind_of(told(init(), paid, failure())) is None
        assert kind_of(told(init(), unpaid, failure())) is None

    def test_the_reset(self) -> None:
        """A rate limit holds until the window that was refused begins anew."""
        world = opened()
        begun_at = world.now
        five = tried(world, TRIAL, fate("five", begun_at))
        assert five.resets_at == begun_at + timedelta(seconds=FIVE_HOUR_RESET_S)
        assert tried(opened(), TRIAL, fate("bare", world.now)).resets_at is None
        assert tried(opened(), TRIAL, fate("overloaded", world.now)).resets_at is None

    @pytest.mark.parametrize(
        "text",
        [
            "You've hit your session limit; it resets at 5pm.",
            "API Error: 429 rate_limit_error: too many requests",
            "API Error: 529 Overloaded",
            "Failed to authenticate. Please run /login.",
        ],
    )
    def test_a_good_answer_may_speak_of_anything(self, text: str) -> None:
        """The very words that an error is known by say nothing in a good answer."""
        assert kind_of(told(init(), says(), result(result=text))) is None
        assert kind_of(told(init(), says(), failed(text), exit_code=1)) is not None
