"""A study's check: a program that judges a working copy; what it printed is kept, what it left ends.

It may hang, print without end, leave daemons or never start: each of that is an answer, no error.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen
from immutables import Map

from forks_core.claude.environment import MARKER
from forks_core.system.files import sha256, storage, write_durably
from forks_core.system.processes import SystemProcesses, identify_child
from forks_events.jobs import Text

KEPT = 1 << 20
"""Bytes of each stream that are kept at most."""
LONGEST_NAME, MOST_CHECKS = 256, 1000
_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")
_HALF = (KEPT - 128) // 2
_CHUNK = 1 << 16
_ASK_S = 0.1
_DRAIN_S = 1.0
_REAP_S = 5.0


@frozen(kw_only=True)
class CheckRun:
    """What came of a check.

    Args:
        exit_code: As the system tells it, negative for a signal; None: it could not be started,
            was ended for its time, or was not wanted any more.
        timed_out: Whether it was ended for its time.
        wall_s: Monotonic seconds from its start to its own end, or to ours.
        score: What it gave, from 0 to 1.
        checks: Named parts of it, and whether they passed.
        output: What is kept of its standard output; None: it printed nothing.
    """

    exit_code: int | None
    timed_out: bool
    wall_s: float
    score: float | None
    checks: Map[str, bool]
    output: Text | None


def run_check(  # noqa: PLR0913 - a check is all of this
    argv: Sequence[str],
    cwd: Path,
    *,
    env: Mapping[str, str],
    timeout_s: float,
    output: Path,
    errors: Path,
    processes: SystemProcesses,
    marker: str,
    unwanted: Callable[[], bool] = lambda: False,
) -> CheckRun:
    """Run a check in a session of its own, and end all that it started.

    What an earlier check of the same marker left, because its runner died, is ended first. What
    clears its environment, leaves its group and outlives its parent is out of sight.

    Args:
        argv: The program and its arguments; a name with a slash is looked for from ``cwd``.
        cwd: The working copy.
        env: Variables beside PATH, HOME, LANG and TMPDIR of the caller.
        timeout_s: Seconds that it may take.
        output: File for its standard output, or the beginning and the end of it if that is long.
        errors: The same for standard error; also why it could not be started.
        processes: Who ends what it started.
        marker: The value of ``FORKS_JOB``, its own alone.
        unwanted: Asked about ten times a second; true ends the check at once.

    Raises:
        StorageFailed: What it printed cannot be kept.
    """
    said, complained = kept = _Kept(), _Kept()
    if processes.is_marked(marker):
        processes.end((), marker)
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    start_s = time.monotonic()
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**inherited, **env, MARKER: marker},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        complained.add(f"the check could not be started: {error}\n".encode(errors="replace"))
        exit_code, timed_out, end_s = None, False, start_s
    else:
        until_s = start_s + timeout_s
        exit_code, timed_out, end_s = _attend(child, kept, until_s, unwanted, processes, marker)
    text = said.text()
    for path, data in ((output, text), (errors, complained.text())):
        with storage(path):
            write_durably(path, data)
    score, checks = verdict(text)
    return CheckRun(
        exit_code=exit_code,
        timed_out=timed_out,
        wall_s=end_s - start_s,
        score=score,
        checks=checks,
        output=Text(sha256=sha256(text), bytes=len(text)) if text else None,
    )


def verdict(output: bytes) -> tuple[float | None, Map[str, bool]]:
    """Read a check's score and named parts in what it printed; what is neither is passed over.

    A name is cut to 256 characters; of several that are the same then, one that failed counts.
    """
    found = spoken(output)
    score, parts = found.get("score"), found.get("checks")
    named: dict[str, bool] = {}
    for name, passed in parts.items() if isinstance(parts, dict) else ():
        key = name[:LONGEST_NAME]
        if isinstance(passed, bool) and (key in named or len(named) < MOST_CHECKS):
            named[key] = named.get(key, True) and passed
    is_score = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    return float(score) if is_score and score is not None else None, Map(named)


def spoken(output: bytes) -> Mapping[str, Any]:
    """Take the object out of a check's output: all of it, or its last line that is not blank."""
    for text in (output, output.rstrip().rpartition(b"\n")[2]):
        with contextlib.suppress(orjson.JSONDecodeError):
            value = orjson.loads(text)
            if isinstance(value, dict):
                return value
    return {}


