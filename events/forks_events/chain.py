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
        Broken: A line within is damaged. Of the last line's ``prev`` and the line before it only
            one was changed, and nothing in the log tells which: the last one is named.
    """
    return _scan(data, start, None)


def verify(data: bytes, head: Head) -> Scan:
    """Read a whole log against a head of it that was kept elsewhere.

    The head shows what the log alone cannot: a last line that was changed, a tail that is gone.

    Raises:
        Broken: A line is not what was written, or is not there, up to the one of the head.
    """
    return _scan(data, EMPTY, head)


def _scan(data: bytes, start: Head, known: Head | None) -> Scan:
    done: list[Envelope] = []
    batch: list[Envelope] = []
    head = last = start
    length = end = 0
    for offset, line in _lines(data):
        end = offset + len(line) + 1
        try:
            envelope = decode(line)
        except Undecodable as error:
            if b"\0" in line and not _any_decodable(data[end:]):
                end = offset
                break
            raise Broken(last.seq + 1, offset, str(error)) from error
        here = Head(seq=last.seq + 1, hash=line_hash(line))
        _check_place(envelope, offset, here, known)
        if envelope.prev != last.hash:
            raise _unlinked(data, offset, last, here, known)
        _check_batch(batch, envelope, offset)
        batch.append(envelope)
        last = here
        if envelope.seq == envelope.commit:
            done += batch
            batch.clear()
            head, length = last, end
    if known is not None and last.seq < known.seq:
        raise Broken(last.seq + 1, end, "it is not there, and the head tells of it")
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


def _check_place(envelope: Envelope, offset: int, here: Head, known: Head | None) -> None:
    if envelope.seq != here.seq:
        raise Broken(here.seq, offset, f"its seq is {envelope.seq}")
    if known is not None and known.seq == here.seq and known != here:
        raise Broken(here.seq, offset, "it is not the line that the head was taken of")


def _unlinked(data: bytes, offset: int, last: Head, here: Head, known: Head | None) -> Broken:
    """Name the line at fault: the one before, where the next one, or the head, knows this one."""
    following = next(_lines(data[data.index(b"\n", offset) + 1 :]), None)
    known_here = known == here or (following is not None and _prev(following[1]) == here.hash)
    if last.seq and known_here:
        before = data.rfind(b"\n", 0, max(0, offset - 1)) + 1
        return Broken(last.seq, before, "it is not the line that the next one was written after")
    return Broken(here.seq, offset, "it does not follow the line before it")


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
