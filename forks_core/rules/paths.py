"""Paths as callers write them, made absolute without asking the file system.

The platform is a parameter, so that both sets of rules can be tested anywhere.
"""

import ntpath
import posixpath
import re
from enum import Enum

from forks_core.errors import Refused

_SHARE = re.compile(r"\\\\[^\\]+\\[^\\]+")
"""The root of a UNC share, which is absolute by itself."""


class Platform(Enum):
    """Whose rules hold for a path."""

    POSIX = "posix"
    WINDOWS = "windows"


def normalise(text: object, cwd: str, platform: Platform = Platform.POSIX) -> str:
    """Make a path absolute: relative to ``cwd``, without ``..``, links not resolved.

    Raises:
        Refused: It is empty, no text, or (Windows) has no drive in the end.
    """
    if not isinstance(text, str) or not text.strip():
        raise Refused("empty path")
    if "\0" in text or not _is_unicode(text):
        raise Refused("a path must be Unicode text", path=ascii(text))
    if platform is Platform.WINDOWS:
        return _windows(text.strip(), cwd)
    return posixpath.normpath(posixpath.join(cwd, text.strip()))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _windows(text: str, cwd: str) -> str:
    if git_bash := re.fullmatch(r"/([A-Za-z])(/.*)?", text):
        text = f"{git_bash[1]}:{git_bash[2] or '/'}"
    path = ntpath.normpath(ntpath.join(cwd, text.replace("/", "\\")))
    drive, rest = ntpath.splitdrive(path)
    if not (drive and rest.startswith("\\")) and not _SHARE.fullmatch(path):
        raise Refused("cannot normalise path", path=text)
    return drive[0].upper() + drive[1:] + rest if drive[1:] == ":" else path


def study_folder(file: str) -> str:
    """The state folder of a study: its file's path without ``.toml``, and ``-forks``.

    Raises:
        Refused: The path does not end in ``.toml``, in whatever case, or names no file.
    """
    name = re.split(r"[/\\]", file)[-1]
    if not file.lower().endswith(".toml") or name.lower() == ".toml":
        raise Refused("a study is a .toml file", file=file)
    return file[: -len(".toml")] + "-forks"


def state_folder(run: str) -> str:
    """The state folder of a run: the run log's path without ``.md``, and ``-forks``.

    A study is a run, too, and is named by its ``.toml`` file.

    Raises:
        Refused: The path ends in neither, in whatever case, or names no file.
    """
    if run.lower().endswith(".toml"):
        return study_folder(run)
    name = re.split(r"[/\\]", run)[-1]
    if not run.lower().endswith(".md") or name.lower() == ".md":
        raise Refused("--run must name the run log .md file", run=run)
    return run[: -len(".md")] + "-forks"