class _Kept:
    """The beginning and the end of a stream, in bounded memory."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        self._total += len(data)
        self._bytes += data
        if len(self._bytes) > 2 * KEPT:
            del self._bytes[_HALF:-_HALF]

    def text(self) -> bytes:
        """All of it; of more than KEPT bytes two halves, and how much is missing between them."""
        if self._total <= KEPT:
            return bytes(self._bytes)
        gap = b"\n[forks left out %d bytes]\n" % (self._total - 2 * _HALF)
        return bytes(self._bytes[:_HALF]) + gap + bytes(self._bytes[-_HALF:])


def _attend(
    child: subprocess.Popen[bytes],
    kept: Sequence[_Kept],
    until_s: float,
    unwanted: Callable[[], bool],
    processes: SystemProcesses,
    marker: str,
) -> tuple[int | None, bool, float]:
    """Listen to a check until it exits or must end, then end all of it: code, late, when."""
    with contextlib.ExitStack() as open_files:
        try:
            pipes = _pipes(child, kept, open_files)
            exited = _listen(pipes, until_s, unwanted)
            end_s = time.monotonic()
        finally:
            code = _end(child, processes, marker)
        _drain(pipes)
    return (code if exited else None), exited is False, end_s


def _pipes(
    child: subprocess.Popen[bytes], kept: Sequence[_Kept], open_files: contextlib.ExitStack
) -> selectors.BaseSelector:
    """Both pipes of a check, with where their bytes go; and its exit, with nothing."""
    pipes = open_files.enter_context(selectors.DefaultSelector())
    for pipe, keep in zip((child.stdout, child.stderr), kept, strict=True):
        assert pipe is not None  # noqa: S101 - it is a pipe
        pipes.register(open_files.enter_context(pipe), selectors.EVENT_READ, keep)
    descriptor = os.pidfd_open(child.pid)
    open_files.callback(os.close, descriptor)
    pipes.register(descriptor, selectors.EVENT_READ)
    return pipes


def _listen(
    pipes: selectors.BaseSelector, until_s: float, unwanted: Callable[[], bool]
) -> bool | None:
    """Keep what it prints until it exits (True), its time is up (False), or it is unwanted."""
    asked_s = float("-inf")
    while (now_s := time.monotonic()) < until_s:
        if now_s - asked_s >= _ASK_S:
            if unwanted():
                return None
            asked_s = now_s
        if _take(pipes, min(_ASK_S, until_s - now_s)):
            return True
    return False


def _take(pipes: selectors.BaseSelector, wait_s: float) -> bool:
    """Take what has come, waiting at most so long for the first of it; True once it has exited."""
    exited = False
    for key, _ in pipes.select(wait_s):
        data = os.read(key.fd, _CHUNK) if key.data else b""
        if data:
            key.data.add(data)
        else:
            pipes.unregister(key.fileobj)
            exited = exited or not key.data
    return exited


def _drain(pipes: selectors.BaseSelector) -> None:
    """Take the rest, but not for long: who holds a pipe open holds up nobody."""
    until_s = time.monotonic() + _DRAIN_S
    while pipes.get_map() and (left_s := until_s - time.monotonic()) > 0:
        _take(pipes, left_s)


def _end(child: subprocess.Popen[bytes], processes: SystemProcesses, marker: str) -> int | None:
    """End it and what it left, and reap it; None when it could not be ended."""
    processes.end([identify_child(child.pid)], marker)
    # Not reaped yet, so the number of its group is its own, even if it has exited.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return child.wait(_REAP_S)
    return None
