"""Lines become events, whatever the client prints."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import pytest

from forks_core.claude.stream import EPOCH, PARSER, Parser
from forks_events.stream import (
    StreamOpened,
    StreamRefused,
    StreamRetried,
    StreamTurned,
)
from forks_events.values import Usage
from tests.claude.lines import (
    JOB,
    SESSION,
    answers,
    banner,
    events,
    init,
    result,
    says,
    system,
    usage,
    wire,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class TestTimes:
    """Events carry the time that a line was seen, or the epoch where none was."""

    def test_seen(self) -> None:
        """The time of the line is the event's until it is recorded."""
        (event,) = Parser(JOB).feed(wire(says()), NOON)
        assert (event.at, event.seen_at) == (NOON, NOON)

    @pytest.mark.rule("B22.5")
    def test_read_afterwards(self) -> None:
        """Without it the time is fixed, so that reading again gives the same."""
        (event,) = events(says())
        assert (event.at, event.seen_at) == (EPOCH, None)


class TestOpened:
    """The first introduction counts; the client repeats it before every turn."""

    @pytest.mark.rule("B22.2")
    def test_first_only(self) -> None:
        """A second one gives no event."""
        (event,) = events(init(), init(session_id="other"))
        assert isinstance(event, StreamOpened)
        assert event.session == SESSION
        assert event.parser == PARSER

    @pytest.mark.rule("B24.3")
    def test_runtime(self) -> None:
        """What the prompt is made of is told in a form without order."""
        (event,) = events(
            init(
                tools=["Read", "Bash", 7],
                permissionMode="dontAsk",
                apiKeySource="none",
                agents=["b", "a"],
                plugins=[{"name": "q"}, {"name": "p", "version": "1"}, {"version": "2"}, None],
            )
        )
        assert isinstance(event, StreamOpened)
        assert dict(event.runtime) == {
            "tools": hashlib.sha256(b"Bash\nRead").hexdigest(),
            "permissionMode": "dontAsk",
            "apiKeySource": "none",
            "agents": "a,b",
            "plugins": "p@1,q",
        }

    def test_absent_ones_are_left_out(self) -> None:
        """A version that does not tell something is not told to have none of it."""
        (event,) = events(init(tools=None, agents="a", plugins={}))
        assert isinstance(event, StreamOpened)
        assert dict(event.runtime) == {}

    def test_servers_that_did_not_connect(self) -> None:
        """They are named once; those that are pending or off are no failure."""
        servers = [
            {"name": "b", "status": "failed"},
            {"name": "a", "status": "needs-auth"},
            {"name": "c", "status": "pending"},
            {"name": "d", "status": "connected"},
        ]
        skipped = [{"name": "b", "type": "x", "message": "y"}, {"name": "e"}]
        (event,) = events(init(mcp_servers=servers, mcp_server_errors=skipped))
        assert isinstance(event, StreamOpened)
        assert event.mcp_failed == ("a", "b", "e")


@pytest.mark.rule("B22.3", "D16")
class TestTurns:
    """A distinct response is one turn, however many lines tell it and wherever they stand."""

    def test_lines_of_one_response(self) -> None:
        """The same id with others between is the same response."""
        turned = events(says("A"), answers("t"), says("B", parent="t"), says("A"))
        assert [event.main for event in turned if isinstance(event, StreamTurned)] == [True, False]

    def test_usage(self) -> None:
        """Tokens are read; what is absent, null or no count is zero, and true is no count."""
        (event,) = events(
            says(
                spent=usage(0, 30, 3)
                | {
                    "input_tokens": True,
                    "output_tokens": None,
                    "cache_creation": {"ephemeral_1h_input_tokens": 20},
                }
            )
        )
        assert isinstance(event, StreamTurned)
        assert event.usage == Usage(cache_creation=30, cache_creation_1h=20, cache_read=3)

    def test_split_alone(self) -> None:
        """Where only the lifetimes are told, the whole is their sum, and never less than they."""
        split = {"ephemeral_1h_input_tokens": 20, "ephemeral_5m_input_tokens": 5}
        (alone,) = events(says(spent={"cache_creation": split}))
        (less,) = events(says(spent=usage(0, 21, cache_creation=split)))
        assert isinstance(alone, StreamTurned)
        assert isinstance(less, StreamTurned)
        assert alone.usage.cache_creation == 25
        assert less.usage == Usage(cache_creation=21, cache_creation_1h=20, cache_creation_5m=1)

    def test_without_usage(self) -> None:
        """A response that does not tell its tokens is a turn all the same."""
        (event,) = events(says(spent="none"))
        assert isinstance(event, StreamTurned)
        assert event.usage == Usage()

    def test_without_id(self) -> None:
        """All lines without an id count as one response."""
        assert len(events(says(None), says(None))) == 1

    def test_synthetic(self) -> None:
        """The client's own banner is no turn."""
        assert events(banner("rate_limit")) == ()

    def test_delivered_again(self) -> None:
        """A line with a uuid that was seen is not heard again; one without a uuid is no repeat."""
        again = result()
        assert len(events(again, again, again | {"uuid": None}, again | {"uuid": None})) == 3


class TestRetried:
    """An announced retry tells its delay; waiting for a silent server counts."""

    def test_fields(self) -> None:
        """Attempt, delay and status are as told."""
        (event,) = events(system("api_retry", attempt=3, retry_delay_ms=4200, error_status=529))
        assert isinstance(event, StreamRetried)
        assert (event.attempt, event.delay_ms, event.error_status) == (3, 4200, 529)

    def test_silence(self) -> None:
        """A retry because of silence waits as long as it says there."""
        (event,) = events(
            system("api_retry", retry_delay_ms=0, no_response={"retry_wait_ms": 60000})
        )
        assert isinstance(event, StreamRetried)
        assert (event.attempt, event.delay_ms, event.error_status) == (1, 60000, None)


@pytest.mark.rule("B22.2", "D6")
class TestRefused:
    """A refused model is announced by a restriction, or by a warning that says so."""

    def test_restriction(self) -> None:
        """Both models are told."""
        told = {"requested_model": "a", "effective_model": "b"}
        (event,) = events(system("informational", model_restriction=told))
        assert isinstance(event, StreamRefused)
        assert (event.requested, event.effective) == ("a", "b")

    def test_warning(self) -> None:
        """The words of a warning do, without the models."""
        told = {"level": "warning", "content": 'Model "a" is restricted by your organization'}
        (event,) = events(system("informational", **told))
        assert isinstance(event, StreamRefused)
        assert (event.requested, event.effective) == (None, None)

    @pytest.mark.parametrize(
        "told",
        [
            {"level": "info", "content": "x is restricted"},
            {"level": "warning", "content": "x is fine"},
            {"level": "warning", "content": None},
            {"model_restriction": {}},
        ],
    )
    def test_other_banners(self, told: dict[str, Any]) -> None:
        """Anything else is only a banner."""
        assert events(system("informational", **told)) == ()
