r"""Text that others wrote, made harmless: nothing of it may steer the terminal that shows it.

A model's answer, a block's name or a file's may hold escape sequences, which could move the
cursor, set the title or forge output; and marks that turn the order of letters around. They are
shown as Python would write them, ``\x1b``, and so nothing of the text is lost.
"""

import re
from collections.abc import Mapping
from typing import Any

# C0 but tab and line feed, DEL and C1; marks of direction; other line ends; half characters.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def tame(text: str) -> str:
    """Make a text harmless; lines stay lines, and tabs stay tabs."""
    return _STEERING.sub(_written, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Make a text harmless that must not break a line."""
    return tame(text.replace("\n", "\\n").replace("\t", "\\t"))


def tame_all(value: Any) -> Any:
    """Make every text of an answer harmless, names as well as values."""
    if isinstance(value, str):
        return tame(value)
    if isinstance(value, Mapping):
        return {one_line(str(name)): tame_all(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [tame_all(item) for item in value]
    return value


def _written(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
