"""The lock on a log: a kernel lock that dies with its holder.

It blocks in the kernel, which is faster than any polling, and the wait is bounded: a stopped
holder must not hang everyone.
"""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from forks_core.errors import LogLocked
from forks_core.system.files import PRIVATE_FILE


@contextlib.contextmanager
def locked(path: Path, wait_s: float) -> Iterator[None]:
    """Hold the lock file.

    Args:
        path: The lock file; it is made when missing.
        wait_s: Seconds to wait for another holder; with 0 nothing is left that waits.

    Raises:
        LogLocked: It was held for longer; the holder's pid is in the fields.
    """
    descriptor = _acquire(path, wait_s)
    try:
        os.pwrite(descriptor, f"{os.getpid():<20}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(path: Path, wait_s: float) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        if not _flock(descriptor, wait_s):
            raise LogLocked("log locked", holder=_holder(path), waited_s=wait_s, lock=str(path))
        # Somebody may have put another file there while we waited: then we hold nothing.
        if _same_file(descriptor, path):
            return descriptor
        os.close(descriptor)


def _flock(descriptor: int, wait_s: float) -> bool:
    """Lock, or give up after the time; what is given up is closed."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if wait_s > 0:
            return _flock_blocking(descriptor, wait_s)
        os.close(descriptor)
        return False
    return True


def _flock_blocking(descriptor: int, wait_s: float) -> bool:
    """Wait in the kernel; what is granted after we gave up is let go at once, by the thread."""
    granted = threading.Event()
    turn = threading.Lock()
    given_up = False

    def block() -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with turn:
            if given_up:
                os.close(descriptor)
            else:
                granted.set()

    threading.Thread(target=block, daemon=True, name="forks-lock").start()
    try:
        granted.wait(wait_s)
    finally:
        with turn:
            given_up = not granted.is_set()
    return not given_up


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
