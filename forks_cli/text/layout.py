"""Rows as a table where it fits, else one below the other; names with their values.

Nothing is ever cut off: what does not fit goes on below.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]
Part = RenderableType
"""What a view is made of; a plain text is printed as it is, and the terminal wraps it."""

INDENT = 2
_GAP = 2
# Words are wrapped when a table gets too wide; a long one is folded, but not below this.
_LEAST = 16


@frozen
class Column:
    """A column of a table.

    Args:
        name: Its heading.
        cell: What of a row stands in it.
        right: Whether it is a number.
        elastic: Whether it may be folded.
    """

    name: str
    cell: Callable[[Row], Text]
    right: bool = False
    elastic: bool = False


def rows(columns: Sequence[Column], content: Sequence[Row], width: int) -> RenderableType:
    """Show rows; a column without anything in it is left out."""
    cells = [[column.cell(row) for column in columns] for row in content]
    used = [number for number in range(len(columns)) if any(line[number].plain for line in cells)]
    columns = [columns[number] for number in used]
    cells = [[line[number] for number in used] for line in cells]
    least = [
        _least(column, [column.name, *(line[n].plain for line in cells)])
        for n, column in enumerate(columns)
    ]
    if sum(least) + _GAP * (len(least) - 1) <= width:
        return _table(columns, cells, least)
    return Group(*(_card(columns, line) for line in cells))


def _least(column: Column, texts: Sequence[str]) -> int:
    """The width that a column needs."""
    if not column.elastic:
        return max(map(cell_len, texts))
    return min(_LEAST, max(cell_len(word) for text in texts for word in text.split(" ")))


def _table(
    columns: Sequence[Column], cells: Sequence[Sequence[Text]], least: Sequence[int]
) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for column, width in zip(columns, least, strict=True):
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            overflow="fold",
            no_wrap=not column.elastic,
            min_width=width,
        )
    for line in cells:
        table.add_row(*line)
    return table


def _card(columns: Sequence[Column], line: Sequence[Text]) -> RenderableType:
    """One row on lines of its own, with the names of its columns."""
    told = [
        Text.assemble((column.name, "dim"), " " if column.name else "", cell)
        for column, cell in zip(columns[1:], line[1:], strict=True)
        if cell.plain
    ]
    return Group(
        Text(line[0].plain, style="bold", overflow="fold"),
        Padding(Text(", ").join(told), (0, 0, 0, INDENT)),
    )


def pairs(content: Sequence[tuple[str, Text]], width: int, indent: int = 0) -> RenderableType:
    """Show names with their values: beside them, or below where there is no room."""
    longest = max((cell_len(name) for name, _ in content), default=0)
    if longest + _GAP + _LEAST > width - indent:
        return Group(*(_stacked(name, value, indent) for name, value in content))
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True, min_width=longest)
    table.add_column(overflow="fold")
    for name, value in content:
        table.add_row(name, value)
    return Padding(table, (0, 0, 0, indent))


def _stacked(name: str, value: Text, indent: int) -> RenderableType:
    return Group(
        Padding(Text(name, style="dim"), (0, 0, 0, indent)),
        Padding(value, (0, 0, 0, indent + INDENT)),
    )
