"""Files that must survive: written whole, synced, with their directory's entry."""

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from forks_core.errors import Refused, StorageFailed

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


@contextlib.contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn what the operating system says of ``path`` into `StorageFailed`."""
    try:
        yield
    except OSError as error:
        raise StorageFailed(
            f"cannot use the state folder: {error.strerror or error}",
            path=str(error.filename or path),
        ) from error


def make_private(folder: Path) -> None:
    """Make a folder and whatever is missing above it, for us alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make a directory's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, whole or not at all, durable on return."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is open already
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sha256(data: bytes) -> str:
    """Hash bytes, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str | None:
    """Hash a file, or None when it cannot be read; only what ends can be hashed."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def read_text(path: Path, what: str, *, piped: bool = False) -> str:
    """Read a UTF-8 text that the caller named.

    Args:
        path: Where it is.
        what: What it is called.
        piped: Whether a pipe will do, which somebody writes into while we read.

    Raises:
        Refused: It cannot be read, or is no UTF-8; ``what`` is the field that names it.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        # A device may never end, and a pipe that nobody writes into never begins.
        if kind not in {stat.S_IFREG, stat.S_IFDIR} and not (piped and kind == stat.S_IFIFO):
            raise Refused(f"cannot read {what}", **{what: str(path), "detail": "not a file"})
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        detail = error.strerror if isinstance(error, OSError) else str(error)
        raise Refused(f"cannot read {what}", **{what: str(path), "detail": detail}) from error


def working_directory() -> str:
    """The process's working directory, as a text that paths are relative to.

    Raises:
        Refused: It is gone.
    """
    try:
        return os.getcwd()  # noqa: PTH109 - paths are texts until they are normalised
    except FileNotFoundError as error:
        raise Refused("the working directory is gone") from error


def line_before(file: int, end: int) -> bytes:
    """The line that ends at an offset, without its newline; empty when none does."""
    size = 1 << 12
    while True:
        start = max(0, end - size)
        data = os.pread(file, end - start, start)
        if len(data) < end - start or not data.endswith(b"\n"):
            return b""
        line = data[:-1].rpartition(b"\n")
        if line[1] or start == 0:
            return line[2]
        size *= 4


def open_rw(path: Path) -> int:
    """Open for writing where we may, else for reading: an auditor has nothing but the log."""
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def bytes_from(file: int, offset: int) -> bytes:
    """Read a file from an offset to its end."""
    size = os.fstat(file).st_size
    parts: list[bytes] = []
    while offset < size and (part := os.pread(file, size - offset, offset)):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)
