"""What forks runs on: the problems first, each with what would help."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.padding import Padding
from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import INDENT, Part, Row, pairs

_SHOWN = ("python", "binary", "git", "uv")


def doctor(content: Row, width: int) -> Iterator[Part]:
    """Problems, the verdict, and what was found."""
    for problem in content["problems"]:
        fatal = problem["fatal"]
        style = "bold red" if fatal else "yellow"
        yield Text.assemble((f"{'problem' if fatal else 'warning'}: ", style), problem["what"])
        yield Padding(Text(problem["remedy"]), (0, 0, 0, INDENT))
    yield Text("Ready." if content["ok"] else "Not ready.", style="bold")
    found = [(name, cells.name(_program(content[name]))) for name in _SHOWN]
    names = [(name, cells.name(", ".join(content["scrub"][name]))) for name in ("drop", "unknown")]
    rest = [
        ("platform", cells.name(content["platform"])),
        ("not passed on", names[0][1]),
        ("unknown", names[1][1]),
    ]
    yield pairs([(name, text) for name, text in (*found, *rest) if text.plain], width, INDENT)


def _program(row: Mapping[str, Any]) -> str:
    path = row.get("path") or row.get("executable")
    told = [row.get("version"), path, f"by {row['how']}" if row.get("how") else None]
    return ", ".join(filter(None, told))
