"""The checkpoint: the registry up to a place in the log, so that only what came later is folded.

It is a cache that may be thrown away. Its licence is the law ``fold(a + b) == fold(b, fold(a))``;
it counts only for the fold that made it, and only if the log still holds the line before its place.
Whatever else it is found to be, the log is folded from its beginning.
"""

import json
import os
from pathlib import Path
from typing import Any

from attrs import frozen

from forks_core.reducer.version import SOURCES
from forks_core.registry import Registry
from forks_core.system.files import PRIVATE_FILE, sha256
from forks_core.system.log_file import LogFile, Position
from forks_core.system.state_folder import StateFolder
from forks_events.codec import structure, unstructure
from forks_events.envelope import Head

WORTH_IT = 64
"""Events that are folded anew before a new checkpoint is worth its writing."""


@frozen(kw_only=True)
class Header:
    """What a checkpoint says of itself, before its registry.

    Args:
        sources: Which fold made it.
        seq: The last event that was folded.
        hash: SHA-256 of its line.
        end: Bytes of the log up to there.
        sha256: SHA-256 of the registry's bytes.
    """

    sources: str
    seq: int
    hash: str
    end: int
    sha256: str


def restore(folder: StateFolder, log: LogFile) -> tuple[Registry, Head] | None:
    """Take the checkpoint up, and let the log go on behind it; None when it does not hold."""
    try:
        first, _, rest = _path(folder).read_bytes().partition(b"\n")
        header = structure(json.loads(first), Header)
        if header.sources != SOURCES or header.sha256 != sha256(rest):
            return None
        registry = structure(json.loads(rest), Registry)
        head = Head(seq=header.seq, hash=header.hash)
        holds = log.resume(Position(head=head, end=header.end))
    except (OSError, ValueError, OverflowError, RecursionError):
        return None
    return (registry, head) if holds else None


def keep(folder: StateFolder, position: Position, registry: Registry) -> None:
    """Write a checkpoint; where it cannot be written there is none."""
    body = json.dumps(unstructure(registry)).encode()
    header = Header(
        sources=SOURCES,
        seq=position.head.seq,
        hash=position.head.hash,
        end=position.end,
        sha256=sha256(body),
    )
    path = _path(folder)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open already
            file.write(_line(header) + body)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)


def _line(header: Header) -> bytes:
    data: dict[str, Any] = unstructure(header)
    return json.dumps(data).encode() + b"\n"


def _path(folder: StateFolder) -> Path:
    return folder.path / "cache" / "registry.json"
