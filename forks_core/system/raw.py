"""What a client printed, read back from its files."""

import hashlib
import os

from attrs import frozen

from forks_core.claude.errors import classify_stderr, gave_work_up
from forks_core.claude.stream import parse
from forks_core.claude.text import answer_text
from forks_core.reducer.stream import summed
from forks_core.registry import Stream
from forks_core.system.files import sync_folder
from forks_core.system.state_folder import StateFolder
from forks_events import Said
from forks_events.jobs import Text
from forks_events.words import ErrorKind, Flag

_STDERR_TAIL = 64 * 1024


@frozen(kw_only=True)
class Printed:
    """A job's whole output.

    Args:
        said: Every event that it yields.
        stream: What they sum up to.
        raw: Its digest and length, or None when there is nothing in it.
        stderr_kind: What its standard error says went wrong, or None.
    """

    said: tuple[Said, ...]
    stream: Stream
    raw: Text | None
    stderr_kind: ErrorKind | None


def printed(folder: StateFolder, job: str) -> Printed:
    """Read what a job's client printed, from the beginning; times are unknown then."""
    path = folder.raw(job)
    said = parse(path.read_bytes() if path.exists() else b"", job)
    return Printed(
        said=said,
        stream=summed(said),
        raw=digest(folder, job),
        stderr_kind=stderr_kind(folder, job),
    )


def digest(folder: StateFolder, job: str) -> Text | None:
    """Digest and length of a job's raw file, durable on return; None when nothing was printed."""
    path = folder.raw(job)
    if not path.exists() or not path.stat().st_size:
        return None
    with path.open("rb") as file:
        os.fsync(file.fileno())
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        length = file.tell()
    sync_folder(path.parent)
    return Text(sha256=sha256, bytes=length)


def stderr_tail(folder: StateFolder, job: str) -> str:
    """The end of a job's standard error."""
    path = folder.stderr(job)
    data = path.read_bytes() if path.exists() else b""
    return data[-_STDERR_TAIL:].decode(errors="replace")


def has_text(folder: StateFolder, job: str, stream: Stream) -> bool:
    """Whether an answer is to be found; all is read again only where the result does not hold it."""
    if stream.result is None or stream.result.text_bytes:
        return True
    raw = folder.raw(job)
    return raw.exists() and answer_text(raw.read_bytes()) is not None


def stderr_flags(folder: StateFolder, job: str) -> tuple[Flag, ...]:
    """What a job's standard error says that is worth a look, whatever the status is."""
    return (Flag.KILLED_WORK,) if gave_work_up(stderr_tail(folder, job)) else ()


def stderr_kind(folder: StateFolder, job: str) -> ErrorKind | None:
    """What a job's standard error says went wrong."""
    return classify_stderr(stderr_tail(folder, job))
