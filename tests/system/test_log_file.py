"""The log as a file: real files, real processes, and nothing is lost or left half."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from forks_core.errors import LogDamaged, LogLocked, StorageFailed
from forks_core.ports import Log, Reading
from forks_core.system.lock import locked
from forks_core.system.log_file import LogFile
from forks_core.transact import Live, transact
from forks_events import Event
from forks_events.chain import link, scan
from forks_events.envelope import EMPTY, Author, Envelope
from forks_events.run import OrchestratorSeen, RunOpened, TailDropped
from tests.fakes import FakeClock
from tests.histories import INIT, NOON
from tests.system.test_lock import CHILD, ROOT, holder

BY = Author(verb="x", host="h", pid=1)
SEEN = OrchestratorSeen(at=NOON)
OPENED = RunOpened(at=NOON, run="r", format=1, forks_version="0.1.0", lab=True)
PROCESSES, COMMITS = 8, 50


def append(log: LogFile, *events: Event) -> Reading:
    """Append one commit."""
    with log.writing() as writer:
        return writer.append(BY, events, NOON)


def written(commits: Sequence[Sequence[Event]]) -> bytes:
    """The bytes of commits."""
    head, data = EMPTY, b""
    for events in commits:
        _, more, head = link(head, BY, events)
        data += more
    return data


def kinds(reading: Reading) -> list[str]:
    """Names of what was read."""
    return [type(envelope.event).__name__ for envelope in reading.envelopes]


@pytest.fixture
def log(tmp_path: Path) -> LogFile:
    """A log of two commits, of one line and of two."""
    log = LogFile(tmp_path, lock_wait_s=10)
    append(log, OPENED)
    append(log, SEEN, SEEN)
    return log


def again(log: LogFile) -> LogFile:
    """Another handle on the same log."""
    return LogFile(log.path.parent, lock_wait_s=10)


class TestReading:
    """What was appended is read, from anywhere, by any handle."""

    @pytest.mark.rule("B4.3")
    def test_new(self, tmp_path: Path) -> None:
        """A log that is not there is empty; reading and syncing do not make it."""
        log: Log = LogFile(tmp_path)
        assert log.read() == Reading(envelopes=[], head=EMPTY)
        log.sync()
        assert list(tmp_path.iterdir()) == []

    def test_made(self, log: LogFile) -> None:
        """The files are for us alone."""
        modes = {path.name: path.stat().st_mode & 0o777 for path in log.path.parent.iterdir()}
        assert modes == {"events.jsonl": 0o600, "events.lock": 0o600}

    @pytest.mark.parametrize("from_seq", range(1, 6))
    def test_from_anywhere(self, log: LogFile, from_seq: int) -> None:
        """From a seq on, by a handle that read it before and by a fresh one; the head is whole."""
        for handle in (log, again(log), log):
            reading = handle.read(from_seq)
            assert [envelope.seq for envelope in reading.envelopes] == list(range(from_seq, 4))
            assert reading.head == scan(log.path.read_bytes()).head

    def test_others(self, log: LogFile) -> None:
        """Handles see each other's commits, and each writes behind the last one."""
        other = again(log)
        append(other, SEEN)
        assert append(log, SEEN).head.seq == 5
        assert other.read(4) == log.read(4)

    def test_only_to_read(self, log: LogFile) -> None:
        """An auditor needs nothing but the file, and no leave to write it."""
        alone = log.path.parent / "copy"
        alone.mkdir()
        (alone / "events.jsonl").write_bytes(log.path.read_bytes())
        (alone / "events.jsonl").chmod(0o400)
        copy = LogFile(alone)
        assert copy.read() == log.read()
        assert [path.name for path in alone.iterdir()] == ["events.jsonl"]

    def test_closed(self, log: LogFile) -> None:
        """A handle can be closed twice, and gives its descriptor back."""
        descriptors = Path("/proc/self/fd")
        before = len(list(descriptors.iterdir()))
        log.close()
        log.close()
        assert len(list(descriptors.iterdir())) == before - 1


