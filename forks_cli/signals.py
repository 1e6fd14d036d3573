"""Signals that ask a run of a study to end: the first after this attempt, the second at once."""

import contextlib
import signal
from collections.abc import Callable, Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stops:
    """Counts the signals.

    Args:
        say: Tells whoever watches what a signal will do.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._count = 0
        self._told = False

    def count(self) -> int:
        """How many there were; after the first it is said, once, what that does."""
        if self._count and not self._told:
            self._told = True
            self._say("stops after this attempt; once more ends it at once, and it stays pending")
        return self._count

    def hear(self, *_: object) -> None:
        """Take one more. It may come in the middle of a line that is said, so it says nothing."""
        self._count += 1


@contextlib.contextmanager
def heard(stops: Stops) -> Iterator[None]:
    """Count signals instead of dying of them; what is ignored, as under nohup, stays so."""
    known = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stops.hear) for number in known}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
