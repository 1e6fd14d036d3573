"""The recordings, changed in all the ways that must not matter, and cut where a pipe may break."""

import json
import random
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.claude.errors import classify_stderr
from forks_core.claude.framing import Framer
from forks_core.claude.stream import Parser, parse
from forks_core.claude.text import answer_text
from forks_core.reducer.stream import summed
from forks_core.rules.outcome import Conclusion, conclude
from forks_core.rules.usage import Reckoning, reckon
from forks_events import Said
from forks_events.quota import QuotaRead, Reading
from forks_events.values import Spent
from forks_events.words import Status
from tests.claude.lines import JOB, MODEL, every_recording
from tests.claude.mutations import (
    ENDS,
    MUTATIONS,
    Mutation,
    add_noise,
    add_unknown,
    repeat,
    shuffle_keys,
    spread,
)
from tests.claude.recorded import before, meta, told_session
from tests.projections.builders import reached

PATHS = every_recording()
SEEDS = st.integers(0, 2**32)
# Noise cannot be shuffled: what reads the lines as JSON goes first.
IN_ORDER: list[Mutation] = [shuffle_keys, repeat, add_unknown, add_noise, spread]


@frozen(kw_only=True)
class Told:
    """All that a job's end says of its stream."""

    conclusion: Conclusion
    used: Reckoning
    turns: int
    denials: tuple[str, ...]
    readings: tuple[Reading, ...]
    text: str | None


@cache
def context(path: Path) -> tuple[str, Spent | None, Any]:
    """Session, the parent's counters and exit of a recording."""
    where = path.parent.name, path.stem
    return told_session(*where), before(*where), meta(*where)


def told(path: Path, raw: bytes, said: tuple[Said, ...] | None = None) -> Told:
    """Conclude the job of a recording whose client printed this."""
    session, parent, exited = context(path)
    said = parse(raw, JOB) if said is None else said
    stream = summed(said)
    used = reckon(stream, parent)
    return Told(
        conclusion=conclude(
            stream,
            model=MODEL,
            session=session,
            models_used=used.models_used,
            cost_usd=used.cost_usd,
            exit_code=exited["exit_code"],
            stderr_kind=classify_stderr(exited["stderr"]),
            imposed=None,
            kill=None,
        ),
        used=used,
        turns=stream.turns,
        denials=stream.denials,
        readings=tuple(event.reading for event in said if isinstance(event, QuotaRead)),
        text=answer_text(raw),
    )


@cache
def whole(path: Path) -> Told:
    """Conclude it by what its client did print."""
    return told(path, path.read_bytes())


def chunked(raw: bytes, dice: random.Random) -> tuple[Said, ...]:
    """Hear it in chunks of any size."""
    parser, framer, lines = Parser(JOB), Framer(), []
    sizes, place = dice.choice([(1, 2, 3), (1, 7, 4096), (65_536, 100_000)]), 0
    while place < len(raw):
        size = dice.choice(sizes) if len(raw) < 50_000 else dice.choice([4096, 65_536])
        lines += framer.feed(raw[place : place + size])
        place += size
    lines += framer.close()
    return tuple(event for line in lines for event in parser.feed(line, None))


def mutated(path: Path, mutations: list[Mutation], end: bytes, dice: random.Random) -> bytes:
    """A recording after the mutations, with these line ends."""
    lines = path.read_bytes().splitlines()
    for mutation in mutations:
        lines = mutation(lines, dice)
    return b"".join(line + end for line in lines)


