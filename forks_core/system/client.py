"""The client program: where it is, what it is, and what of a launch is still as it was."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forks_core.claude.admission import SettingsFile
from forks_core.claude.environment import Host
from forks_core.errors import Refused
from forks_core.rules.fingerprint import Found
from forks_core.rules.paths import normalise
from forks_core.system.files import file_sha256, working_directory
from forks_events.values import Agent, Binary, FileDigest, Launch

EXECPATH = "CLAUDE_CODE_EXECPATH"
_VERSION_S = 60


def this_host() -> Host:
    """Where forks itself runs, and what the scrub begins with."""
    return Host(environment=os.environ, prefix=sys.prefix, base_prefix=sys.base_prefix)


def resolve(option: str | None, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Find the client: the option, then the variable, then PATH.

    Returns:
        Its absolute path and how it was found, or None.
    """
    if option is not None:
        return normalise(option, working_directory()), "--binary"
    if environment.get(EXECPATH):
        return normalise(environment[EXECPATH], working_directory()), EXECPATH
    found = shutil.which("claude", path=environment.get("PATH"))
    return (normalise(found, working_directory()), "PATH") if found else None


def inspect(path: str) -> Binary:
    """Ask the client for its version.

    Raises:
        Refused: It is no file, or does not answer.
    """
    if not Path(path).is_file():
        raise Refused("claude binary not found", binary=path)
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(
            "claude binary did not report a version", binary=path, detail=str(error)
        ) from error
    words = done.stdout.decode(errors="replace").split()
    if done.returncode or not words:
        detail = f"exit code {done.returncode}" if done.returncode else "it printed nothing"
        raise Refused("claude binary did not report a version", binary=path, detail=detail)
    return Binary(path=path, version=words[0], size=Path(path).stat().st_size)


def look_again(launch: Launch) -> Found:
    """See what a launch's files are now.

    Raises:
        Refused: The client is gone, or mute.
    """
    if not Path(launch.binary.path).is_file():
        raise Refused("claude binary not found", binary=launch.binary.path, reason="binary_missing")
    return Found(
        binary=inspect(launch.binary.path),
        append_system_prompt=_digest(launch.append_system_prompt),
        agent=_digest(launch.agent),
        settings=_digest(launch.settings),
    )


def _digest(file: FileDigest | Agent | None) -> str | None:
    return file_sha256(Path(file.path)) if file else None


def settings_files(home: Path, cwd: Path) -> tuple[list[SettingsFile], list[str]]:
    """Read the client's settings, which are never written.

    Returns:
        The files that could be parsed, in the client's order, and complaints on the others.
    """
    files: list[SettingsFile] = []
    complaints: list[str] = []
    for path in (
        home / ".claude" / "settings.json",
        cwd / ".claude" / "settings.json",
        cwd / ".claude" / "settings.local.json",
    ):
        try:
            content: Any = json.loads(path.read_text(encoding="utf-8"))
        except OSError:
            continue
        except ValueError as error:
            complaints.append(f"{path}: {error}")
        else:
            files.append(SettingsFile(path=str(path), content=content))
    return files, complaints
