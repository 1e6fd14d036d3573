"""The processes of this machine as the tests see them, and waiting for what they do."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_LOOK_S = 0.02


class Seen(NamedTuple):
    """A living process, by what `/proc` shows of it."""

    pid: int
    session: int
    argv: tuple[str, ...]
    environ: bytes


def until(condition: Callable[[], object], within_s: float = 20.0) -> float:
    """Wait for a condition, and tell how many seconds it took; fail if it stays untrue."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < within_s, f"waited in vain for {within_s} s"
        time.sleep(_LOOK_S)
    return time.monotonic() - begun


def processes() -> Iterator[Seen]:
    """Look at every process that runs; the dead that nobody has reaped yet are none."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[0] not in "ZX":
                argv = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
                environ = (entry / "environ").read_bytes()
                yield Seen(int(entry.name), int(fields[3]), tuple(argv), environ)


def marked(text: str) -> list[Seen]:
    """Find the processes whose environment holds a text."""
    return [seen for seen in processes() if text.encode() in seen.environ]


def in_session(session: int) -> list[Seen]:
    """Find the processes of a session."""
    return [seen for seen in processes() if seen.session == session]


def sleepers(seconds: str) -> list[Seen]:
    """Find the sleeping commands whose number of seconds begins so."""
    return [
        seen
        for seen in processes()
        if len(seen.argv) == 2 and seen.argv[0] == "sleep" and seen.argv[1].startswith(seconds)
    ]


def end(seen: list[Seen]) -> None:
    """Kill them, for good."""
    for process in seen:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
