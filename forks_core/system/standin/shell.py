"""Commands, run as the client runs them: by /bin/sh, in a session of their own.

What a command leaves in its process group ends with the call; what it takes out of the group
(setsid) stays, as it does with the real client.
"""

import contextlib
import os
import signal
import time
import uuid
from pathlib import Path

_running: set[int] = set()
_POLL_S = 0.01


def run(command: str, home: Path, timeout_s: float) -> tuple[int, str]:
    """Run a command to its end; return its exit code and its output, bad UTF-8 replaced.

    The output goes through a file, so that a child which keeps it open holds nobody up.
    A command that takes longer than `timeout_s` seconds is killed with its group: code 137.
    """
    home.mkdir(parents=True, exist_ok=True)
    captured = home / f"output-{uuid.uuid4()}"
    try:
        pid = start(command, captured)
        code = _wait(pid, timeout_s)
        _forget_if_empty(pid)
        return code, captured.read_bytes().decode("utf-8", "replace").rstrip("\n")
    finally:
        captured.unlink(missing_ok=True)


def start(command: str, output: Path, *, keep: bool = False) -> int:
    """Start a command with its output in a file; return its pid, which is its group's too.

    A kept command is not ended with the call.
    """
    write = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(output), write, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(
        "/bin/sh", ["/bin/sh", "-c", command], os.environ, file_actions=actions, setsid=True
    )
    if not keep:
        _running.add(pid)
    return pid


def start_with_our_output(command: str) -> int:
    """Start a command that shares our standard output, in a session of its own; return its pid."""
    return os.posix_spawn("/bin/sh", ["/bin/sh", "-c", command], os.environ, setsid=True)


def end_all() -> None:
    """Kill what commands of this call left in their process groups."""
    for group in _running:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    _running.clear()


def _forget_if_empty(group: int) -> None:
    # The number of a group without members can be given to strangers.
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        _running.discard(group)
    except PermissionError:
        pass


def _wait(pid: int, timeout_s: float) -> int:
    deadline = time.monotonic() + timeout_s
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
