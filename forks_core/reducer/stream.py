"""How a stream moves: what its client said, summed up.

- Turns, the first and the last response are the main thread's; the tokens seen are everybody's.
- The last result wins. A later one that is no real turn, such as the note of a background task
  or a crash with its counters at zero, never replaces one that is.
- Counters only grow within a conversation, so their peak is what the client counted; a reset
  closes what was counted so far.
- A list of denials may repeat what an earlier result listed: per tool the larger number holds.
"""

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from attrs import evolve as change

from forks_core.registry import SILENT, Stream
from forks_core.registry.stream import Left
from forks_events import Said
from forks_events.quota import QuotaRead
from forks_events.stream import (
    StreamEvent,
    StreamOpened,
    StreamRefused,
    StreamReset,
    StreamResulted,
    StreamRetried,
    StreamTurned,
)
from forks_events.values import NOTHING_SPENT, Spent, Usage, joined, total


def hear(stream: Stream, event: StreamEvent) -> Stream:
    """Fold one event of a stream into what is known of it."""
    heard = change(stream, heard=stream.heard + 1, heard_at=event.at)
    match event:
        case StreamOpened():
            return change(heard, opened=stream.opened or event)
        case StreamTurned():
            return _turned(heard, event)
        case StreamRetried():
            return change(heard, retried=event)
        case StreamRefused():
            return change(heard, refused=event)
        case StreamResulted():
            return _resulted(heard, event)
        case StreamReset():
            return _reset(heard, event)
        case _:
            assert_never(event)


def summed(said: Iterable[Said], stream: Stream = SILENT) -> Stream:
    """Sum up what a client said; its readings are the quota's."""
    for event in said:
        stream = stream if isinstance(event, QuotaRead) else hear(stream, event)
    return stream


def _turned(stream: Stream, event: StreamTurned) -> Stream:
    model = event.model or ""
    before = stream.seen.get(model, Usage())
    seen = stream.seen.set(model, total((before, event.usage)))
    if not event.main:
        return change(stream, seen=seen, retried=None)
    return change(
        stream,
        seen=seen,
        retried=None,
        turns=stream.turns + 1,
        first=stream.first or event,
        last=event,
    )


def _resulted(stream: Stream, event: StreamResulted) -> Stream:
    real = _is_real(event, stream.peak)
    return change(
        stream,
        retried=None,
        first_result=stream.first_result or event,
        result=_winner(stream.result, event, real=real),
        peak=_peak(stream.peak, event.spent),
        seen_then=stream.seen_then if event.spent is None else stream.seen_in_all.prompt,
        denials=_united(stream.denials, event.denials),
        succeeded=stream.succeeded or (real and not _is_error(event)),
        failed_later=stream.failed_later or (stream.succeeded and _is_error(event)),
    )


def _reset(stream: Stream, event: StreamReset) -> Stream:
    left = stream.left
    if stream.peak is not None:
        was = stream.reset.session if stream.reset else None
        left = (*left, Left(session=was, spent=stream.peak))
    return change(stream, peak=None, left=left, reset=event, retried=None)


def _winner(held: StreamResulted | None, event: StreamResulted, *, real: bool) -> StreamResulted:
    if held is None:
        return event
    winner = event if real or held.num_turns == 0 else held
    # Work that the client gave up on stays given up, whichever result tells of it.
    return change(winner, killed_work=max(held.killed_work, event.killed_work))


def _is_real(event: StreamResulted, peak: Spent | None) -> bool:
    if event.num_turns == 0:
        return False
    if event.usage != Usage() or peak is None:
        return True
    return event.spent is not None and event.spent.cost_usd >= peak.cost_usd


def _is_error(event: StreamResulted) -> bool:
    return event.is_error or event.subtype.startswith("error") or event.error_kind is not None


def _peak(peak: Spent | None, spent: Spent | None) -> Spent | None:
    return peak if spent is None else joined(peak or NOTHING_SPENT, spent, max)


def _united(before: tuple[str, ...], listed: tuple[str, ...]) -> tuple[str, ...]:
    more = Counter(listed) - Counter(before)
    return before + tuple(more.elements())
