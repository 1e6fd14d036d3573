"""The chain: many lines read as one log, whole commits only.

Pure: bytes in, envelopes out. What lies behind the last whole commit is a torn tail: an append
that was cut off by a crash, or blocks of NUL that a power loss left. It is not an error. A line
that was damaged further in is, and it is named.
"""

from collections.abc import Iterator, Sequence

from attrs import frozen

from forks_events import Event
from forks_events.codec import Undecodable
from forks_events.envelope import EMPTY, Author, Envelope, Head, decode, encode, line_hash


class Broken(ValueError):
    """A line is not what was written.

    Args:
        line: Its number, from 1.
        offset: Where it begins, in bytes from the start of what was scanned.
        why: What is wrong with it.
    """

    def __init__(self, line: int, offset: int, why: str) -> None:
        super().__init__(f"line {line} at byte {offset}: {why}")
        self.line = line
        self.offset = offset
        self.why = why


@frozen(kw_only=True)
class Scan:
    """What a piece of a log holds.

    Args:
        envelopes: All events of whole commits.
        head: The head after them.
        length: Bytes up to the end of the last whole commit; the rest is a torn tail.
    """

    envelopes: tuple[Envelope, ...]
    head: Head
    length: int


def scan(data: bytes, start: Head = EMPTY) -> Scan:
    """Read whole commits that follow ``start``, and check that each line follows its forerunner.

    Raises:
        Broken: A line within is damaged.
    """
    done: list[Envelope] = []
    batch: list[Envelope] = []
    head = last = start
    length = 0
    for offset, line in _lines(data):
        number = last.seq + 1
        try:
            envelope = decode(line)
        except Undecodable as error:
            if b"\0" in line and not _any_decodable(data[offset + len(line) + 1 :]):
                break
            raise Broken(number, offset, str(error)) from error
        _check_link(data, offset, line, envelope, last)
        _check_batch(batch, envelope, offset)
        batch.append(envelope)
        last = Head(seq=number, hash=line_hash(line))
        if envelope.seq == envelope.commit:
            done += batch
            batch.clear()
            head, length = last, offset + len(line) + 1
    return Scan(envelopes=tuple(done), head=head, length=length)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each line that has its newline, with its offset."""
    offset = 0
    while (end := data.find(b"\n", offset)) >= 0:
        yield offset, data[offset:end]
        offset = end + 1


def _any_decodable(data: bytes) -> bool:
    for _, line in _lines(data):
        try:
            decode(line)
        except Undecodable:
            continue
        return True
    return False


def _check_link(data: bytes, offset: int, line: bytes, envelope: Envelope, last: Head) -> None:
    number = last.seq + 1
    if envelope.seq != number:
        raise Broken(number, offset, f"its seq is {envelope.seq}")
    if envelope.prev == last.hash:
        return
    # Either the line before was changed, or this line's ``prev``: the next line knows this one.
    following = next(_lines(data[offset + len(line) + 1 :]), None)
    if last.seq and following and _prev(following[1]) == line_hash(line):
        before = data.rfind(b"\n", 0, max(0, offset - 1)) + 1
        raise Broken(last.seq, before, "it is not the line that the next one was written after")
    raise Broken(number, offset, "it does not follow the line before it")


def _prev(line: bytes) -> str | None:
    try:
        return decode(line).prev
    except Undecodable:
        return None


def _check_batch(batch: Sequence[Envelope], envelope: Envelope, offset: int) -> None:
    expected = batch[0].commit if batch else envelope.commit
    if envelope.commit != expected or envelope.commit < envelope.seq:
        raise Broken(envelope.seq, offset, f"its commit is {envelope.commit}")


def link(
    head: Head, by: Author, events: Sequence[Event]
) -> tuple[tuple[Envelope, ...], bytes, Head]:
    """Make one commit of events: their envelopes, the bytes to append, the head after them."""
    envelopes: list[Envelope] = []
    lines: list[bytes] = []
    commit = head.seq + len(events)
    for event in events:
        envelope = Envelope(seq=head.seq + 1, commit=commit, by=by, prev=head.hash, event=event)
        line = encode(envelope)
        head = Head(seq=envelope.seq, hash=line_hash(line))
        envelopes.append(envelope)
        lines.append(line + b"\n")
    return tuple(envelopes), b"".join(lines), head
