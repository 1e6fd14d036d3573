"""What is wrong in a table that somebody wrote, key by key, each by its path as TOML writes it."""

import json
import re
from collections.abc import Iterator
from typing import Any

from cattrs import (
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    IterableValidationNote,
)

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def wrong_keys(error: BaseException, path: str = "") -> Iterator[tuple[str, str]]:
    """Give the path of every key that is wrong, and why.

    Args:
        error: What the converter has said, in its detailed form.
        path: The place that it speaks of.
    """
    match error:
        case ClassValidationError() | IterableValidationError():
            noted, others = error.group_exceptions()
            for inner, note in noted:
                yield from wrong_keys(inner, _below(path, note))
            for inner in others:
                yield from wrong_keys(inner, path)
        case ForbiddenExtraKeysError():
            for name in sorted(error.extra_fields):
                yield below(path, name), "unknown key"
        case KeyError():
            for name in str(error.args[0]).removeprefix("missing ").split(", "):
                yield below(path, name), "missing key"
        case _:
            yield path, str(error)


def _below(path: str, note: Any) -> str:
    is_item = isinstance(note, IterableValidationNote)
    return f"{path}[{note.index}]" if is_item else below(path, note.name)


def below(path: str, name: str) -> str:
    """The path of a key in a table."""
    key = name if _BARE_KEY.fullmatch(name) else json.dumps(name)
    return f"{path}.{key}" if path else key
