"""A log in memory that is quick, and the same as one process writes it that may break."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

from attrs import define, field

from forks_core.ports import Reading
from forks_events import Event
from forks_events.envelope import Author, Envelope, Head
from tests.fakes import FakeClock


@define
class EventLog:
    """A log of events that were never written down.

    Args:
        clock: Tells when each was recorded, in monotonic seconds.
    """

    clock: FakeClock
    envelopes: list[Envelope] = field(factory=list)
    times: list[float] = field(factory=list)
    locked: bool = False

    @property
    def events(self) -> list[Event]:
        """What happened."""
        return [envelope.event for envelope in self.envelopes]  # type: ignore[misc]

    def read(self, from_seq: int = 1) -> Reading:
        """Read from an event on."""
        return Reading(envelopes=self.envelopes[from_seq - 1 :], head=self._head)

    @property
    def _head(self) -> Head:
        return Head(seq=len(self.envelopes), hash="")

    @contextlib.contextmanager
    def writing(self) -> Iterator["EventLog"]:
        """Be the only writer."""
        assert not self.locked, "locked twice"
        self.locked = True
        try:
            yield self
        finally:
            self.locked = False

    def append(self, by: Author, events: Sequence[Event], at: object) -> Reading:  # noqa: ARG002 - nothing is torn
        """Record a commit."""
        first, last = len(self.envelopes) + 1, len(self.envelopes) + len(events)
        new = [
            Envelope(seq=seq, commit=last, by=by, prev="", event=event)
            for seq, event in enumerate(events, first)
        ]
        self.envelopes += new
        self.times += [self.clock.seconds] * len(new)
        return Reading(envelopes=new, head=self._head)

    def sync(self) -> None:
        """All survives."""
        assert not self.locked, "synced under the lock"


@define
class Watched:
    """The log as the runner writes it: each append is an act of its own, before and after.

    Args:
        log: The log.
        act: Told what the runner is about, or has done.
    """

    log: EventLog
    act: Callable[[str], None]
    _said: str = ""

    def read(self, from_seq: int = 1) -> Reading:
        """Read from an event on."""
        return self.log.read(from_seq)

    @contextlib.contextmanager
    def writing(self) -> Iterator["Watched"]:
        """Be the only writer."""
        with self.log.writing():
            yield self

    def append(self, by: Author, events: Sequence[Event], at: object) -> Reading:
        """Record a commit."""
        name = type(events[-1]).__name__
        self.act(f"appends {name}")
        self._said = name
        return self.log.append(by, events, at)

    def sync(self) -> None:
        """All survives."""
        self.log.sync()
        if self._said:
            self._said, said = "", self._said
            self.act(f"appended {said}")
