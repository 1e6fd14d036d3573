"""``forks replay``: the registry as it was after an event, or at a time."""

import argparse
from datetime import UTC, datetime

from forks_cli.answer import Answer
from forks_cli.parser import add_run, not_negative_int
from forks_core.errors import Refused
from forks_core.ports import Reading
from forks_core.projections.head import head_row
from forks_core.projections.plain import plain
from forks_core.reducer import fold
from forks_core.system.open_run import open_run
from forks_core.transact import known_events
from forks_events.envelope import Head


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    until = parser.add_mutually_exclusive_group()
    until.add_argument("--seq", type=not_negative_int, metavar="N", help="up to this event")
    until.add_argument(
        "--at",
        type=parse_moment,
        metavar="TIME",
        help="up to this time, ISO 8601, in UTC unless it names a zone",
    )


def run(arguments: argparse.Namespace) -> Answer:
    """Fold the log again, from its first event, and print what came of it."""
    opened = open_run(arguments.run, "replay")
    if opened.live.head.seq == 0:
        raise Refused("there is no log", log=str(opened.folder.log))
    opened.live.log.sync()
    reading = opened.live.log.read()
    seq = _last_seq(reading, arguments.seq, arguments.at)
    envelopes = reading.envelopes[:seq]
    events, unknown = known_events(envelopes)
    return Answer(
        {
            "registry": plain(fold(events)),
            "events": len(envelopes),
            "unknown": unknown,
            "head": head_row(_head(reading, seq)),
        }
    )


def _last_seq(reading: Reading, seq: int | None, at: datetime | None) -> int:
    """The last event that is asked for. Clocks may step back: the last one by that time counts."""
    if at is not None:
        return max((known.seq for known in reading.envelopes if known.event.at <= at), default=0)
    return reading.head.seq if seq is None else min(seq, reading.head.seq)


def _head(reading: Reading, seq: int) -> Head:
    """The head as it was then: the next line knows the hash of this one."""
    if seq == reading.head.seq:
        return reading.head
    return Head(seq=seq, hash=reading.envelopes[seq].prev)


def parse_moment(text: str) -> datetime:
    """Read a time; without a zone it is in UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a time in ISO 8601: {text}") from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
