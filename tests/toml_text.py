"""TOML as a person writes it, out of plain data: the other way round than `tomllib`."""

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

Table = dict[str, Any]


def toml_of(data: Mapping[str, Any]) -> str:
    """Write tables, and lists of tables, one below the other; what lies deeper stays in its line."""
    plain = {name: value for name, value in data.items() if not _is_table(value)}
    parts = [_lines(plain)]
    for name, value in data.items():
        if isinstance(value, dict):
            parts.append(f"[{_key(name)}]\n{_lines(value)}")
        elif _is_table(value):
            parts += [f"[[{_key(name)}]]\n{_lines(item)}" for item in value]
    return "\n".join(part for part in parts if part)


def _is_table(value: Any) -> bool:
    """Whether a value is written as a table, or as several of one name."""
    several = isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) or bool(several)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(name)} = {_value(item)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return _quoted(value) if isinstance(value, str) else repr(value).lower()


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else _quoted(name)


def _quoted(text: str) -> str:
    # TOML's escapes are JSON's, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every key and item of plain data by its path, as refusals name it, with what lies there."""
    if isinstance(value, dict):
        below = [(f"{path}.{name}".lstrip("."), item) for name, item in value.items()]
    elif isinstance(value, list):
        below = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
    else:
        return
    for place, item in below:
        yield place, item
        yield from places(item, place)


def replaced(data: Any, path: str, value: Any, at: str = "") -> Any:
    """The same data with another value at a path."""
    if at == path:
        return value
    if isinstance(data, dict):
        return {
            name: replaced(item, path, value, f"{at}.{name}".lstrip("."))
            for name, item in data.items()
        }
    if isinstance(data, list):
        return [replaced(item, path, value, f"{at}[{n}]") for n, item in enumerate(data)]
    return data
