"""A process of its own that works on a log: ``python -m tests.system.log_child WHAT FOLDER ...``."""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from forks_core.errors import StorageFailed
from forks_core.system.lock import locked
from forks_core.system.log_file import LogFile
from forks_events.envelope import Author
from forks_events.run import OrchestratorSeen, TailDropped
from tests.histories import NOON

SEEN = OrchestratorSeen(at=NOON)


def author(verb: str) -> Author:
    """This process."""
    return Author(verb=verb, host="h", pid=os.getpid())


def append(folder: str, verb: str, commits: str) -> None:
    """Append commits of two events each."""
    log = LogFile(Path(folder))
    for number in range(int(commits)):
        counted = TailDropped(at=NOON, bytes=number, sha256=verb)
        with log.writing() as writer:
            writer.append(author(verb), [SEEN, counted], NOON)
        log.sync()


def hold(path: str) -> None:
    """Hold a lock, say so, and keep it until the input ends."""
    with locked(Path(path), 10):
        os.write(1, b"held\n")
        sys.stdin.read()


def fill(folder: str, limit: str) -> None:
    """Append until the file may grow no more; tell how that and the next try failed."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    log = LogFile(Path(folder))
    told: list[str] = []
    while len(told) < 2:
        try:
            with log.writing() as writer:
                writer.append(author("fill"), [SEEN] * 3, NOON)
        except StorageFailed as error:
            told.append(error.message)
    os.write(1, json.dumps(told).encode())


if __name__ == "__main__":
    WHAT: dict[str, Callable[..., None]] = {"append": append, "hold": hold, "fill": fill}
    WHAT[sys.argv[1]](*sys.argv[2:])
