"""A working copy: a task's folder, copied afresh for an attempt, and what the agent changed in it."""

import contextlib
import ctypes
import hashlib
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import BinaryIO

from forks_core.errors import Refused, StorageFailed
from forks_core.system.files import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    make_private,
    storage,
    sync_folder,
)
from forks_core.system.staging import Staging, copy_leaf, is_leaf, is_near, listing
from forks_events.jobs import Text

DIFF_LIMIT = 64_000_000
"""Bytes of a diff that are kept at most."""
_ROOM = 256_000_000
_GIT_S = 60.0
_CHUNK = 1 << 20
_GIT = ("git", "--no-pager", "diff", "--no-index", "--no-prefix", "--binary", "--full-index")
_PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "a", "b")
# No repository, no configuration, no attributes, nothing of the caller: git reads two folders.
_ALONE = {
    "GIT_DIR": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}


def make_copy(source: Path | None, target: Path) -> None:
    """Copy a task's folder, whole or not at all; a copy that is there is left as it is.

    Links stay links, files keep their permissions and times, and nothing is shared with the source.

    Args:
        source: The task's folder; None: an empty one.
        target: Where the copy shall lie; nobody else may look into it.

    Raises:
        Refused: The task's folder is gone, or holds what cannot be copied.
        StorageFailed: It cannot be read, or the copy cannot be written.
    """
    if os.path.lexists(target):
        return
    with storage(target), _reading(source):
        make_private(target.parent)
        with _scratch(target.with_name(f".{target.name}.half")) as half:
            if source:
                _fill(half, source)
            _sync_all(half)
            half.rename(target)
        sync_folder(target.parent)


def write_diff(
    source: Path | None, copy: Path, target: Path, limit: int = DIFF_LIMIT
) -> Text | None:
    """Keep what differs between a task's folder and a working copy, in a form that git can apply.

    Names, contents and whether a file can be run are compared. Before the diff comes a line for
    each difference that git cannot show.

    Args:
        source: The task's folder; None: an empty one.
        copy: The working copy; one that is gone counts as empty.
        target: The diff's file; what an earlier call wrote is replaced.
        limit: Bytes of it that are kept; then a last line tells that there was more.

    Returns:
        What was kept, or None when nothing differs: then no file is written.

    Raises:
        Refused: The task's folder is gone.
        StorageFailed: It cannot be written, or git is not there.
    """
    scratch = _scratch(target.with_name(f".{target.name}.stage"))
    with storage(target), _reading(source), scratch as stage:
        with (stage / "diff").open("xb") as file:
            diff = _Diff(file, limit)
            if Staging(source, copy, stage, _ROOM, diff.note).compare():
                _ask_git(stage, diff)
            os.fchmod(file.fileno(), PRIVATE_FILE)
            file.flush()
            os.fsync(file.fileno())
        if not diff.size:
            return None
        (stage / "diff").replace(target)
        sync_folder(target.parent)
    return Text(sha256=diff.sha256.hexdigest(), bytes=diff.size)


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder for a while; what a crash left of an earlier one is removed."""
    _remove(folder)
    folder.mkdir(mode=PRIVATE_FOLDER)
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _reading(source: Path | None) -> Iterator[None]:
    """Tell what vanished of a task's folder from what cannot be written."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        if source and error.filename and Path(error.filename).is_relative_to(source):
            gone = os.fspath(error.filename)
            raise Refused("the task's folder is gone", path=gone) from error
        raise


def _fill(half: Path, source: Path) -> None:
    if half.resolve().is_relative_to(source.resolve()):
        raise Refused("the working copy would lie within the task's folder", path=str(source))
    folders = [PurePath()]
    for at in folders:
        for name, mode in listing(source / at).items():
            inner = at / name
            here, there = source / inner, half / inner
            if not is_near(inner):
                raise Refused("the task's folder is too deep", path=str(here))
            if stat.S_ISDIR(mode):
                there.mkdir(PRIVATE_FOLDER)
                folders.append(inner)
            elif is_leaf(mode):
                copy_leaf(here, there, mode)
            else:
                why = "the task's folder holds what is neither file, folder nor link"
                raise Refused(why, path=str(here))


def _sync_all(folder: Path) -> None:
    """Make durable all that lies in a folder: its file system at once, file by file takes minutes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(folder))
    finally:
        os.close(descriptor)


class _Diff:
    """What is kept of a diff: digested while it is written, and cut at its limit."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self.limit = limit
        self.is_full = False
        self.sha256 = hashlib.sha256()
        self.size = 0
        self._file = file

    def add(self, data: bytes) -> bool:
        """Keep what there is room for; False when that was not all, now or before."""
        room = 0 if self.is_full else self.limit - self.size
        self._write(data[:room])
        if len(data) > room and not self.is_full:
            self.is_full = True
            self.cut(f"there is more than {self.limit} bytes of it")
        return not self.is_full

    def note(self, at: PurePath, why: str) -> None:
        """Tell, in one line of ASCII, what git cannot show."""
        name = at.as_posix().encode("unicode_escape")
        self.add(b"# forks: not shown: %s: %s\n" % (name, why.encode("ascii", "replace")))

    def cut(self, why: str) -> None:
        """Say in a last line that there was more."""
        self._write(f"\n# forks: cut here: {why}\n".encode())

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.sha256.update(data)
        self.size += len(data)


def _ask_git(stage: Path, diff: _Diff) -> None:
    """Have git compare what was laid out, as long as there is room for what it says."""
    environment = {**_ALONE, "PATH": os.environ.get("PATH", os.defpath)}
    with (stage / "complaint").open("w+b") as complaint:
        try:
            git = subprocess.Popen(
                [*_GIT, *_PLAIN],
                cwd=stage,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaint,
            )
        except FileNotFoundError as error:
            raise StorageFailed("git is needed to keep what an agent changed") from error
        late = threading.Timer(_GIT_S, git.kill)
        with git, contextlib.ExitStack() as after:
            after.callback(git.kill)
            after.callback(late.cancel)
            late.start()
            assert git.stdout is not None  # noqa: S101 - it is a pipe
            while (part := git.stdout.read(_CHUNK)) and diff.add(part):
                pass
            if not diff.is_full:
                git.wait()
        if git.returncode < 0 and not diff.is_full:
            diff.cut("git was ended before it was done")
        if git.returncode > 1:
            complaint.seek(0)
            why = complaint.read(1000).decode(errors="replace").strip()
            raise StorageFailed("git cannot tell what was changed", detail=why)
