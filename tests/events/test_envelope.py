"""The envelope: one line an event, and nothing else is a line."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings

from forks_core.transact import known_events
from forks_events.codec import TYPES, Undecodable
from forks_events.envelope import (
    EMPTY,
    GENESIS,
    Author,
    Envelope,
    Unknown,
    decode,
    encode,
    line_hash,
)
from forks_events.run import OrchestratorSeen, TailDropped
from tests.histories import NOON
from tests.strategies import ENVELOPES, UNKNOWN, drawn, reach

BY = Author(verb="fork", host="h", pid=4711)
SEEN = Envelope(seq=5, commit=6, by=BY, prev=GENESIS, event=OrchestratorSeen(at=NOON))
LINE = encode(SEEN)


def changed(**keys: Any) -> bytes:
    """The line, with some of its keys changed."""
    return orjson.dumps(orjson.loads(LINE) | keys)


class TestIdentity:
    """decode(encode(e)) is e, of known and of unknown events."""

    @settings(max_examples=300, deadline=None)
    @given(ENVELOPES)
    def test_law_round_trip(self, envelope: Envelope) -> None:
        """One line, without a newline in it, that reads as what was written and writes the same."""
        line = encode(envelope)
        assert b"\n" not in line
        assert decode(line) == envelope
        assert encode(decode(line)) == line

    def test_reachability(self) -> None:
        """Every event class, and unknown ones, are among the drawn envelopes."""
        assert {type(envelope.event) for envelope in drawn(ENVELOPES, 1000)} == {
            *TYPES.values(),
            Unknown,
        }

    @pytest.mark.rule("B3.3")
    def test_the_line(self) -> None:
        """The keys in their order; ``at`` beside ``seq`` and not in the data."""
        assert LINE == (
            b'{"type":"OrchestratorSeen","v":1,"seq":5,"commit":6,'
            b'"at":"2026-11-30T12:00:00.000000+00:00",'
            b'"by":{"verb":"fork","host":"h","pid":4711},"prev":"' + b"0" * 64 + b'","data":{}}'
        )

    def test_nothing_before_the_first(self) -> None:
        """The first line follows 64 zeros."""
        assert (EMPTY.seq, EMPTY.hash) == (0, "0" * 64)
        assert len(line_hash(b"")) == 64


class TestStrictness:
    """What encode does not write, decode does not read."""

    @pytest.mark.parametrize("key", ["type", "v", "seq", "commit", "at", "by", "prev", "data"])
    def test_missing(self, key: str) -> None:
        """Every key is there."""
        keys = orjson.loads(LINE)
        del keys[key]
        with pytest.raises(Undecodable, match="with the keys type, v, seq"):
            decode(orjson.dumps(keys))

    def test_extra(self) -> None:
        """No key is more, on the line or in the author."""
        with pytest.raises(Undecodable, match="with the keys"):
            decode(changed(more=1))
        with pytest.raises(Undecodable, match="more"):
            decode(changed(by={"verb": "v", "host": "h", "pid": 1, "more": 1}))

    def test_order(self) -> None:
        """The keys stand in their order."""
        keys = orjson.loads(LINE)
        with pytest.raises(Undecodable, match="with the keys"):
            decode(orjson.dumps(dict(reversed(keys.items()))))

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("seq", "5"),
            ("seq", 5.0),
            ("seq", True),
            ("commit", None),
            ("v", "1"),
            ("v", True),
            ("type", None),
            ("type", 1),
            ("prev", 0),
            ("at", "2026-11-30T12:00:00"),
            ("at", None),
            ("by", "me"),
            ("by", {"verb": "v", "host": "h", "pid": "1"}),
        ],
    )
    def test_wrong_types(self, key: str, value: object) -> None:
        """Each key has its type, and the error its place."""
        with pytest.raises(Undecodable, match=rf"\$\.{key}|expected"):
            decode(changed(**{key: value}))

    @pytest.mark.parametrize("data", [None, [], "x", 1, {"at": "2026-11-30T12:00:00.000000+00:00"}])
    def test_data(self, data: object) -> None:
        """The data is an object, and does not repeat ``at``, of an unknown event neither."""
        for name in ("OrchestratorSeen", "TrialDreamt"):
            with pytest.raises(Undecodable, match="data is not an object, or repeats at"):
                decode(changed(data=data, type=name))

    @pytest.mark.parametrize(
        "line",
        [
            b"",
            b"null",
            b"[]",
            b"1",
            b'"x"',
            b"{",
            b"\0",
            b"\xff\xfe",
            LINE[:-1],
            LINE + b"x",
            LINE + LINE,
            LINE.replace(b"fork", b"\xff"),
            LINE.replace(b'"seq":5', b'"seq":NaN'),
            LINE.replace(b'"seq":5', b'"seq":05'),
            b"\xef\xbb\xbf" + LINE,
        ],
    )
    def test_no_line(self, line: bytes) -> None:
        """Whatever else it is, it is undecodable, and nothing else is raised."""
        with pytest.raises(Undecodable):
            decode(line)

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
    def test_numbers(self, number: str) -> None:
        """No number is beyond all numbers."""
        event = TailDropped(at=NOON, bytes=3, sha256="x")
        line = encode(Envelope(seq=5, commit=6, by=BY, prev=GENESIS, event=event))
        with pytest.raises(Undecodable):
            decode(line.replace(b'"bytes":3', b'"bytes":' + number.encode()))

    @pytest.mark.parametrize("size", [2**64, -(2**63) - 1])
    def test_too_large(self, size: int) -> None:
        """An integer of more than 64 bits is not written: another reader could not tell it."""
        event = TailDropped(at=NOON, bytes=size, sha256="x")
        with pytest.raises(ValueError, match="TailDropped cannot be written"):
            encode(Envelope(seq=5, commit=6, by=BY, prev=GENESIS, event=event))

    def test_half_a_character(self) -> None:
        """A text that is not Unicode is not written."""
        event = TailDropped(at=NOON, bytes=1, sha256="\ud800")
        with pytest.raises(ValueError, match="TailDropped cannot be written"):
            encode(Envelope(seq=5, commit=6, by=BY, prev=GENESIS, event=event))


class TestUnknown:
    """A type or version that this forks does not know is kept, counted, and not folded."""

    @pytest.mark.parametrize(
        ("name", "version"),
        [("TrialDreamt", 1), ("OrchestratorSeen", 2), ("OrchestratorSeen", 0), ("", 1)],
    )
    def test_kept(self, name: str, version: int) -> None:
        """Its data is kept as it is, and is written again to the byte."""
        line = changed(type=name, v=version, data={"b": [1, None], "a": 0.5})
        event = decode(line).event
        data = {"b": [1, None], "a": 0.5}
        assert event == Unknown(type=name, v=version, at=NOON, data=data)
        assert encode(decode(line)) == line

    def test_counted(self) -> None:
        """They are told apart from what can be folded."""
        unknown = decode(changed(v=9))
        assert known_events([SEEN, unknown, SEEN]) == ([SEEN.event, SEEN.event], 1)

    def test_a_known_one_is_never_taken_for_unknown(self) -> None:
        """Damage in the data of a known version is damage."""
        with pytest.raises(Undecodable, match="more"):
            decode(changed(data={"more": 1}))

    def test_reachability(self) -> None:
        """Both kinds of unknown events are among the drawn ones."""
        reach(UNKNOWN, lambda event: event.type in TYPES)
        reach(UNKNOWN, lambda event: event.type not in TYPES)
