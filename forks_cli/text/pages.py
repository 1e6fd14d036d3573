"""An answer as a page: a name, a value, and what lies below it indented."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forks_cli.text import cells

_INDENT = 2
_NOT_FOR_PEOPLE = frozenset({"head", "created", "argv", "state"})


def page(content: Mapping[str, Any]) -> Iterable[RenderableType]:
    """Show any object."""
    if "error" in content:
        yield Text(str(content["error"]), style="bold red")
    if "help" in content:
        yield Text(content["help"].rstrip())
        return
    yield _grid({name: value for name, value in content.items() if name != "error"})


def show_page(content: Mapping[str, Any]) -> Iterable[RenderableType]:
    """A job or a base, with the answer's text and the complaints at the end."""
    for name, value in content.items():
        if name in _NOT_FOR_PEOPLE or name in {"text", "stderr"} or value is None:
            continue
        yield Text(name, style="bold")
        yield Padding(
            _grid(value) if isinstance(value, Mapping) else Text(str(value)), (0, 0, 0, 2)
        )
    for name in ("text", "stderr"):
        if content.get(name):
            yield Text(name, style="bold")
            yield Padding(Text(content[name].rstrip()), (0, 0, 0, _INDENT))


def _grid(content: Mapping[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in content.items():
        table.add_row(name, _value(value))
    return table


def _value(value: Any) -> RenderableType:
    if isinstance(value, Mapping):
        return _grid(value) if value else Text(cells.NONE)
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        grid = Table.grid()
        for item in value:
            grid.add_row(_grid(item))
        return grid
    return cells.plain(value)
