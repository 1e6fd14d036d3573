"""What is no line of the client's costs nothing."""

import orjson
import pytest

from forks_core.claude.stream import Parser
from forks_events.stream import (
    StreamResulted,
)
from tests.claude.lines import (
    JOB,
    events,
    result,
    wire,
)


@pytest.mark.rule("B22.1")
class TestNoise:
    """What is no JSON object, or of an unknown type, is passed over; nothing is raised."""

    @pytest.mark.parametrize(
        "line",
        [
            b"",
            b"[SandboxDebug] Seccomp",
            b"{",
            b"[1]",
            b"null",
            b'"text"',
            b"\xff\xfe",
            b"{" * 100_000,
            b'{"a":' * 100_000,
            b'{"type":"assistant"}',
            b'{"type":"assistant","message":null}',
            b'{"type":"assistant","message":[]}',
            b'{"type":"user","message":{"content":"text"}}',
            b'{"type":"system"}',
            b'{"type":["system"]}',
            b'{"type":"keep_alive"}',
            b'{"type":"rate_limit_event","rate_limit_info":7}',
        ],
    )
    def test_no_event(self, line: bytes) -> None:
        """Nothing comes of it."""
        assert Parser(JOB).feed(line, None) == ()

    def test_objects_are_counted(self) -> None:
        """Any object is a sign of life, also one of an unknown type."""
        parser = Parser(JOB)
        for line in (b"noise", b"[]", b'{"type":"post_turn_summary"}', b"{}"):
            parser.feed(line, None)
        assert parser.listening.objects == 2

    def test_bad_utf8(self) -> None:
        """A line with bytes that aren't UTF-8 is read all the same."""
        line = wire(result(result="end")).replace(b"end", b"\xff\xfe end")
        (event,) = Parser(JOB).feed(line, None)
        assert isinstance(event, StreamResulted)

    @pytest.mark.parametrize("escape", [rb"\ud83d", rb"\udc00 \ud800"])
    def test_half_a_surrogate_pair(self, escape: bytes) -> None:
        """A text that was cut within a character, as JavaScript cuts it, loses no line."""
        line = wire(result(result="X", subtype="X")).replace(b"X", escape)
        (event,) = Parser(JOB).feed(line, None)
        assert isinstance(event, StreamResulted)
        assert orjson.dumps(event.subtype)

    def test_key_order(self) -> None:
        """The type may stand last."""
        told = result()
        assert events(dict(reversed(told.items()))) == events(told)

    def test_names_are_short(self) -> None:
        """No text of arbitrary length gets into an event."""
        (event,) = events(result(subtype="x" * 5000))
        assert isinstance(event, StreamResulted)
        assert len(event.subtype) == 256
