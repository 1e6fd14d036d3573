"""Laws of reading, over anything that could be printed."""

import random
from typing import Any

import orjson
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from forks_core.claude.framing import Framer
from forks_core.claude.stream import Parser, parse
from forks_events import Said
from forks_events.stream import StreamResulted, StreamTurned
from tests.claude.lines import JOB, every_recording, fold, recording, result, says, wire

CHAINS = [path.read_bytes() for path in every_recording()]
LINES = [line for raw in CHAINS for line in raw.splitlines() if line]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=5)
    | st.sampled_from(["system", "assistant", "user", "result", "init", "success", "rejected"])
)
KEYS = st.sampled_from(
    sorted(
        {
            "type",
            "subtype",
            "uuid",
            "message",
            "usage",
            "id",
            "content",
            "model",
            "total_cost_usd",
            "modelUsage",
            "permission_denials",
            "rate_limit_info",
            "resetsAt",
            "errors",
            "result",
            "plugins",
            "tasks",
            "x",
        }
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.builds(
    lambda kind, subtype, more: {"type": kind, "subtype": subtype} | more,
    st.sampled_from(["system", "assistant", "user", "result", "rate_limit_event", "new"]),
    st.sampled_from(["init", "api_retry", "informational", "background_tasks_changed", "success"]),
    st.dictionaries(KEYS, VALUES, max_size=6),
)
SEEDS = st.integers(0, 2**32)


def fed(raw: bytes, seed: int) -> tuple[Said, ...]:
    """Read the bytes in chunks of any size."""
    dice, framer, parser = random.Random(seed), Framer(), Parser(JOB)
    lines, at = [], 0
    while at < len(raw):
        size = dice.choice([1, 7, 4096, 100_000])
        lines += framer.feed(raw[at : at + size])
        at += size
    lines += framer.close()
    return tuple(event for line in lines for event in parser.feed(line, None))


def mutated(value: Any, dice: random.Random, wrong: Any) -> Any:
    """Put something wrong somewhere into a JSON value."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        return value | {key: mutated(value[key], dice, wrong)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        return [*value[:at], mutated(value[at], dice, wrong), *value[at + 1 :]]
    return wrong


class TestNothingRaises:
    """Whatever is printed, the parser reads on, and what it says can be folded and kept."""

    @settings(deadline=None)
    @given(st.lists(st.binary(max_size=30), max_size=5))
    def test_any_bytes(self, lines: list[bytes]) -> None:
        """Any bytes are read."""
        fold(parse(b"\n".join(lines), JOB))

    @settings(deadline=None)
    @given(st.lists(OBJECTS, max_size=4))
    def test_any_json(self, objects: list[dict[str, Any]]) -> None:
        """Any objects are read."""
        fold(parse(b"\n".join(map(orjson.dumps, objects)), JOB))

    @settings(max_examples=300, deadline=None)
    @given(st.sampled_from(LINES), SEEDS, VALUES)
    def test_mutated_recordings(self, line: bytes, seed: int, wrong: Any) -> None:
        """A real line with something wrong in it is read."""
        bad = mutated(orjson.loads(line), random.Random(seed), wrong)
        fold(parse(orjson.dumps(bad), JOB))

    @settings(deadline=None)
    @given(st.sampled_from(LINES), st.data())
    def test_torn_recordings(self, line: bytes, data: st.DataObject) -> None:
        """A real line that was cut, or has a byte changed, is read."""
        at = data.draw(st.integers(0, len(line) - 1))
        byte = data.draw(st.binary(min_size=1, max_size=1))
        fold(parse(line[:at] + b"\n" + line[:at] + byte + line[at + 1 :], JOB))

    def test_reachability(self) -> None:
        """Objects that become events are among the generated ones, and mutants keep being lines."""
        assert find(OBJECTS, lambda obj: bool(parse(orjson.dumps(obj), JOB)))
        dice = random.Random(1)
        mutants = [mutated(orjson.loads(line), dice, 7) for line in LINES]
        kept = sum(bool(parse(orjson.dumps(mutant), JOB)) for mutant in mutants)
        assert kept > len(LINES) / 4


class TestAnySplit:
    """Feeding the chunks of any split gives the same events as the whole file."""

    @settings(max_examples=60, deadline=None)
    @given(st.sampled_from(CHAINS), SEEDS)
    def test_law_split(self, raw: bytes, seed: int) -> None:
        """The events are those of the file, whichever way it came."""
        assert fed(raw, seed) == parse(raw, JOB)

    def test_reachability(self) -> None:
        """The recordings hold events of several kinds."""
        kinds = {type(event) for raw in CHAINS for event in parse(raw, JOB)}
        assert len(kinds) == 6


class TestIdempotence:
    """A line that is delivered again changes nothing."""

    @settings(deadline=None)
    @given(st.sampled_from(CHAINS), st.data())
    def test_law_delivered_again(self, raw: bytes, data: st.DataObject) -> None:
        """Lines with a uuid that was seen are not heard again."""
        lines = raw.splitlines()
        again = data.draw(st.lists(st.sampled_from(lines), max_size=4)) if lines else []
        assert parse(b"\n".join([*lines, *again]), JOB) == parse(raw, JOB)


class TestHugeLines:
    """A line is as long as it likes."""

    def test_long_answer(self) -> None:
        """An answer of over a megabyte is one turn and one result."""
        text = "word " * 250_000
        raw = wire(says(content=[{"type": "text", "text": text}]), result(result=text))
        turned, last = fed(raw, 3)
        assert isinstance(turned, StreamTurned)
        assert isinstance(last, StreamResulted)
        assert last.text_bytes == len(text)

    def test_many_long_lines(self) -> None:
        """The cap is a line's, not the stream's."""
        line = wire(says(content=[{"type": "text", "text": "x" * 200_000}]))
        framer = Framer(cap=300_000)
        assert sum(len(framer.feed(line)) for _ in range(100)) == 100
        assert framer.oversize == 0


@pytest.mark.parametrize("version", ["2.1.332", "2.0.76"])
def test_missing_final_newline(version: str) -> None:
    """A file whose last line lacks its end holds the same."""
    raw = recording(version, "train")
    assert parse(raw.rstrip(b"\n"), JOB) == parse(raw, JOB)
