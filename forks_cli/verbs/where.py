"""``forks where``: what forks runs on. It writes nothing."""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from forks_cli.answer import Answer, Exit
from forks_core.claude.environment import Host, report
from forks_core.errors import ForksError, Refused
from forks_core.system.client import inspect, resolve
from forks_core.system.processes import require_linux

_VERSION_S = 30
_PYTHON = (3, 11)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("--binary", metavar="PATH", help="the client to look at")


def run(arguments: argparse.Namespace) -> Answer:
    """Look at everything; what would make the next command fail is a reason."""
    reasons: list[str] = []
    content = {
        "script": str(Path(sys.argv[0]).absolute()),
        "python": _python(reasons),
        "uv": _tool("uv"),
        "binary": _binary(arguments.binary, reasons),
        "git": _tool("git"),
        "spawn": "setsid",
        "scrub": report(
            Host(environment=os.environ, prefix=sys.prefix, base_prefix=sys.base_prefix)
        ),
        "platform": _platform(reasons),
        "ok": not reasons,
    }
    if not reasons:
        return Answer(content)
    text = "; ".join(reasons)
    return Answer({**content, "reason": text, "error": text}, Exit.REFUSED)


def _python(reasons: list[str]) -> dict[str, Any]:
    enough = sys.version_info >= _PYTHON
    if not enough:
        reasons.append("Python 3.11 or newer is needed")
    return {
        "version": platform.python_version(),
        "executable": sys.executable,
        "base_executable": getattr(sys, "_base_executable", sys.executable),
        "supervisor_interpreter": sys.executable,
        "ok": enough,
    }


def _platform(reasons: list[str]) -> str:
    try:
        require_linux()
    except ForksError as error:
        reasons.append(error.message)
    return platform.platform()


def _binary(option: str | None, reasons: list[str]) -> dict[str, Any]:
    found = resolve(option, os.environ)
    if found is None:
        reasons.append("no claude binary: name one by --binary, or put claude on PATH")
        return {"path": None, "how": None}
    path, how = found
    try:
        binary = inspect(path)
    except Refused as error:
        reasons.append(error.message)
        return {"path": path, "how": how, "error": error.message, **error.fields}
    stat = Path(path).stat()
    return {
        "path": path,
        "how": how,
        "version": binary.version,
        "size": binary.size,
        "mtime": stat.st_mtime,
    }


def _tool(name: str) -> dict[str, Any]:
    """A program that helps but is not needed."""
    path = shutil.which(name)
    if path is None:
        return {"path": None, "version": None}
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"path": path, "version": None, "error": str(error)}
    return {"path": path, "version": done.stdout.decode(errors="replace").strip() or None}
