"""Processes, as Linux shows them: who one is, whether it lives, and how it is ended.

A process is never signalled by its number alone: a descriptor of it is opened, its start is
compared, and the signal goes through the descriptor, so that a pid that was given out again is
never hit. An unreaped child counts as dead.
"""

import contextlib
import os
import platform
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from forks_core.errors import StorageFailed
from forks_core.rules.process_tree import Row, descendants
from forks_events.values import Process

PROC = Path("/proc")
_SWEEP_S = 0.02
_LOOKS = 2
_DEAD = frozenset("ZX")


def require_linux() -> None:
    """Refuse, in one sentence, where processes cannot be told apart for good."""
    if sys.platform != "linux" or not (PROC / "self" / "stat").exists():
        raise StorageFailed("forks needs Linux with /proc: elsewhere it cannot watch processes")


@cache
def host_name() -> str:
    """The name of this machine."""
    return platform.node()


@cache
def boot_id() -> str:
    """The id of this boot of the machine."""
    return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def identify(pid: int) -> Process | None:
    """Tell who a process is, or None when it does not run."""
    row = _row(pid)
    return _process(row) if row else None


def identify_child(pid: int) -> Process:
    """Tell who a child is that was not reaped yet: its number is its own, even if it has exited."""
    return _process(_read_row(pid))


def myself() -> Process:
    """Tell who this process is."""
    return identify_child(os.getpid())


class SystemProcesses:
    """The processes of this machine.

    Args:
        verify_s: Seconds within which what was ended must be gone.
    """

    def __init__(self, verify_s: float = 10.0) -> None:
        self._verify_s = verify_s

    def is_alive(self, process: Process) -> bool | None:
        """Tell whether it runs; None when it belongs to another host."""
        if process.host != host_name():
            return None
        if process.boot != boot_id():
            return False
        return identify(process.pid) == process

    def is_marked(self, marker: str) -> bool:
        """Tell whether any process of this machine carries the marker."""
        return bool(_marked(marker))

    def end(self, roots: Iterable[Process], marker: str) -> Sequence[Process]:
        """End these, their descendants, and all that carries the marker, but never the caller.

        The first root's process group goes first. Then whatever is found is swept, until two looks
        in a row find nothing. Of several roots the last one goes last, when nothing else is left:
        it is the supervisor, and as a subreaper the ancestor of all that its client ever started,
        so that nobody gets out of sight as long as it lives. A supervisor that sweeps names itself.

        Args:
            roots: Recorded processes, the client before its supervisor; those of another host or
                boot are left alone.
            marker: The value of ``FORKS_JOB`` in their environment.

        Returns:
            What was found alive, in the order that it was found.
        """
        named = list(roots)
        here = [root for root in named if self.is_alive(root)]
        found = dict.fromkeys(root for root in here if root.pid != os.getpid())
        found |= dict.fromkeys(_below(here))
        last = named[-1] if len(named) > 1 and named[-1] in found else None
        until_s = time.monotonic() + self._verify_s
        if here and here[0] != last:
            _end_group(here[0])
        if last:
            _sweep(found, here, marker, last, until_s - self._verify_s / 2)
            _end_group(last)
        _sweep(found, here, marker, None, until_s)
        return tuple(found)


def _sweep(
    found: dict[Process, None],
    roots: Sequence[Process],
    marker: str,
    spared: Process | None,
    until_s: float,
) -> None:
    """End what is found, save one, and add it to ``found``; two looks must find nothing new."""
    empty = 0
    while empty < _LOOKS and time.monotonic() < until_s:
        found |= dict.fromkeys([*_below(roots), *_marked(marker)])
        living = [process for process in survivors(found) if process != spared]
        for process in living:
            send(process, signal.SIGKILL)
        empty = 0 if living else empty + 1
        time.sleep(_SWEEP_S)


def send(process: Process, number: signal.Signals) -> bool:
    """Signal exactly this process; False when it does not run any more, or is not ours."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if identify(process.pid) != process:
            return False
        # Who took another user's identity is not ours to signal: it shows among the survivors.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(descriptor, number)
            return True
        return False
    finally:
        os.close(descriptor)


def survivors(processes: Iterable[Process]) -> list[Process]:
    """Those that still run."""
    return [process for process in processes if identify(process.pid) == process]


def _end_group(root: Process) -> None:
    """End the process group that the root leads, if it leads one and is not ours."""
    row = _row(root.pid)
    if row and _process(row) == root and row.group == root.pid != os.getpgrp():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(root.pid, signal.SIGKILL)


def _below(roots: Sequence[Process]) -> list[Process]:
    """What descends from those roots that still are who they were, the caller excepted."""
    rows = _rows() if roots else {}
    pids = {root.pid for root in roots if root.pid in rows and _process(rows[root.pid]) == root}
    me = os.getpid()
    return [_process(rows[pid]) for pid in descendants(rows, pids) if pid != me]


def _marked(marker: str) -> list[Process]:
    """Those whose environment, as it was at exec, carries the marker; never the caller."""
    entry = f"FORKS_JOB={marker}".encode()
    found = []
    for pid in _pids():
        if pid != os.getpid() and entry in _environment(pid).split(b"\0"):
            process = identify(pid)
            if process:
                found.append(process)
    return found


def _environment(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - speed


def _rows() -> Mapping[int, Row]:
    rows = (_row(pid) for pid in _pids())
    return {row.pid: row for row in rows if row}


def _row(pid: int) -> Row | None:
    """Read a process; None when it is gone, or is only waiting to be reaped."""
    try:
        row = _read_row(pid)
    except OSError:
        return None
    return None if row.state in _DEAD else row


def _read_row(pid: int) -> Row:
    stat = (PROC / str(pid) / "stat").read_bytes()
    # The name stands in parentheses and may hold anything, parentheses too.
    name, _, rest = stat.partition(b"(")[2].rpartition(b")")
    fields = rest.split()
    return Row(
        pid=pid,
        state=fields[0].decode(),
        parent=int(fields[1]),
        group=int(fields[2]),
        ticks=int(fields[19]),
        name=name.decode(errors="replace"),
    )


def _process(row: Row) -> Process:
    return Process(host=host_name(), boot=boot_id(), pid=row.pid, ticks=row.ticks)
