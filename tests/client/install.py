"""The real client, installed through npm into a cache outside the repository.

The package's own script only puts its platform's program in another place, so it need not run:
the program is taken from the platform's package where there is one.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code"
CACHE = "FORKS_CLIENT_CACHE"
REQUIRE = "FORKS_REQUIRE_CLIENT"
_INSTALL_S = 600
_VERSION_S = 60
_PROGRAMS = (f"node_modules/{PACKAGE}-*/claude", "node_modules/.bin/claude")


def install(version: str) -> Path:
    """Return the client's program; it is installed when it does not answer from the cache.

    Without a way to install it the test is skipped with the reason, or fails with it when
    ``FORKS_REQUIRE_CLIENT=1``.
    """
    folder = _cache() / f"claude-code-{version}"
    with _lock(folder.with_name(f"{folder.name}.lock")):
        found = program(folder, version)
        if found is None:
            _replace(folder, version)
            found = program(folder, version)
    if found is None:
        _cannot(f"{PACKAGE}@{version} has no program for this machine")
    return found


def version_of(program: Path) -> tuple[int, ...]:
    """The version of a program that was installed here, by its folder."""
    named = re.search(r"/claude-code-(\d+(?:\.\d+)*)/", program.as_posix())
    assert named, program
    return tuple(map(int, named[1].split(".")))


def program(folder: Path, version: str) -> Path | None:
    """Find the program in an installation that answers with its version."""
    for pattern in _PROGRAMS:
        for path in sorted(folder.glob(pattern)):
            if _answers(path, version):
                return path
    return None


def _answers(path: Path, version: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="forks-version-") as home:
        try:
            done = subprocess.run(
                [path, "--version"],
                env=os.environ | {"HOME": home, "CLAUDE_CONFIG_DIR": home},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_VERSION_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and done.stdout.split()[:1] == [version]


def _replace(folder: Path, version: str) -> None:
    """Install beside, then rename: nobody ever sees half of it."""
    npm = shutil.which("npm")
    if npm is None:
        _cannot("npm is not installed")
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as name:
        fresh = Path(name) / "fresh"
        fresh.mkdir()
        _npm_install(npm, fresh, version)
        if folder.exists():
            folder.rename(Path(name) / "broken")
        fresh.rename(folder)


def _npm_install(npm: str, folder: Path, version: str) -> None:
    quiet = ("--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--include=optional")
    try:
        done = subprocess.run(
            [npm, "install", *quiet, "--prefix", folder, f"{PACKAGE}@{version}"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_INSTALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        _cannot(f"npm did not install {PACKAGE}@{version} within {_INSTALL_S} s")
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        _cannot(f"npm cannot install {PACKAGE}@{version}: {' '.join(errors[:3])}")


def _cannot(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"the real client is required: {reason}", pytrace=False)
    pytest.skip(f"no real client: {reason}")


def _cache() -> Path:
    if named := os.environ.get(CACHE):
        folder = Path(named)
    else:
        user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(user) / "forks-tests"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _cannot(f"{folder} cannot be made: {error.strerror}")
    return folder.resolve()


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
