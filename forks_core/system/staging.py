"""Two folders side by side: what differs between them is laid out for git to read.

Git cannot be given the folders themselves: it fails at a pipe and at what it may not read, and it
takes in files of any size.
"""

import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from forks_core.system.files import PRIVATE_FILE

LARGEST = 16_000_000
"""Bytes that a file may have to be shown."""
_DEEPEST, _LONGEST = 200, 2000
_CHUNK = 1 << 20
_NOWHERE = PurePath()
_OURS, _THEIRS = 0, 1
_REPOSITORY = ".git"

Modes = tuple[int | None, int | None]
"""What lies under a name in the first folder and in the second, as the system tells it."""


class Staging:
    """Compares a task's folder and a working copy, and copies what differs beside each other.

    Args:
        source: The task's folder; None: an empty one.
        copy: The working copy; what is no folder counts as empty.
        stage: An empty folder; ``a`` and ``b`` are made in it.
        room: Bytes that may be copied into them.
        note: Told what differs and is not copied, and why.
    """

    def __init__(
        self,
        source: Path | None,
        copy: Path,
        stage: Path,
        room: int,
        note: Callable[[PurePath, str], None],
    ) -> None:
        self._stages = (stage / "a", stage / "b")
        self._sides = (source or self._stages[_OURS], copy)
        self._room = room
        self._note = note
        self._repositories: set[PurePath] = set()
        for folder in self._stages:
            folder.mkdir()

    def compare(self) -> bool:
        """Go through both; True when there is anything for git to read.

        Raises:
            OSError: The source cannot be read, or the stage cannot be written.
        """
        ours, copy = stat.S_IFDIR, self._sides[_THEIRS]
        theirs = copy.lstat().st_mode if copy.is_dir() else None
        if not _is_folder(theirs):
            self._tell(_NOWHERE, "the working copy is gone")
        folders: list[tuple[PurePath, Modes]] = [(_NOWHERE, (ours, theirs))]
        while folders:
            at, modes = folders.pop()
            for name, inner in self._listings(at, modes).items():
                if any(map(_is_folder, inner)):
                    folders.append((at / name, inner))
                self._compare(at / name, inner)
        return any(any(folder.iterdir()) for folder in self._stages)

    def _listings(self, at: PurePath, modes: Modes) -> Mapping[str, Modes]:
        """What lies in a folder, on either side; nothing where that cannot be told."""
        if not is_near(at):
            self._tell(at, "too deep")
            return {}
        ours, theirs = map(_is_folder, modes)
        first = listing(self._sides[_OURS] / at) if ours else {}
        try:
            second = listing(self._sides[_THEIRS] / at) if theirs else {}
        except OSError as error:
            self._tell(at, error.strerror or str(error))
            return {}
        if ours != theirs and at != _NOWHERE and not (first or second):
            self._tell(
                at, "an empty folder that is gone" if ours else "an empty folder that is new"
            )
        return {name: (first.get(name), second.get(name)) for name in sorted({*first, *second})}

    def _compare(self, at: PurePath, modes: Modes) -> None:
        """Lay out what is no folder, where it differs."""
        paths = [
            (side, self._sides[side] / at, mode)
            for side, mode in enumerate(modes)
            if mode is not None and not _is_folder(mode)
        ]
        if not paths or (len(paths) == len(modes) and _is_same(*(path for _, path, _ in paths))):
            return
        for _, path, mode in paths:
            if why := self._obstacle(at, path, mode):
                self._tell(at, why)
                return
        for side, path, mode in paths:
            there = self._stages[side] / at
            there.parent.mkdir(parents=True, exist_ok=True)
            copy_leaf(path, there, mode)

    def _tell(self, at: PurePath, why: str) -> None:
        """Note something; of all that lies in a repository's own folder only that, and once."""
        if _REPOSITORY in at.parts:
            at = PurePath(*at.parts[: at.parts.index(_REPOSITORY) + 1])
            if at in self._repositories:
                return
            self._repositories.add(at)
            why = "a repository's own files"
        self._note(at, why)

    def _obstacle(self, at: PurePath, path: Path, mode: int) -> str | None:
        """Why git cannot be shown this, or None."""
        if not is_near(at):
            return "too deep"
        if not is_leaf(mode) or _REPOSITORY in at.parts:
            return "neither file, folder nor link"
        if stat.S_ISLNK(mode):
            return None
        try:
            path.open("rb").close()
        except PermissionError as error:
            return error.strerror
        size = path.lstat().st_size
        if size > min(LARGEST, self._room):
            return f"a file of {size} bytes"
        self._room -= size
        return None


def listing(folder: Path) -> Mapping[str, int]:
    """What a folder holds, by name, and of which kind each is; links are not followed.

    Raises:
        OSError: It cannot be read.
    """
    with os.scandir(folder) as entries:
        return {entry.name: entry.stat(follow_symlinks=False).st_mode for entry in entries}


def is_leaf(mode: int) -> bool:
    """Whether it is a file or a link."""
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def is_near(at: PurePath) -> bool:
    """Whether a path is short enough to be put somewhere else."""
    return len(at.parts) <= _DEEPEST and len(os.fsencode(at)) <= _LONGEST


def copy_leaf(here: Path, there: Path, mode: int) -> None:
    """Copy a link as it is, or a file with its permissions and times.

    Raises:
        OSError: One cannot be read, or the other is there already or cannot be written.
    """
    if stat.S_ISLNK(mode):
        there.symlink_to(os.readlink(here))  # noqa: PTH115 - its text, as it is
        return
    with here.open("rb") as reading, there.open("xb") as writing:
        shutil.copyfileobj(reading, writing, _CHUNK)
        writing.flush()
        times, file = os.fstat(reading.fileno()), writing.fileno()
        os.fchmod(file, mode & 0o777 | PRIVATE_FILE)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def _is_folder(mode: int | None) -> bool:
    return mode is not None and stat.S_ISDIR(mode)


def _is_same(ours: Path, theirs: Path) -> bool:
    """Whether two are alike in kind, content and whether they can be run."""
    first, second = ours.lstat(), theirs.lstat()
    kinds = [(stat.S_IFMT(each.st_mode), each.st_mode & stat.S_IXUSR) for each in (first, second)]
    sizes = first.st_size, second.st_size
    if kinds[_OURS] != kinds[_THEIRS] or len({*sizes}) > 1 or not is_leaf(first.st_mode):
        return False
    if stat.S_ISLNK(first.st_mode):
        return os.readlink(ours) == os.readlink(theirs)  # noqa: PTH115 - its text, as it is
    try:
        with ours.open("rb") as one, theirs.open("rb") as other:
            while (part := one.read(_CHUNK)) == other.read(_CHUNK):
                if not part:
                    return True
    except PermissionError:
        return False
    return False
