"""``forks where``: what forks runs on, and what would make the next command fail.

It writes nothing.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from attrs import asdict

from forks_cli.answer import Answer, Exit
from forks_cli.doctor import LEAST_PYTHON, Client, Problem, client, surroundings
from forks_core.claude.environment import report
from forks_core.system.client import this_host

_VERSION_S = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("--binary", metavar="PATH", help="the client to look at")


def run(arguments: argparse.Namespace) -> Answer:
    """Look at everything; what would make a command fail is a reason, the rest is a warning."""
    found = client(arguments.binary, os.environ)
    git = _tool("git")
    problems = [*found.problems, *surroundings(os.environ), *_without(git)]
    # The same thing may be in the way of several.
    problems = list({problem.what: problem for problem in problems}.values())
    reasons = [problem.what for problem in problems if problem.fatal]
    content = {
        "script": _script(),
        "python": _python(),
        "uv": _tool("uv"),
        "binary": _binary(found),
        "git": git,
        "spawn": "setsid",
        "scrub": report(this_host()),
        "platform": platform.platform(),
        "problems": [asdict(problem) for problem in problems],
        "ok": not reasons,
    }
    if not reasons:
        return Answer(content)
    text = "; ".join(reasons)
    return Answer({**content, "reason": text, "error": text}, Exit.REFUSED)


def _script() -> str:
    """The program, as it was called; where no path can be told any more it stays as it is."""
    try:
        return str(Path(sys.argv[0]).absolute())
    except FileNotFoundError:
        return sys.argv[0]


def _python() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "executable": sys.executable,
        "base_executable": getattr(sys, "_base_executable", sys.executable),
        "supervisor_interpreter": sys.executable,
        "ok": sys.version_info >= LEAST_PYTHON,
    }


def _binary(found: Client) -> dict[str, Any]:
    row: dict[str, Any] = {"path": found.path, "how": found.how}
    if found.binary is None:
        return {**row, "error": found.problems[0].what}
    return {
        **row,
        "version": found.binary.version,
        "size": found.binary.size,
        "mtime": Path(found.binary.path).stat().st_mtime,
    }


def _without(git: dict[str, Any]) -> list[Problem]:
    if git["version"]:
        return []
    what = f"git does not answer: {git['path']}" if git["path"] else "there is no git"
    remedy = "install it, or give init a --cwd; forks will not be told what changed since the base"
    return [Problem(what, remedy, fatal=False)]


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
    if done.returncode:
        return {"path": path, "version": None, "error": f"exit code {done.returncode}"}
    return {"path": path, "version": done.stdout.decode(errors="replace").strip() or None}