class TestManyWriters:
    """Eight processes appending lose nothing and leave no gap; a reader sees whole commits only."""

    def test_law_no_loss(self, tmp_path: Path) -> None:
        """All that was appended is there once, in each writer's order, and the chain is whole."""
        writers = [
            subprocess.Popen((*CHILD, "append", str(tmp_path), f"w{n}", str(COMMITS)), cwd=ROOT)
            for n in range(PROCESSES)
        ]
        reader, looks = LogFile(tmp_path), 0
        seen: list[Envelope] = []
        while any(writer.poll() is None for writer in writers):
            new = reader.read(len(seen) + 1).envelopes
            assert len(new) % 2 == 0
            looks += bool(new)
            seen += new
            os.sched_yield()
        assert [writer.returncode for writer in writers] == [0] * PROCESSES
        assert looks > 5, "the reader did look while they wrote"
        data = (tmp_path / "events.jsonl").read_bytes()
        found = scan(data)
        assert (found.length, found.head.seq) == (len(data), 2 * PROCESSES * COMMITS)
        assert (*seen, *reader.read(len(seen) + 1).envelopes) == found.envelopes
        for n in range(PROCESSES):
            mine = [e.event for e in found.envelopes if e.by.verb == f"w{n}"]
            told = [event.bytes for event in mine if isinstance(event, TailDropped)]
            assert told == list(range(COMMITS))
            assert len(mine) == 2 * COMMITS
        assert {e.commit - e.seq for e in found.envelopes} == {0, 1}


class TestTornTail:
    """What lies behind the last whole commit is ignored by readers; the next writer removes it."""

    def check(self, log: LogFile, torn: bytes) -> None:
        """Put a torn tail there; read, then write."""
        whole = written([[OPENED], [SEEN, SEEN]])
        log.path.write_bytes(whole + torn)
        writer, reader = again(log), again(log)
        assert reader.read() == writer.read()
        assert reader.read().head.seq == 3
        assert log.path.read_bytes() == whole + torn
        said = append(writer, SEEN).envelopes
        digest = hashlib.sha256(torn).hexdigest()
        dropped = [TailDropped(at=NOON, bytes=len(torn), sha256=digest)] if torn else []
        assert [envelope.event for envelope in said] == [SEEN, *dropped]
        assert log.path.read_bytes() == written([[OPENED], [SEEN, SEEN], [SEEN, *dropped]])
        assert tuple(reader.read(4).envelopes) == tuple(writer.read(4).envelopes) == said
        reader.close()
        writer.close()

    @pytest.mark.rule("D13")
    def test_law_every_cut(self, log: LogFile) -> None:
        """Cut at every byte of the last commit: it is as if it had never been begun."""
        whole = written([[OPENED], [SEEN, SEEN]])
        last = written([[OPENED], [SEEN, SEEN], [SEEN, SEEN]])[len(whole) :]
        for cut in range(len(last)):
            self.check(log, last[:cut])

    @pytest.mark.parametrize("torn", [b"\0", b"\0" * 5000, b'{"type":\0\0', b"\0\n\0\n"])
    def test_nuls(self, log: LogFile, torn: bytes) -> None:
        """As a loss of power leaves it."""
        self.check(log, torn)

    def test_said_once(self, log: LogFile) -> None:
        """What was removed is said by the one who removed it."""
        log.path.write_bytes(log.path.read_bytes() + b"torn")
        assert kinds(append(log, SEEN)) == ["OrchestratorSeen", "TailDropped"]
        assert kinds(append(log, SEEN)) == ["OrchestratorSeen"]

    def test_the_first_commit(self, tmp_path: Path) -> None:
        """A log whose very first commit was torn is opened as a new one, and says so."""
        log = LogFile(tmp_path)
        log.path.write_bytes(written([[OPENED, SEEN]])[:-1])
        assert log.read() == Reading(envelopes=[], head=EMPTY)
        live = Live(log=log, clock=FakeClock(), author=BY)
        said = [type(envelope.event).__name__ for envelope in transact(live, INIT)]
        assert said == ["RunOpened", "LaunchFixed", "RunConfigured", "TailDropped"]
        assert live.registry.run is not None
        assert live.registry.run.tails_dropped == 1

    def test_nothing_to_say(self, tmp_path: Path) -> None:
        """A decision that says nothing writes nothing: the tail stays for the next one."""
        log = LogFile(tmp_path)
        live = Live(log=log, clock=FakeClock(), author=BY)
        transact(live, INIT)
        torn = log.path.read_bytes() + b"torn"
        log.path.write_bytes(torn)
        assert transact(live, INIT) == ()
        assert log.path.read_bytes() == torn


