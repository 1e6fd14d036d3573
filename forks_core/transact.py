"""Load, decide, append: the only way into the log."""

from collections.abc import Iterable

from attrs import define

from forks_core.decider import Command, decide
from forks_core.errors import Refused
from forks_core.ports import Clock, Log, Reading
from forks_core.reducer import fold
from forks_core.registry import INITIAL, Registry
from forks_events import Event
from forks_events.envelope import EMPTY, Author, Envelope, Head, Unknown


@define
class Live:
    """A log and the registry that it folds to; only what is new is folded.

    Args:
        log: The log.
        clock: The time that decisions are given.
        author: Who writes.
    """

    log: Log
    clock: Clock
    author: Author
    registry: Registry = INITIAL
    head: Head = EMPTY
    unknown: int = 0

    def refresh(self) -> Registry:
        """Fold what others have recorded since, and return the registry."""
        self.take(self.log.read(self.head.seq + 1))
        return self.registry

    def take(self, reading: Reading) -> None:
        """Fold recorded events that follow the ones that were folded."""
        events, unknown = known_events(reading.envelopes)
        self.registry = fold(events, self.registry)
        self.unknown += unknown
        self.head = reading.head


def known_events(envelopes: Iterable[Envelope]) -> tuple[list[Event], int]:
    """Split recorded events into those that can be folded and the number of unknown ones."""
    events: list[Event] = []
    unknown = 0
    for envelope in envelopes:
        if isinstance(envelope.event, Unknown):
            unknown += 1
        else:
            events.append(envelope.event)
    return events, unknown


def transact(live: Live, command: Command) -> tuple[Envelope, ...]:
    """Decide a command under the log's lock, and record what was decided as one commit.

    What is returned is durable, and so is all that a refusal was judged by. No effect on the
    world runs under the lock.

    Raises:
        Refused: The command cannot be; nothing was recorded.
        StorageFailed: The log cannot be read, locked, written or synced.
    """
    try:
        envelopes = _record(live, command)
    except Refused:
        live.log.sync()
        raise
    live.log.sync()
    return envelopes


def _record(live: Live, command: Command) -> tuple[Envelope, ...]:
    with live.log.writing() as writer:
        live.take(writer.read(live.head.seq + 1))
        if live.unknown:
            raise Refused(
                "the log holds events that this forks does not know; use the newer one",
                unknown=live.unknown,
            )
        now = live.clock.now()
        events = decide(command, live.registry, now)
        if not events:
            return ()
        # An illegal history must show before it is written, not to everyone who reads it later.
        fold(events, live.registry)
        reading = writer.append(live.author, events, now)
    live.take(reading)
    return tuple(reading.envelopes)
