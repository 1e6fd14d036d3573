"""The same answers as text, for people: ``list`` as tables, ``show`` as a page.

rich knows the terminal: its width, whether it has colours, and that ``NO_COLOR`` wants none. It is
imported only here, and this only when text is asked for.
"""

import io
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rich.console import Console, RenderableType

from forks_cli.text.pages import page, show_page
from forks_cli.text.tables import list_tables, wait_tables

Content = Mapping[str, Any]

# Text that is piped has no terminal to fit; tables are then as wide as this.
_PIPED = (120, 40)
_VIEWS: Mapping[str, Callable[[Content], Iterable[RenderableType]]] = {
    "list": list_tables,
    "show": show_page,
    "wait": wait_tables,
}


def render(verb: str, content: Content, *, terminal: bool) -> str:
    """Write an answer as text.

    Args:
        verb: Whose answer it is.
        content: The object that a program would get.
        terminal: Whether it goes to a terminal, which may have colours.
    """
    if "script" in content and verb == "completion":
        return str(content["script"]) + "\n"
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=terminal,
        width=shutil.get_terminal_size(_PIPED).columns,
        highlight=False,
        markup=False,
        emoji=False,
    )
    view = page if {"error", "help"} & content.keys() else _VIEWS.get(verb, page)
    for part in view(content):
        console.print(part)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())