@pytest.mark.rule("B4.3")
class TestDamage:
    """Damage further in is refused, never skipped, with its line and its place."""

    def test_in_the_middle(self, log: LogFile) -> None:
        """Nobody reads it, nobody writes it, and it stays as it is."""
        data = log.path.read_bytes()
        second = data.index(b"\n") + 1
        damaged = data[:second] + data[second:].replace(b"Orch", b"orch", 1)
        append(log, SEEN)
        damaged += log.path.read_bytes()[len(data) :]
        log.path.write_bytes(damaged)
        fresh = again(log)
        for ask in (fresh.read, partial(append, fresh, SEEN)):
            with pytest.raises(LogDamaged, match="the log is damaged") as caught:
                ask()
            assert caught.value.fields["line"] == 2
            assert caught.value.fields["offset"] == second
            assert caught.value.fields["path"] == str(log.path)
        assert log.path.read_bytes() == damaged

    def test_behind_what_was_read(self, log: LogFile) -> None:
        """A handle that reads only what is new names the place in the whole file."""
        log.read()
        end = log.path.stat().st_size
        log.path.write_bytes(log.path.read_bytes() + b"{}\n")
        with pytest.raises(LogDamaged) as caught:
            log.read(4)
        assert (caught.value.fields["line"], caught.value.fields["offset"]) == (4, end)


