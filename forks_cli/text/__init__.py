"""The same answers as text, for people: ``list`` as tables, ``show`` as a page.

rich knows the terminal's colours and how wide letters are. It is imported only here, and this
only when text is asked for.
"""

import io
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.console import Console

from forks_cli.tame import tame_all
from forks_cli.text.account import gate_line, quota_page, spend_page
from forks_cli.text.doctor import doctor
from forks_cli.text.layout import Part, Row
from forks_cli.text.pages import page, refusal
from forks_cli.text.sentences import expired, fixed, killed, launched
from forks_cli.text.show import show_page
from forks_cli.text.study import check_page, schedule_page
from forks_cli.text.study_run import (
    played_study,
    preflight_page,
    rows_page,
    run_page,
    status_page,
    stop_line,
)
from forks_cli.text.tables import list_tables, played, wait_tables
from forks_cli.verbs import split_verb

# Text that is piped has no terminal to fit; tables are then as wide as this.
_PIPED = (120, 40)
_NARROWEST = 20
_VIEWS: Mapping[str, Callable[[Row, int], Iterable[Part]]] = {
    "demo": lambda content, width: (played_study if "arms" in content else played)(content, width),
    "expire": expired,
    "gate": gate_line,
    "init": fixed,
    "kill": killed,
    "list": list_tables,
    "quota": quota_page,
    "show": show_page,
    "spend": spend_page,
    "study check": check_page,
    "study schedule": schedule_page,
    "study preflight": preflight_page,
    "study run": run_page,
    "study status": status_page,
    "study stop": stop_line,
    "study rows": rows_page,
    "wait": wait_tables,
    "where": doctor,
}
_LAUNCHING = frozenset({"train", "fork", "continue"})


def render(words: Sequence[str], content: Row, *, terminal: bool) -> str:
    """Write an answer as text.

    Args:
        words: The words of the call.
        content: The object that a program would get.
        terminal: Whether it goes to a terminal, which may have colours.
    """
    verb, _ = split_verb(words)
    if verb == "completion" and "script" in content:
        return f"{content['script']}\n"
    width = max(_NARROWEST, shutil.get_terminal_size(_PIPED).columns)
    file = io.StringIO()
    console = _console(file, width, terminal=terminal)
    for part in _parts(verb, words, tame_all(content), width):
        if isinstance(part, str):
            file.write(f"{part}\n")
        else:
            console.print(part)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())


def _console(file: io.StringIO, width: int, *, terminal: bool) -> Console:
    return Console(
        file=file,
        force_terminal=terminal and not os.environ.get("NO_COLOR"),
        width=width,
        # Without a height a dumb terminal would be taken for one of 80 columns.
        height=_PIPED[1],
        highlight=False,
        markup=False,
        emoji=False,
    )


def _parts(verb: str, words: Sequence[str], content: Row, width: int) -> Iterable[Part]:
    if "help" in content:
        return [str(content["help"]).rstrip()]
    if verb == "where" and "problems" in content:
        return doctor(content, width)
    if "error" in content and "looks" not in content:
        return refusal(content, width)
    if verb in _LAUNCHING:
        return launched(content, words, verb)
    return _VIEWS.get(verb, page)(content, width)
