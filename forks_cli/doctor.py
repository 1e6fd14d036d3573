"""What would make the next command fail, or go less well than it could, and what helps."""

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from forks_core.claude.environment import CHILD
from forks_core.errors import ForksError, Refused
from forks_core.system.client import EXECPATH, inspect, resolve
from forks_core.system.files import working_directory
from forks_core.system.prices import PRICES, prices
from forks_core.system.processes import require_linux
from forks_core.system.timings import VARIABLE, timings
from forks_events.values import Binary

LEAST_PYTHON = (3, 11)
# Older ones do not take a session's id when they fork, and cannot be told apart from their base.
LEAST_CLIENT = (2, 0)
_CONFIG = "CLAUDE_CONFIG_DIR"


@frozen
class Problem:
    """Something that is not as it should be.

    Args:
        what: What is wrong.
        remedy: What would help.
        fatal: Whether a command will fail of it.
    """

    what: str
    remedy: str
    fatal: bool = True


def surroundings(environment: Mapping[str, str]) -> Iterator[Problem]:
    """Look at all that forks needs, but for the client.

    Args:
        environment: The environment of this process.
    """
    if sys.version_info < LEAST_PYTHON:
        yield Problem("Python 3.11 or newer is needed", "run forks with a newer Python")
    yield from _platform()
    yield from _timings(environment)
    yield from _prices()
    yield from _folders(environment)
    if environment.get(CHILD):
        yield Problem(
            f"inside a fork ({CHILD} is set): train, fork and continue are refused",
            f"call them from outside; unset {CHILD} only if this is no fork",
            fatal=False,
        )


def _platform() -> Iterator[Problem]:
    try:
        require_linux()
    except ForksError as error:
        yield Problem(error.message, "use Linux; in a container, mount /proc")
        return
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        yield Problem(
            f"the kernel gives no descriptors of processes: {error.strerror}",
            "use Linux 5.3 or newer, where pidfd_open is not forbidden",
        )


def _timings(environment: Mapping[str, str]) -> Iterator[Problem]:
    try:
        timings(environment)
    except Refused as error:
        yield Problem(f"{error.message}: {error.fields['detail']}", f"unset {VARIABLE}")


def _prices() -> Iterator[Problem]:
    try:
        prices()
    except Refused as error:
        detail = f"{error.fields['path']}: {error.fields['detail']}"
        yield Problem(f"{error.message}: {detail}", f"unset {PRICES}, or mend what it names")


def _folders(environment: Mapping[str, str]) -> Iterator[Problem]:
    try:
        working_directory()
    except Refused as error:
        yield Problem(error.message, "change to a directory that is there")
    try:
        config = Path(environment.get(_CONFIG) or Path.home() / ".claude")
    except RuntimeError:
        yield Problem("there is no home directory", "set HOME")
    else:
        if not _can_write(config):
            yield Problem(
                f"the client cannot keep its sessions: {config} cannot be written",
                f"make it writable, or name another folder by {_CONFIG}",
                fatal=False,
            )
    try:
        tempfile.gettempdir()
    except OSError:
        yield Problem(
            "there is no temporary folder that can be written",
            "name one by TMPDIR; demo and the client's tools need it",
            fatal=False,
        )


def _can_write(path: Path) -> bool:
    """Whether it is a folder that can be written, or could be made."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)


@frozen
class Client:
    """The client as it was found.

    Args:
        path: Where it is, or None.
        how: How it was found.
        binary: What it says of itself, or None when it does not.
        problems: What is wrong with it.
    """

    path: str | None
    how: str | None
    binary: Binary | None
    problems: tuple[Problem, ...]


def client(option: str | None, environment: Mapping[str, str]) -> Client:
    """Find the client and ask for its version."""
    try:
        found = resolve(option, environment)
    except Refused as error:
        problem = Problem(error.message, "name the client by an absolute path")
        return Client(None, None, None, (problem,))
    if found is None:
        what = "no claude binary: none named, and none on PATH"
        return Client(None, None, None, (Problem(what, _remedy(None)),))
    path, how = found
    try:
        binary = inspect(path)
    except Refused as error:
        detail = error.fields.get("detail")
        remedy = f"{_remedy(how)}; it says: {detail}" if detail else _remedy(how)
        return Client(path, how, None, (Problem(error.message, remedy),))
    return Client(path, how, binary, tuple(_too_old(binary)))


def _remedy(how: str | None) -> str:
    if how == EXECPATH:
        return f"name the client's program by --binary, or unset {EXECPATH}"
    return "name the client's program by --binary, or put claude on PATH"


def _too_old(binary: Binary) -> Iterator[Problem]:
    """Judge a version that is written in numbers."""
    numbers = re.match(r"(\d+)\.(\d+)", binary.version)
    if numbers and (int(numbers[1]), int(numbers[2])) < LEAST_CLIENT:
        yield Problem(
            f"the client is too old: {binary.version}",
            "update it to 2.0 or newer: older ones cannot fork a session under an id of its own",
        )
