"""What is asked of the world. `forks_core.system` answers; tests answer with fakes of these."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from attrs import frozen

from forks_events import Event
from forks_events.envelope import Author, Envelope, Head
from forks_events.values import Process


@frozen(kw_only=True)
class Reading:
    """Recorded events, in order, and the head of the log after them."""

    envelopes: Sequence[Envelope]
    head: Head


class Writer(Protocol):
    """The log while this process alone may write it."""

    def read(self, from_seq: int) -> Reading:
        """Read what was recorded from ``from_seq`` on."""

    def append(self, by: Author, events: Sequence[Event], at: datetime) -> Reading:
        """Record events as one commit; with it what had to be said first (a dropped tail)."""


class Log(Protocol):
    """One event log. Nothing beyond this interface knows of files and offsets."""

    def read(self, from_seq: int = 1) -> Reading:
        """Read whole commits from ``from_seq`` on; a torn tail is ignored."""

    def writing(self) -> AbstractContextManager[Writer]:
        """Be the only writer for a while.

        Raises:
            LogLocked: Another writer held the log for too long.
        """

    def sync(self) -> None:
        """Return when all that was recorded would survive a loss of power."""


class Clock(Protocol):
    """Time."""

    def now(self) -> datetime:
        """Tell the wall clock's time, in UTC."""

    def monotonic(self) -> float:
        """Tell seconds of a clock that is never set."""


class Processes(Protocol):
    """Processes of this machine."""

    def is_alive(self, process: Process) -> bool | None:
        """Tell whether it runs; None when that cannot be known from here (another host)."""

    def end(self, roots: Iterable[Process], marker: str) -> Sequence[Process]:
        """End these and all that descends from them or carries the marker.

        Returns:
            What was found and ended, the roots among it.
        """
