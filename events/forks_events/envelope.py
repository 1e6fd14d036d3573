"""The envelope: a recorded event, and the line of JSON that it becomes.

``prev`` is the SHA-256 of the previous line's exact bytes without its newline, so no canonical
form can drift. ``commit`` is the seq of the last event of the same append: a batch counts as a
whole or not at all. ``at`` is hoisted beside ``seq`` and not repeated in ``data``.
"""

import hashlib
from datetime import datetime
from typing import Any

import orjson
from attrs import frozen

from forks_events import Event
from forks_events.codec import TYPES, VERSIONS, Data, Undecodable, structure, unstructure, upcast

GENESIS = "0" * 64
_KEYS = ("type", "v", "seq", "commit", "at", "by", "prev", "data")


@frozen(kw_only=True)
class Author:
    """Who wrote an event: the verb, the host, the process id."""

    verb: str
    host: str
    pid: int


@frozen(kw_only=True)
class Unknown:
    """An event of a type or version that this forks does not know: kept, counted, not folded."""

    type: str
    v: int
    at: datetime
    data: Data


@frozen(kw_only=True)
class Envelope:
    """A recorded event.

    Args:
        seq: Its number, from 1, without gaps.
        commit: The seq of the last event of the same append.
        by: Who wrote it.
        prev: SHA-256 of the previous line, 64 zeros on the first.
        event: What happened.
    """

    seq: int
    commit: int
    by: Author
    prev: str
    event: Event | Unknown


@frozen(kw_only=True)
class Head:
    """How far a log goes: the last seq and the SHA-256 of its line.

    Kept elsewhere, it is what a cut-off tail shows against.
    """

    seq: int
    hash: str


EMPTY = Head(seq=0, hash=GENESIS)


@frozen(kw_only=True)
class _Line:
    """The keys of a line, as they are checked before the event itself is looked at."""

    type: str
    v: int
    seq: int
    commit: int
    at: datetime
    by: Author
    prev: str


def line_hash(line: bytes) -> str:
    """Hash a line (without its newline), as the next line's ``prev`` has it."""
    return hashlib.sha256(line).hexdigest()


def encode(envelope: Envelope) -> bytes:
    """Write an envelope as one line, without the newline.

    Raises:
        ValueError: A value cannot stand in a log: not finite, not UTC, or not Unicode text.
    """
    event = envelope.event
    if isinstance(event, Unknown):
        name, version, data = event.type, event.v, event.data
    else:
        name = type(event).__name__
        version, data = VERSIONS[name], unstructure(event)
        del data["at"]
    line = {
        "type": name,
        "v": version,
        "seq": envelope.seq,
        "commit": envelope.commit,
        "at": unstructure(event.at),
        "by": unstructure(envelope.by),
        "prev": envelope.prev,
        "data": data,
    }
    try:
        return orjson.dumps(line)
    except orjson.JSONEncodeError as error:
        raise ValueError(f"{name} cannot be written: {error}") from error


def decode(line: bytes) -> Envelope:
    """Read one line, without its newline.

    Raises:
        Undecodable: It is not exactly what `encode` writes.
    """
    keys = _keys(line)
    data = keys.pop("data")
    head = structure(keys, _Line)
    if not isinstance(data, dict) or "at" in data:
        raise Undecodable("data is not an object, or repeats at")
    return Envelope(
        seq=head.seq, commit=head.commit, by=head.by, prev=head.prev, event=_event(head, keys, data)
    )


def _keys(line: bytes) -> Data:
    try:
        keys: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Undecodable(f"not JSON: {error}") from error
    if not isinstance(keys, dict) or tuple(keys) != _KEYS:
        raise Undecodable(f"not an object with the keys {', '.join(_KEYS)}")
    return keys


def _event(head: _Line, keys: Data, data: Data) -> Event | Unknown:
    kind = TYPES.get(head.type)
    if kind is None or not 1 <= head.v <= VERSIONS[head.type]:
        return Unknown(type=head.type, v=head.v, at=head.at, data=data)
    return structure({"at": keys["at"], **upcast(head.type, head.v, data)}, kind)
