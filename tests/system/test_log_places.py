"""Looking back in a log: whatever was read before, the same is read, and no more than needed."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.errors import LogDamaged
from forks_core.system.log_file import LogFile
from forks_events.chain import scan
from tests.strategies import drawn
from tests.system.test_log_file import OPENED, SEEN, append

# What is done, by which of two handles, and how much of it.
STEPS = st.tuples(
    st.sampled_from(["append", "read", "read", "replace"]), st.integers(0, 1), st.integers(1, 12)
)
STORIES = st.lists(STEPS, min_size=3, max_size=25)
Story = list[tuple[str, int, int]]


def put_a_copy(path: Path) -> None:
    """Put the same history there, in another file."""
    fresh = path.with_name("fresh")
    fresh.write_bytes(path.read_bytes())
    fresh.replace(path)


def check(log: LogFile, from_seq: int) -> None:
    """Read, and compare with the whole file as it is."""
    found = scan(log.path.read_bytes())
    reading = log.read(from_seq)
    assert reading.head == found.head
    expected = [envelope for envelope in found.envelopes if envelope.seq >= from_seq]
    assert list(reading.envelopes) == expected


def play(folder: Path, story: Story) -> None:
    """Let two handles append, look back, and find the file replaced."""
    logs = [LogFile(folder), LogFile(folder)]
    append(logs[0], OPENED)
    for what, who, much in story:
        if what == "append":
            append(logs[who], *[SEEN] * (much % 3 + 1))
        elif what == "replace":
            put_a_copy(logs[who].path)
        else:
            check(logs[who], much)
    for log in logs:
        check(log, 1)
        log.close()


class TestLookingBack:
    """A handle remembers places, so that who looks back a little reads little."""

    @settings(deadline=None, max_examples=60)
    @given(STORIES)
    def test_law_from_anywhere(self, story: Story) -> None:
        """From any event on, by any handle, after any reads, writes and replacements: the same."""
        with tempfile.TemporaryDirectory() as folder:
            play(Path(folder), story)

    def test_reachability(self) -> None:
        """The law looks back, looks beyond the end, and reads after the file was replaced."""
        found: set[str] = set()
        for story in drawn(STORIES, 60):
            found |= set(met(story))
        assert found == {"back", "beyond", "replaced"}

    def test_little_is_read(self, tmp_path: Path) -> None:
        """Damage far before the place that is asked for is not even seen by who was there."""
        log = LogFile(tmp_path)
        append(log, OPENED)
        for _ in range(50):
            append(log, SEEN)
        data = log.path.read_bytes()
        second = data.index(b"\n") + 1
        log.path.write_bytes(data[:second] + b"x" + data[second + 1 :])
        for from_seq in (51, 45, 4):
            assert [e.seq for e in log.read(from_seq).envelopes] == list(range(from_seq, 52))
        for reader in (log, LogFile(tmp_path)):
            with pytest.raises(LogDamaged):
                reader.read(1)
        assert log.read(50).head.seq == 51

    def test_after_a_replacement(self, tmp_path: Path) -> None:
        """What was remembered of another file counts no more: all of the new one is looked at."""
        log = LogFile(tmp_path)
        append(log, OPENED)
        for _ in range(20):
            append(log, SEEN)
        data = log.path.read_bytes()
        second = data.index(b"\n") + 1
        fresh = tmp_path / "fresh"
        fresh.write_bytes(data[:second] + b"x" + data[second + 1 :])
        fresh.replace(log.path)
        with pytest.raises(LogDamaged):
            log.read(20)
        log.path.write_bytes(data)
        put_a_copy(log.path)
        check(log, 20)
        check(log, 3)

    def test_many_places(self, tmp_path: Path) -> None:
        """More places than are remembered are no harm."""
        log = LogFile(tmp_path)
        append(log, OPENED)
        for _ in range(1100):
            append(log, SEEN)
        for from_seq in (1, 2, 70, 77, 1101, 1102):
            check(log, from_seq)


def met(story: Story) -> Iterable[str]:
    """What of the law a story meets."""
    last, replaced = 1, False
    for what, _, much in story:
        if what == "append":
            last += much % 3 + 1
        elif what == "replace":
            replaced = True
        else:
            yield "beyond" if much > last else "back"
            if replaced:
                yield "replaced"
