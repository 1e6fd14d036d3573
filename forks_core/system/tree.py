"""A folder by the digest of all that is in it."""

import hashlib
import os
import stat
from pathlib import Path

_CHUNK = 1 << 20
_EXECUTABLE = stat.S_IXUSR


def tree_sha256(folder: Path) -> str:
    """Hash a folder's files by name, content and whether they can be run; links by their target.

    Times, owners and other modes are not in it, nor is the folder's own name.

    Raises:
        OSError: Something in it cannot be read, or is neither file, folder nor link.
    """
    whole = hashlib.sha256()
    for path in sorted(_everything(folder), key=os.fsencode):
        name = os.fsencode(path.relative_to(folder))
        kind, digest = _entry(path)
        whole.update(b"%s %s %d:%s\n" % (kind, digest, len(name), name))
    return whole.hexdigest()


def _everything(folder: Path) -> list[Path]:
    found: list[Path] = []
    for at, folders, files in os.walk(folder, onerror=_raise):
        found += [Path(at, name) for name in (*folders, *files)]
    return found


def _raise(error: OSError) -> None:
    raise error


def _entry(path: Path) -> tuple[bytes, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return b"link", hashlib.sha256(os.fsencode(path.readlink())).hexdigest().encode()
    if stat.S_ISDIR(mode):
        return b"folder", b"-"
    if not stat.S_ISREG(mode):
        raise OSError(f"neither file, folder nor link: {path}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest().encode()
    return (b"program" if mode & _EXECUTABLE else b"file"), digest
