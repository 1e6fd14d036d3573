"""Fakes of the ports: a log in memory, a clock that is set, processes that are told."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from forks_core.errors import LogLocked, StorageFailed
from forks_core.ports import Reading
from forks_events import Event
from forks_events.chain import link, scan
from forks_events.envelope import Author
from forks_events.values import Process

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class MemoryLog:
    """A log in memory, of the same lines and the same chain as the one in a file.

    Args:
        data: What it holds from the beginning.
    """

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.calls: list[str] = []
        """What was asked of it, in order: read, lock, append, unlock, sync."""
        self.failing: set[str] = set()
        """Calls that fail from now on: lock, append, sync."""
        self.synced = len(data)
        """How many bytes would survive a loss of power."""
        self._locked = False

    def read(self, from_seq: int = 1) -> Reading:
        """Read whole commits from ``from_seq`` on."""
        self.calls.append("read")
        found = scan(self.data)
        known = [envelope for envelope in found.envelopes if envelope.seq >= from_seq]
        return Reading(envelopes=known, head=found.head)

    @contextlib.contextmanager
    def writing(self) -> Iterator["MemoryLog"]:
        """Be the only writer for a while."""
        self._asked("lock", LogLocked("log locked", holder=1))
        assert not self._locked, "locked twice"
        self._locked = True
        try:
            yield self
        finally:
            self._locked = False
            self.calls.append("unlock")

    def append(self, by: Author, events: Sequence[Event], at: datetime) -> Reading:  # noqa: ARG002 - nothing is ever torn here
        """Record events as one commit."""
        assert self._locked, "append without the lock"
        self._asked("append", StorageFailed("no space left"))
        found = scan(self.data)
        envelopes, data, head = link(found.head, by, events)
        self.data = self.data[: found.length] + data
        return Reading(envelopes=envelopes, head=head)

    def sync(self) -> None:
        """Let all that was recorded survive."""
        assert not self._locked, "synced under the lock"
        self._asked("sync", StorageFailed("cannot sync"))
        self.synced = len(self.data)

    def _asked(self, call: str, failure: StorageFailed) -> None:
        self.calls.append(call)
        if call in self.failing:
            raise failure


class FakeClock:
    """A clock that goes only when it is told to."""

    def __init__(self, now: datetime = NOON) -> None:
        self.at = now
        self.seconds = 0.0

    def now(self) -> datetime:
        """Tell the time that was set."""
        return self.at

    def monotonic(self) -> float:
        """Tell the seconds that passed."""
        return self.seconds

    def tick(self, seconds: float = 1.0) -> None:
        """Let seconds pass, on both clocks."""
        self.at += timedelta(seconds=seconds)
        self.seconds += seconds


class FakeProcesses:
    """Processes of a machine that is made up.

    Args:
        host: The machine's name; of processes of another one nothing is known.
        alive: Those that run.
    """

    def __init__(self, host: str = "h", alive: Iterable[Process] = ()) -> None:
        self.host = host
        self.alive = set(alive)
        self.ended: list[Process] = []

    def is_alive(self, process: Process) -> bool | None:
        """Tell whether it runs; None of another host."""
        return process in self.alive if process.host == self.host else None

    def end(self, roots: Iterable[Process], marker: str) -> Sequence[Process]:  # noqa: ARG002 - these have no environment
        """End those of them that run."""
        found = [process for process in roots if process in self.alive]
        self.alive -= set(found)
        self.ended += found
        return found
