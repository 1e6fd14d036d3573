"""What a job's client has said, summed up."""

from datetime import datetime
from operator import add

from attrs import field, frozen
from immutables import Map

from forks_events.stream import (
    StreamOpened,
    StreamRefused,
    StreamReset,
    StreamResulted,
    StreamRetried,
    StreamTurned,
)
from forks_events.values import NOTHING_SPENT, Spent, Usage, joined, total


@frozen(kw_only=True)
class Left:
    """A session that was left for another one, and its counters then; None: it is the first."""

    session: str | None
    spent: Spent


@frozen(kw_only=True)
class Stream:
    """What a job's client has said, summed up.

    Args:
        heard: Number of stream events so far; the raw file yields the same ones in this order.
        heard_at: When the last one was recorded.
        opened: The first introduction.
        turns: Distinct responses of the main thread.
        first: The main thread's first response.
        last: The main thread's last response.
        seen: Tokens of all distinct responses, subagents included, by the model that answered
            ("" when not told); the output is not reliable.
        retried: The retry that was announced last, until a response or a result follows.
        refused: The announced refusal of the model.
        first_result: The first result.
        result: The last result that is one (see the reducer).
        peak: Per model the largest counters, and the largest cost, over all results since the
            conversation was last reset.
        seen_then: Prompt tokens that had been seen at the last result that counted something.
        left: The sessions that it was in before it was reset, and what was counted in each.
        reset: When it was last reset, and the session since, or None.
        denials: Tools denied, over all results.
        succeeded: Whether some result was no error.
        failed_later: Whether a result after such a one was an error.
    """

    heard: int = 0
    heard_at: datetime | None = None
    opened: StreamOpened | None = None
    turns: int = 0
    first: StreamTurned | None = None
    last: StreamTurned | None = None
    seen: Map[str, Usage] = field(factory=Map)
    retried: StreamRetried | None = None
    refused: StreamRefused | None = None
    first_result: StreamResulted | None = None
    result: StreamResulted | None = None
    peak: Spent | None = None
    seen_then: int = 0
    left: tuple[Left, ...] = ()
    reset: StreamReset | None = None
    denials: tuple[str, ...] = ()
    succeeded: bool = False
    failed_later: bool = False

    @property
    def closed(self) -> Spent:
        """What was counted before the conversation was last reset, all in all."""
        whole = NOTHING_SPENT
        for left in self.left:
            whole = joined(whole, left.spent, add)
        return whole

    @property
    def seen_in_all(self) -> Usage:
        """Tokens of all distinct responses, whatever model answered."""
        return total(self.seen.values())


SILENT = Stream()
