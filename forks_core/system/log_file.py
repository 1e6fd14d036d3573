"""The log as a file: one line an event, appended by one writer at a time.

The order is fixed under the lock; it is made durable after unlocking, since a later sync covers
every earlier byte, and many writers then outrun one that syncs while the others wait.
"""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from attrs import frozen

from forks_core.errors import LogDamaged, StorageFailed
from forks_core.ports import Reading, Writer
from forks_core.system.files import (
    PRIVATE_FILE,
    bytes_from,
    line_before,
    open_rw,
    sha256,
    storage,
    sync_folder,
)
from forks_core.system.lock import locked
from forks_events import Event
from forks_events.chain import Broken, Scan, link, scan
from forks_events.envelope import EMPTY, Author, Head, decode, line_hash
from forks_events.run import TailDropped

_PLACES = 1024
"""Places that a handle remembers; one read or write, one place."""


@frozen(kw_only=True)
class Position:
    """A place in a log file: the head there, and how many bytes come before it."""

    head: Head
    end: int


class LogFile:
    """The log of a state folder.

    Args:
        folder: Where ``events.jsonl`` and ``events.lock`` lie.
        lock_wait_s: Seconds to wait for another writer.
    """

    def __init__(self, folder: Path, *, lock_wait_s: float = 45.0) -> None:
        self.path = folder / "events.jsonl"
        self._lock = folder / "events.lock"
        self._lock_wait_s = lock_wait_s
        self._turn = threading.RLock()
        self._file: int | None = None
        self._head = EMPTY
        self._end = 0
        self._places: deque[Position] = deque(maxlen=_PLACES)
        self._suspect = False

    def read(self, from_seq: int = 1) -> Reading:
        """Read whole commits from ``from_seq`` on; a torn tail is ignored.

        Raises:
            LogDamaged: A line is not what was written.
            StorageFailed: The file cannot be read.
        """
        with self._turn, storage(self.path):
            reading, _ = self._read(from_seq)
            return reading

    @property
    def position(self) -> Position:
        """How far it was read or written."""
        return Position(head=self._head, end=self._end)

    def resume(self, position: Position) -> bool:
        """Go on behind a place that was read before, if the log still holds it there.

        Only the line before that place is looked at, however long the log is.
        """
        with self._turn, storage(self.path):
            file = self._open()
            if file is None or not _ends_a_commit(line_before(file, position.end), position.head):
                return False
            self._go_to(position)
            return True

    @contextlib.contextmanager
    def writing(self) -> Iterator[Writer]:
        """Be the only writer for a while.

        Raises:
            LogLocked: Another writer held the log for longer than the wait.
            StorageFailed: An earlier write or sync failed, or the folder cannot be used.
        """
        self._must_be_sound()
        with self._turn, storage(self.path), locked(self._lock, self._lock_wait_s):
            yield self

    def append(self, by: Author, events: Sequence[Event], at: datetime) -> Reading:
        """Record events as one commit; only within `writing`.

        A torn tail is removed, and the commit says so.

        Raises:
            OSError: The bytes could not be written whole; the log is suspect.
        """
        _, torn = self._read(self._head.seq + 1)
        if torn:
            events = [*events, TailDropped(at=at, bytes=len(torn), sha256=sha256(torn))]
        envelopes, data, head = link(self._head, by, events)
        self._write(data, head)
        return Reading(envelopes=envelopes, head=head)

    def sync(self) -> None:
        """Return when all that was recorded would survive a loss of power.

        Raises:
            StorageFailed: It might not; nor is that known of a log that failed before, since the
                kernel tells a failed sync once and calls the next one good.
        """
        self._must_be_sound()
        try:
            with storage(self.path), self._turn:
                if self._open() is not None:
                    os.fdatasync(self._open_or_fail())
        except StorageFailed:
            self._suspect = True
            raise

    def close(self) -> None:
        """Give the file back."""
        with self._turn:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _must_be_sound(self) -> None:
        if self._suspect:
            raise StorageFailed("an earlier write failed; verify the log", path=str(self.path))

    def _read(self, from_seq: int) -> tuple[Reading, bytes]:
        """Read what is asked for, and the torn tail behind it."""
        self._follow()
        place = self._before(from_seq)
        offset = place.end
        file = self._open()
        data = b"" if file is None else bytes_from(file, offset)
        found = self._scan(data, place.head, offset)
        self._go_to(Position(head=found.head, end=offset + found.length))
        envelopes = [known for known in found.envelopes if known.seq >= from_seq]
        return Reading(envelopes=envelopes, head=found.head), data[found.length :]

    def _go_to(self, position: Position) -> None:
        if position != self.position or not self._places:
            self._places.append(position)
        self._head, self._end = position.head, position.end

    def _before(self, seq: int) -> Position:
        """The nearest place that is known before an event: who looks back a little reads little."""
        known = (place for place in reversed(self._places) if place.head.seq < seq)
        return next(known, Position(head=EMPTY, end=0))

    def _scan(self, data: bytes, start: Head, offset: int) -> Scan:
        try:
            return scan(data, start)
        except Broken as error:
            raise LogDamaged(
                "the log is damaged",
                path=str(self.path),
                line=error.line,
                offset=offset + error.offset,
                detail=error.why,
            ) from error

    def _follow(self) -> None:
        """Notice another file at the path, or a shorter one: what was read must still be there.

        A log that lost what was read is refused for good: this handle keeps what it knows.
        """
        file = self._open()
        if file is None:
            return
        here = os.fstat(file)
        if os.path.samestat(here, os.stat(self.path)) and here.st_size >= self._end:  # noqa: PTH116
            return
        fresh = open_rw(self.path)
        try:
            self._must_go_on(self._scan(bytes_from(fresh, 0), EMPTY, 0))
        except BaseException:
            os.close(fresh)
            raise
        os.close(file)
        self._file, self._head, self._end = fresh, EMPTY, 0
        self._places.clear()

    def _must_go_on(self, found: Scan) -> None:
        at = self._head.seq
        if at and (found.head.seq < at or _hash_after(found, at) != self._head.hash):
            raise LogDamaged("the log was replaced or cut off", path=str(self.path), line=at)

    def _open(self) -> int | None:
        """The open file, or None while there is none."""
        if self._file is None:
            with contextlib.suppress(FileNotFoundError):
                self._file = open_rw(self.path)
        return self._file

    def _open_or_fail(self) -> int:
        file = self._open()
        if file is None:
            raise StorageFailed("the log is gone", path=str(self.path))
        return file

    def _write(self, data: bytes, head: Head) -> None:
        """Write behind the last whole commit, over whatever was torn there."""
        if self._head == EMPTY:
            # The first to write makes the file's name durable, whoever made the file and died.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE))
            sync_folder(self.path.parent)
        file = self._open_or_fail()
        position, end = self._end, self._end + len(data)
        try:
            if os.fstat(file).st_size > position:
                os.ftruncate(file, position)
            while position < end:
                position += os.pwrite(file, data[position - end :], position)
        except OSError:
            self._suspect = True
            raise
        self._go_to(Position(head=head, end=end))


def _hash_after(found: Scan, seq: int) -> str:
    """The hash of the line ``seq``, as the next line, or the head, has it."""
    following = [envelope.prev for envelope in found.envelopes if envelope.seq == seq + 1]
    return following[0] if following else found.head.hash


def _ends_a_commit(line: bytes, head: Head) -> bool:
    """Whether this is the line of that head."""
    if line_hash(line) != head.hash:
        return False
    envelope = decode(line)
    return envelope.seq == envelope.commit == head.seq