class TestReplaced:
    """Another log at the path, or a shorter one, is noticed, and stays noticed."""

    def check(self, log: LogFile) -> None:
        """Neither read nor written, however often it is tried."""
        before = log.path.read_bytes()
        for _ in range(2):
            for ask in (log.read, partial(log.read, 4), partial(append, log, SEEN)):
                with pytest.raises(LogDamaged, match="replaced or cut off") as caught:
                    ask()
                assert caught.value.fields["line"] == 3
        assert log.path.read_bytes() == before

    def test_replaced(self, log: LogFile) -> None:
        """By a longer log of another history."""
        fresh = log.path.with_name("fresh")
        fresh.write_bytes(written([[OPENED, OPENED, OPENED, SEEN]]))
        fresh.replace(log.path)
        self.check(log)

    def test_cut_off(self, log: LogFile) -> None:
        """Cut at any byte before what was read."""
        size = log.path.stat().st_size
        for length in (size - 1, size // 2, 0):
            os.truncate(log.path, length)
            self.check(log)

    def test_written_over(self, log: LogFile) -> None:
        """In place, by another history of the same length: the next line does not follow."""
        log.path.write_bytes(log.path.read_bytes().replace(b'"x"', b'"y"'))
        head, more = EMPTY, b""
        for _ in range(4):
            _, more, head = link(head, Author(verb="y", host="h", pid=1), [SEEN])
        with log.path.open("ab") as file:
            file.write(more)
        with pytest.raises(LogDamaged):
            log.read(4)

    def test_a_true_copy(self, log: LogFile) -> None:
        """The same history in another file goes on: a backup was brought back."""
        data = log.path.read_bytes()
        fresh = log.path.with_name("fresh")
        fresh.write_bytes(data)
        fresh.replace(log.path)
        assert log.read(4).envelopes == []
        assert append(log, SEEN).head.seq == 4
        assert again(log).read() == log.read()

    def test_gone(self, log: LogFile) -> None:
        """A log that is gone is not begun anew by who has read it."""
        log.path.unlink()
        for ask in (log.read, partial(append, log, SEEN)):
            with pytest.raises(StorageFailed, match="cannot use the state folder"):
                ask()
        assert not log.path.exists()


class TestLocked:
    """Another writer is waited for, and not for ever."""

    def test_a_stopped_writer(self, log: LogFile) -> None:
        """Who cannot write may still read; the refusal names the holder."""
        lock = log.path.with_name("events.lock")
        with holder(lock) as process:
            hasty = LogFile(log.path.parent, lock_wait_s=0.01)
            with pytest.raises(LogLocked, match="log locked") as caught:
                append(hasty, SEEN)
            assert caught.value.fields["holder"] == process.pid
            assert hasty.read().head.seq == 3
        assert append(hasty, SEEN).head.seq == 4

    def test_not_within_itself(self, log: LogFile) -> None:
        """Locks are never nested: a second one is refused like anybody's."""
        hasty = LogFile(log.path.parent, lock_wait_s=0.01)
        with hasty.writing(), pytest.raises(LogLocked), hasty.writing():
            pass

    @pytest.mark.rule("B5.5")
    def test_the_lock_is_let_go(self, log: LogFile) -> None:
        """After a commit, and after an error within."""
        with pytest.raises(ZeroDivisionError), log.writing():
            _ = 1 // 0
        with locked(log.path.with_name("events.lock"), 0):
            pass


@pytest.mark.rule("B4.2")
class TestFailures:
    """What storage refuses is told as that, and a log that failed is written no more."""

    def test_disk_full(self, tmp_path: Path) -> None:
        """A write that fails half way leaves a torn tail: a fresh handle goes on before it."""
        log = LogFile(tmp_path)
        append(log, OPENED)
        size = log.path.stat().st_size
        limit = size + 1500
        told = subprocess.run(
            (*CHILD, "fill", str(tmp_path), str(limit)), cwd=ROOT, capture_output=True, check=True
        )
        first, second = json.loads(told.stdout)
        assert first == "cannot use the state folder: File too large"
        assert second == "an earlier write failed; verify the log"
        assert log.path.stat().st_size == limit, "some of the bytes were written"
        fresh = again(log)
        seq = fresh.read().head.seq
        assert seq > 1
        assert kinds(append(fresh, SEEN)) == ["OrchestratorSeen", "TailDropped"]
        data = log.path.read_bytes()
        assert scan(data).length == len(data)
        assert again(log).read().head.seq == seq + 2

    def test_no_space(self, tmp_path: Path) -> None:
        """A device that is full says so, and the handle writes and syncs no more."""
        log = LogFile(tmp_path)
        log.path.symlink_to("/dev/full")
        with pytest.raises(StorageFailed, match="No space left"):
            append(log, OPENED)
        for ask in (partial(append, log, OPENED), log.sync):
            with pytest.raises(StorageFailed, match="an earlier write failed"):
                ask()

    def test_failed_sync(self, tmp_path: Path) -> None:
        """What cannot be synced is suspect: the next sync, which would be good, does not help."""
        log = LogFile(tmp_path)
        log.path.symlink_to("/dev/null")
        with pytest.raises(StorageFailed, match="Invalid argument"):
            log.sync()
        log.path.unlink()
        append(again(log), OPENED)
        log.close()
        for ask in (log.sync, partial(append, log, SEEN)):
            with pytest.raises(StorageFailed, match="an earlier write failed"):
                ask()
        assert log.read().head.seq == 1, "it can still be read"

    @pytest.mark.rule("B5.4")
    def test_no_folder(self, tmp_path: Path) -> None:
        """A state folder under a file cannot be used."""
        (tmp_path / "file").touch()
        asks: tuple[Callable[[LogFile], object], ...] = (
            LogFile.read,
            LogFile.sync,
            lambda log: append(log, OPENED),
        )
        for ask in asks:
            with pytest.raises(StorageFailed, match="Not a directory") as caught:
                ask(LogFile(tmp_path / "file"))
            assert str(tmp_path / "file") in caught.value.fields["path"]

    @pytest.mark.rule("B5.4")
    def test_missing_folder(self, tmp_path: Path) -> None:
        """A folder that is not there is empty to a reader, and is not made by a writer."""
        log = LogFile(tmp_path / "none")
        assert log.read().head == EMPTY
        with pytest.raises(StorageFailed, match="No such file"):
            append(log, OPENED)
        assert not (tmp_path / "none").exists()
