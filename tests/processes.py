"""What tests want to know of processes, and waiting for it."""

import contextlib
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path

BOUND_S = 20.0


def until(condition: Callable[[], bool], within_s: float = BOUND_S) -> None:
    """Wait for a condition; fail when it does not come true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def close_files_named(name: str) -> None:
    """Close this process's files of a name: a process that answers once leaves that to its end."""
    for number in [int(entry) for entry in os.listdir("/proc/self/fd")]:  # noqa: PTH208 - numbers
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").endswith(f"/{name}"):  # noqa: PTH115
                os.close(number)


def marked(entry: str) -> list[int]:
    """The living processes that have this entry in their environment."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - numbers
        with contextlib.suppress(OSError):
            if name.isdigit() and entry.encode() in environment(int(name)) and is_alive(int(name)):
                found.append(int(name))
    return found


def environment(pid: int) -> list[bytes]:
    """The entries of a process's environment, as it was at exec."""
    return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def a_nap() -> str:
    """Seconds, over a day, that no other ``sleep`` was told."""
    return str(100_000 + uuid.uuid4().int % 900_000)


def napping(seconds: str) -> list[int]:
    """The living ``sleep`` processes that were told exactly this long: a name for a process."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - numbers
        with contextlib.suppress(OSError):
            if not name.isdigit() or not is_alive(int(name)):
                continue
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"sleep") and seconds.encode() in words:
                found.append(int(name))
    return found
