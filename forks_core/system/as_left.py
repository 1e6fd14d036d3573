"""A working copy as its agent left it, for a check that is made anew.

A check works in the copy, and may change it. Until its verdict is recorded, the copy is kept beside
as it was: a check that was interrupted is made anew on what the agent did, and so is the diff.
"""

import contextlib
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from forks_core.system.files import storage


def beside(copy: Path) -> Path:
    """Where a working copy is kept."""
    return copy.with_name(f".{copy.name}.left")


def all_kept(copies: Path) -> Iterator[tuple[str, int]]:
    """The trials and attempts whose working copies are kept."""
    for kept in copies.glob("*/.a*.left"):
        number = kept.name.removeprefix(".a").removesuffix(".left")
        if number.isdecimal():
            yield kept.parent.name, int(number)


def keep_as_left(copy: Path) -> None:
    """Keep a working copy beside; sockets and pipes are not kept.

    What cannot be read is no reason not to judge the rest: then nothing is kept.
    """
    half = copy.with_name(f".{copy.name}.half")
    try:
        _remove(half)
        _copy(copy, half)
        half.rename(beside(copy))
    except OSError:
        shutil.rmtree(half, ignore_errors=True)


def put_back(copy: Path) -> bool:
    """Put back what was kept; False when nothing was: the copy is as the agent left it.

    Raises:
        StorageFailed: It cannot be put back.
    """
    kept = beside(copy)
    if not kept.is_dir():
        return False
    half = copy.with_name(f".{copy.name}.half")
    with storage(copy):
        _remove(half)
        _copy(kept, half)
        _remove(copy)
        half.rename(copy)
    return True


def let_go(copy: Path) -> None:
    """The verdict is recorded: what was kept for another one is removed, as far as it can be."""
    shutil.rmtree(beside(copy), ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True, ignore=_odd)


def _odd(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not _is_plain(Path(folder, name))]


def _is_plain(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _remove(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
