"""What the machine would tell of itself, taken out of a recording."""

import re
import socket
from collections.abc import Iterable
from pathlib import Path

REPOSITORY, HOME, SCRATCH = "/repo", "/home/user", "/var/scratch"
_TRACES = (
    *(r"/tmp\b", r"/work\b", r"/root\b", r"/home/(?!user\b)", r"/Users/"),
    *(r"\bregistry\.\w+", r"\bnpmjs\b"),
)


def scrub(text: str, *, repository: Path, home: Path, scratch: Path) -> str:
    """Replace the folders that a client ran in, and whatever it named in its scratch folder.

    Args:
        text: What the client printed, or its arguments.
        repository: The working directory.
        home: The client's home.
        scratch: The folder for its temporary files.
    """
    text = re.sub(re.escape(str(scratch)) + r"[^\s\"\\]*", SCRATCH, text)
    for folder, name in ((repository, REPOSITORY), (home, HOME)):
        text = text.replace(str(folder), name).replace(_slug(str(folder)), _slug(name))
    return text


def _slug(path: str) -> str:
    """A path as the client names a folder after it."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def traces(text: str, names: Iterable[str] = ()) -> list[str]:
    """What tells of a machine, or of a package registry, in a text.

    Args:
        text: A recording.
        names: What else may not be in it: the machine's own names.
    """
    own = (rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in names)
    return [found[0] for pattern in (*_TRACES, *own) for found in re.finditer(pattern, text)]


def names_here() -> tuple[str, ...]:
    """The names of this machine."""
    home = str(Path.home())
    return (socket.gethostname(), *(() if home == HOME else (home,)))