class TestWhatDoesNotMatter:
    """The conclusion is the recording's own: status, reason, kind, usage, cost, turns, readings."""

    @pytest.mark.rule("B22.1", "B22.5")
    @pytest.mark.parametrize("mutation", MUTATIONS)
    def test_every_recording(self, mutation: Mutation) -> None:
        """Each mutation alone, of each recording of each version."""
        for number, path in enumerate(PATHS):
            raw = mutated(path, [mutation], b"\n", random.Random(number))
            assert told(path, raw) == whole(path), path

    def test_line_ends(self) -> None:
        """Lines may end as on another system, and the last one not at all."""
        for path in PATHS:
            raw = mutated(path, [], b"\r\n", random.Random(0))
            assert told(path, raw) == whole(path), path
            assert told(path, raw.rstrip()) == whole(path), path

    @settings(deadline=None, max_examples=60)
    @given(
        st.sampled_from(PATHS),
        st.sets(st.sampled_from(IN_ORDER)),
        st.sampled_from(ENDS),
        SEEDS,
    )
    def test_law_any_mutations(
        self, path: Path, chosen: set[Mutation], end: bytes, seed: int
    ) -> None:
        """Several of them together, in any order, however the pipe cut them."""
        dice = random.Random(seed)
        mutations = [mutation for mutation in IN_ORDER if mutation in chosen]
        raw = mutated(path, mutations, end, dice)
        assert told(path, raw, chunked(raw, dice)) == whole(path)

    def test_reachability(self) -> None:
        """The recordings end in many ways, and each mutation changes the most of them."""
        ends = {(of.conclusion.status, of.conclusion.error_kind) for of in map(whole, PATHS)}
        assert len(ends) > 7
        assert sum(bool(whole(path).readings) for path in PATHS) > 20
        for mutation in (*MUTATIONS, None):
            changed = [
                mutated(path, [mutation] if mutation else [], b"\r\n", random.Random(1))
                for path in PATHS
            ]
            same = sum(raw == path.read_bytes() for raw, path in zip(changed, PATHS, strict=True))
            assert same < len(PATHS) / 4


def good_within(raw: bytes, cut: int) -> bool:
    """Whether a result that is a success lies wholly before the cut."""
    place = 0
    for line in raw.splitlines(keepends=True):
        bare = line.rstrip(b"\r\n")
        if place + len(bare) > cut:
            return False
        obj = json.loads(bare)
        if (obj.get("type"), obj.get("subtype"), obj.get("is_error")) == (
            "result",
            "success",
            False,
        ):
            return True
        place += len(line)
    return False


def check_cut(path: Path, raw: bytes, cut: int) -> None:
    """What is left of a stream never tells more than the whole of it."""
    left = told(path, raw[:cut])
    full = whole(path)
    assert left.conclusion.status is not Status.OK or good_within(raw, cut)
    assert (left.used.cost_usd or 0.0) <= (full.used.cost_usd or 0.0) + 1e-9
    assert left.turns <= full.turns
    assert left.readings == full.readings[: len(left.readings)]
    said = parse(raw, JOB)
    heard = parse(raw[:cut], JOB)
    assert heard == said[: len(heard)], "a beginning of what was said, each line once"
    assert parse(raw[:cut] + b"\n" + raw, JOB) == said, "and what was cut may be told again"


class TestCut:
    """A stream that breaks off is never a success that was not told, and books nothing twice."""

    @pytest.mark.rule("B25.2", "B23.5")
    def test_every_line(self) -> None:
        """Each recording cut before, within and after each of its last lines."""
        for path in PATHS:
            raw = path.read_bytes()
            if len(raw) > 100_000:
                continue
            ends = [at for at, byte in enumerate(raw) if byte == ord("\n")]
            for cut in {0, 1, len(raw), *(at + by for at in ends[-3:] for by in (-1, 0, 1))}:
                check_cut(path, raw, cut)

    @pytest.mark.rule("B25.2", "B23.5")
    @settings(deadline=None, max_examples=80)
    @given(st.sampled_from([path for path in PATHS if path.stat().st_size]), st.floats(0, 1))
    def test_law_anywhere(self, path: Path, share: float) -> None:
        """And at any byte."""
        raw = path.read_bytes()
        check_cut(path, raw, round(share * len(raw)))

    def test_reachability(self) -> None:
        """Cuts before and after the result that counts are among them, and within a line."""
        cuts = st.tuples(st.sampled_from(PATHS), st.floats(0, 1))
        for good in (True, False):
            assert reached(cuts, partial(is_cut_so, good))


def is_cut_so(good: bool, drawn: tuple[Path, float]) -> bool:  # noqa: FBT001 - by partial
    """Whether it is cut neither at its beginning nor at its end, and a good result is left or not."""
    path, share = drawn
    raw = path.read_bytes()
    cut = round(share * len(raw))
    return 0 < cut < len(raw) and good_within(raw, cut) is good
