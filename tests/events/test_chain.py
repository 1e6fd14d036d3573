"""The chain: whole commits only, and nothing changes unseen."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_events import Event
from forks_events.bases import BaseFailed
from forks_events.chain import Broken, Scan, link, scan, verify
from forks_events.envelope import EMPTY, Author, Head, encode, line_hash
from forks_events.run import OrchestratorSeen, TailDropped
from tests.histories import NOON
from tests.strategies import BATCHES, drawn

BY = Author(verb="x", host="h", pid=10)
SEEN = OrchestratorSeen(at=NOON)
FAILED = BaseFailed(at=NOON, base="a")
LOGS = st.lists(BATCHES, min_size=1, max_size=4)
REPLACED = b'\0\n \t09"{}aZ\x80\xff'


def logged(commits: Sequence[Sequence[Event]], start: Head = EMPTY) -> tuple[bytes, Head]:
    """Write commits, one after the other."""
    written = b""
    for events in commits:
        _, data, start = link(start, BY, events)
        written += data
    return written, start


def ends(data: bytes) -> list[int]:
    """Where each line ends, behind its newline."""
    return [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]


def line_at(data: bytes, at: int) -> int:
    """The number of the line that holds a byte, its newline included."""
    return 1 + sum(end <= at for end in ends(data))


class TestLink:
    """seq has no gaps, commit is the last seq of its append, prev is the hash of the line before."""

    @settings(max_examples=60, deadline=None)
    @given(LOGS)
    def test_law_scan_of_link(self, commits: list[list[Event]]) -> None:
        """What was linked is scanned: the same events, the head, every byte."""
        data, head = logged(commits)
        found = scan(data)
        assert (found.head, found.length) == (head, len(data))
        assert [e.event for e in found.envelopes] == [e for batch in commits for e in batch]
        assert [e.seq for e in found.envelopes] == list(range(1, head.seq + 1))
        assert verify(data, head) == found

    def test_numbers(self) -> None:
        """Two commits, of two lines and of one."""
        envelopes, data, head = link(EMPTY, BY, [SEEN, FAILED])
        more, rest, last = link(head, BY, [SEEN])
        assert [(e.seq, e.commit) for e in (*envelopes, *more)] == [(1, 2), (2, 2), (3, 3)]
        lines = (data + rest).splitlines()
        assert [e.prev for e in (*envelopes, *more)] == ["0" * 64, *map(line_hash, lines[:2])]
        assert last == Head(seq=3, hash=line_hash(lines[2]))

    def test_nothing(self) -> None:
        """No events are no bytes, and leave the head where it is."""
        assert link(EMPTY, BY, []) == ((), b"", EMPTY)
        assert scan(b"") == Scan(envelopes=(), head=EMPTY, length=0)

    @settings(max_examples=30, deadline=None)
    @given(LOGS, LOGS)
    def test_law_scan_goes_on_anywhere(
        self, some: list[list[Event]], more: list[list[Event]]
    ) -> None:
        """Scanned in two pieces it is what it is as a whole."""
        first, middle = logged(some)
        second, head = logged(more, middle)
        whole, rest = scan(first + second), scan(second, middle)
        assert scan(first).envelopes + rest.envelopes == whole.envelopes
        assert rest.head == whole.head == head


class TestTornTail:
    """Cut the file at any byte: a prefix of whole commits remains, and the log goes on."""

    def check_cuts(self, commits: Sequence[Sequence[Event]], tail: bytes = b"") -> None:
        """Cut everywhere, and put something behind the cut."""
        data, _ = logged(commits)
        whole = scan(data)
        lengths, heads = [0], [EMPTY]
        for events in commits:
            more, head = logged([events], heads[-1])
            lengths.append(lengths[-1] + len(more))
            heads.append(head)
        for cut in range(len(data) + 1):
            found = scan(data[:cut] + tail)
            complete = sum(length <= cut for length in lengths) - 1
            assert (found.length, found.head) == (lengths[complete], heads[complete])
            assert found.envelopes == whole.envelopes[: found.head.seq]
            _, more, head = link(found.head, BY, [SEEN])
            again = scan(data[: found.length] + more)
            assert (again.head, again.length) == (head, found.length + len(more))

    @settings(max_examples=4, deadline=None)
    @given(st.lists(st.lists(st.sampled_from([SEEN, FAILED]), min_size=1, max_size=2), max_size=2))
    def test_law_any_cut(self, commits: list[list[Event]]) -> None:
        """Every cut of any log."""
        self.check_cuts(commits)

    @pytest.mark.parametrize("tail", [b"\0", b"\0" * 4096, b"\0\0\n", b"\0\n\0\n"])
    def test_nuls(self, tail: bytes) -> None:
        """NULs after a loss of power are a torn tail, whether or not a line was cut there."""
        self.check_cuts([[SEEN, FAILED], [SEEN]], tail)

    def test_reachability(self) -> None:
        """Logs of several commits, of several lines each, are among the drawn ones."""
        assert any(len(log) > 2 and max(map(len, log)) > 1 for log in drawn(LOGS, 50))

    def test_nuls_further_in(self) -> None:
        """NULs with a line behind them are damage."""
        data, head = logged([[SEEN]])
        more, _ = logged([[SEEN]], head)
        with pytest.raises(Broken, match="line 2 at byte") as caught:
            scan(data + b"\0\0\n" + more)
        assert (caught.value.line, caught.value.offset) == (2, len(data))

    def test_a_whole_line_of_half_a_commit(self) -> None:
        """A batch is atomic: its first lines alone are nothing."""
        data, _ = logged([[SEEN], [SEEN, SEEN, SEEN]])
        found = scan(data[: ends(data)[2]])
        assert (found.head.seq, len(found.envelopes)) == (1, 1)


# Lines that differ, in commits of three, one, and two: numbers of two digits, a text, a hash.
COMMITS = (
    (SEEN, TailDropped(at=NOON, bytes=10, sha256="ab"), FAILED),
    (BaseFailed(at=NOON, base="b"),),
    (SEEN, TailDropped(at=NOON, bytes=99, sha256="")),
)
LOG, HEAD = logged(COMMITS)


def changes() -> Iterator[tuple[int, bytes]]:
    """Every byte of the log, replaced by each of several others, and with a bit flipped."""
    for at, byte in enumerate(LOG):
        for other in {*REPLACED, byte ^ 1} - {byte}:
            yield at, LOG[:at] + bytes([other]) + LOG[at + 1 :]


def scanned(data: bytes) -> Scan | Broken:
    """What a log holds, or how it is broken."""
    try:
        return scan(data)
    except Broken as error:
        return error


class TestChangedByte:
    """A changed byte anywhere is found, and its line named.

    The log alone proves all but its end: of the last two lines a head kept elsewhere tells.
    """

    def test_every_byte(self) -> None:
        """With the head, each change is found and named, exactly; without, up to the last two."""
        silent = 0
        for at, damaged in changes():
            line = line_at(LOG, at)
            with pytest.raises(Broken) as caught:
                verify(damaged, HEAD)
            assert caught.value.line == line, (at, damaged)
            assert LOG[caught.value.offset - 1 : caught.value.offset] in {b"", b"\n"}
            found = scanned(damaged)
            if isinstance(found, Broken):
                near = {line, HEAD.seq} if line == HEAD.seq - 1 else {line}
                assert found.line in near, (at, damaged)
            else:
                silent += 1
                assert found.head != HEAD
                # Of the last line; of the one before it only its newline, made a NUL.
                assert line == HEAD.seq or (line == HEAD.seq - 1 and at + 1 in ends(LOG))
        assert silent > 20, "a change that only the head shows is among them"

    def test_every_cut(self) -> None:
        """A tail that is gone shows against the head, from the first line that is missing."""
        for cut in range(len(LOG)):
            with pytest.raises(Broken) as caught:
                verify(LOG[:cut], HEAD)
            assert caught.value.line == line_at(LOG, cut)
            assert caught.value.offset <= cut

    def test_every_lost_line(self) -> None:
        """A line that is gone, said twice, or moved, is found where it should be."""
        lines = LOG.splitlines(keepends=True)
        for at in range(len(lines)):
            for lines_now in (
                lines[:at] + lines[at + 1 :],
                lines[: at + 1] + lines[at:],
                [*lines[:at], lines[at - 1], *lines[at:]],
            ):
                with pytest.raises(Broken):
                    verify(b"".join(lines_now), HEAD)

    def test_an_older_head(self) -> None:
        """A log that grew since still holds the head; nothing holds one of another log."""
        older = logged(COMMITS[:2])[1]
        assert verify(LOG, older) == scan(LOG)
        assert verify(LOG, EMPTY) == scan(LOG)
        with pytest.raises(Broken, match=r"line 4 at byte .* not the line that the head"):
            verify(LOG, Head(seq=older.seq, hash="f" * 64))

    def test_forged_from_the_beginning(self) -> None:
        """Who rewrites all lines deceives the log, and not a head kept elsewhere."""
        forged, head = logged([[FAILED, *COMMITS[0][1:]], *COMMITS[1:]])
        assert scan(forged).head == head
        with pytest.raises(Broken):
            verify(forged, HEAD)


class TestCommits:
    """All lines of one append carry the same commit."""

    @pytest.mark.parametrize(
        ("seqs", "line"), [([(1, 2), (2, 3)], 2), ([(1, 0)], 1), ([(1, 3), (2, 2)], 2)]
    )
    def test_refused(self, seqs: list[tuple[int, int]], line: int) -> None:
        """A commit that is another one's, or that lies before its own line."""
        data, head = b"", EMPTY
        for seq, commit in seqs:
            (envelope,), _, _ = link(Head(seq=seq - 1, hash=head.hash), BY, [SEEN])
            text = encode(envelope).replace(
                f'"commit":{seq},'.encode(), f'"commit":{commit},'.encode()
            )
            data, head = data + text + b"\n", Head(seq=seq, hash=line_hash(text))
        with pytest.raises(Broken, match="its commit is") as caught:
            scan(data)
        assert caught.value.line == line

    def test_gap(self) -> None:
        """A seq that was left out is named."""
        _, data, _ = link(Head(seq=1, hash=EMPTY.hash), BY, [SEEN])
        with pytest.raises(Broken, match="line 1 at byte 0: its seq is 2"):
            scan(data)
