"""Any answer: names and values, and what lies below a name indented under it."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.padding import Padding
from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import INDENT, Part, Row, pairs


def page(content: Row, width: int, indent: int = 0) -> Iterable[Part]:
    """Show any object; nothing of it is left out."""
    flat: list[tuple[str, Text]] = []
    for name, value in content.items():
        below = _below(value)
        if not below:
            flat.append((name, cells.plain(name, value)))
            continue
        if flat:
            yield pairs(flat, width, indent)
            flat = []
        for number, item in enumerate(below, start=1):
            heading = name if len(below) == 1 else f"{name} {number}"
            yield Padding(Text(heading, style="bold"), (0, 0, 0, indent))
            yield from page(item, width, indent + INDENT)
    if flat:
        yield pairs(flat, width, indent)


def _below(value: Any) -> list[Mapping[str, Any]]:
    """The objects that a value is, or holds."""
    if isinstance(value, Mapping):
        return [value] if value else []
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return value
    return []


def refusal(content: Row, width: int) -> Iterable[Part]:
    """What was refused, then what of; words that were off, with how they are used."""
    rest = {name: value for name, value in content.items() if name != "error"}
    if content["error"] == "usage":
        yield Text(str(rest["detail"]), style="bold red")
        yield str(rest["usage"])
        return
    yield Text(str(content["error"]), style="bold red")
    yield from page(rest, width, INDENT)
