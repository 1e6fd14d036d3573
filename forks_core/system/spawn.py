"""Spawning a supervisor: a process in a session of its own, that outlives whoever asked for it."""

import contextlib
import os
import sys
from collections.abc import Mapping

from forks_core.system.account import ACCOUNT
from forks_core.system.files import PRIVATE_FILE
from forks_core.system.open_run import OpenRun
from forks_core.system.prices import PRICES

SUPERVISOR = "forks_core.system.supervise"
_children: set[int] = set()


def spawn_supervisor(run: OpenRun, job: str, environment: Mapping[str, str]) -> None:
    """Start a job's supervisor, detached.

    It is given the scrubbed environment at exec: only that shows in ``/proc``, so its mark is
    found whatever happens, and nothing of it is ever written to a file.

    Raises:
        OSError: It could not be started.
    """
    _reap()
    log = os.fspath(run.folder.supervisor_log(job))
    argv = [sys.executable, "-P", "-m", SUPERVISOR, "--run", run.path, "--job", job]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        sys.executable,
        argv,
        {**environment, **_from_anywhere(environment)},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, append, PRIVATE_FILE),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    _children.add(pid)


def _from_anywhere(environment: Mapping[str, str]) -> dict[str, str]:
    """The places that are named relative to here: a supervisor, and its client, work elsewhere."""
    named = {name: environment.get(name, "").strip() for name in (ACCOUNT, PRICES)}
    return {name: os.path.abspath(path) for name, path in named.items() if path}  # noqa: PTH100


def _reap() -> None:
    """Take note of supervisors that we spawned and that are done: nobody else can."""
    for pid in list(_children):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                continue
        _children.discard(pid)
