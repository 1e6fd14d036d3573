"""Diagnostics: one JSON object a line, and nothing is imported for them before there is one."""

import json
import subprocess
import sys
from typing import Any

LEVELS = """
from forks_core.system.diagnostics import Diagnostics
log = Diagnostics(job="j0001", pid=7)
log.info("swept", pids=[1, 2])
log.warning("log locked", holder=3)
log.error("survivors", pids=[])
try:
    raise ValueError("no")
except ValueError as error:
    log.error("failed", exc_info=error)
"""
SILENT = """
import sys
from forks_core.system.supervise import Diagnostics
Diagnostics(job="j0001", pid=7)
sys.exit("structlog" in sys.modules)
"""


def lines_of(program: str) -> list[dict[str, Any]]:
    """What a program tells on standard error."""
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, check=True)
    assert not done.stdout
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_a_line_each() -> None:
    """Each line holds its level, its time in UTC, what it is about and of whom it speaks."""
    told = lines_of(LEVELS)
    assert [line["level"] for line in told] == ["info", "warning", "error", "error"]
    assert [line["event"] for line in told] == ["swept", "log locked", "survivors", "failed"]
    assert all((line["job"], line["pid"]) == ("j0001", 7) for line in told)
    assert all(line["timestamp"].endswith("Z") for line in told)
    assert (told[0]["pids"], told[1]["holder"]) == ([1, 2], 3)


def test_an_exception() -> None:
    """It is told with where it came from, on one line."""
    assert "ValueError: no" in lines_of(LEVELS)[-1]["exception"]


def test_who_tells_nothing_imports_nothing() -> None:
    """A supervisor that has nothing to tell does not pay for what would tell it."""
    assert lines_of(SILENT) == []
