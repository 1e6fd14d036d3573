"""The strict converter: every value must already be of its type, and nothing is guessed.

cattrs coerces by default (``"no"`` becomes ``True``); here no key may be missing, and none may be
more.
"""

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

import attrs
from cattrs import Converter, IterableValidationError, IterableValidationNote
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn
from immutables import Map

_T = TypeVar("_T")
STATE = "is"
"""Where a value may have several forms, each a class, this key tells which one it has."""


def time_text(at: datetime) -> str:
    """Write a time as ISO 8601 in UTC with microseconds, as it stands in the log.

    Raises:
        ValueError: ``at`` is naive or not in UTC.
    """
    if at.utcoffset() != timedelta(0):
        raise ValueError(f"not a time in UTC: {at!r}")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def parse_time(text: object) -> datetime:
    """Read a time that `time_text` wrote, and no other spelling of it."""
    if isinstance(text, str):
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None and at.utcoffset() == timedelta(0) and time_text(at) == text:
            return at.astimezone(UTC)
    raise ValueError(f"not a time in UTC with microseconds: {text!r}")


def _exactly(kind: type) -> Callable[[object, object], Any]:
    def hook(value: object, _: object) -> object:
        return _checked(value, kind)

    return hook


def _number(value: object, _: object) -> float:
    if type(value) not in {int, float} or not math.isfinite(value):  # type: ignore[arg-type]
        raise TypeError(f"expected a finite number, not {value!r}")
    return float(value)  # type: ignore[arg-type]


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"not a finite number: {value!r}")
    return float(value)  # whoever said 60 for 60.0: the line reads, and is written again, as one


def _word(value: object, kind: type[Enum]) -> Enum:
    if not isinstance(value, str):
        raise TypeError(f"expected a word, not {value!r}")
    try:
        return kind(value)
    except ValueError:
        words = ", ".join(str(one.value) for one in kind)
        raise ValueError(f"{value!r} is none of: {words}") from None


def _int_or_str(value: object, _: object) -> object:
    if value is not None and type(value) not in {int, str}:
        raise TypeError(f"expected a number, a text or null, not {value!r}")
    return value


def make_converter(*, detailed: bool = False, defaults: bool = False) -> Converter:
    """Build the strict converter.

    Args:
        detailed: Be slower, and only explain what is wrong.
        defaults: Let a key that has a default be left out: in files that people write, where in a
            log what is missing is damage.
    """
    converter = Converter(forbid_extra_keys=True, detailed_validation=detailed)
    _add_structure_hooks(converter, defaults=defaults)
    _add_unstructure_hooks(converter)
    return converter


def _generic(origin: type) -> Callable[[Any], bool]:
    return lambda kind: kind is origin or get_origin(kind) is origin


def _members(kind: Any) -> dict[str, type[Any]]:
    """The classes of a union of states by name, or nothing when it is no such union."""
    members = get_args(kind) if isinstance(kind, UnionType) else ()
    classes = [member for member in members if attrs.has(member)]
    return {member.__name__: member for member in classes} if len(classes) == len(members) else {}


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _add_structure_hooks(converter: Converter, *, defaults: bool) -> None:
    for exact in (str, int, bool):
        converter.register_structure_hook(exact, _exactly(exact))
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(datetime, lambda value, _: parse_time(value))
    converter.register_structure_hook(int | str | None, _int_or_str)
    converter.register_structure_hook_func(_is_enum, _word)

    def structure_map(value: object, kind: Any) -> Map[Any, Any]:
        of_key, of_item = get_args(kind)
        return Map(
            {
                converter.structure(key, of_key): converter.structure(item, of_item)
                for key, item in _checked(value, dict).items()
            }
        )

    def structure_tuple(value: object, kind: Any) -> tuple[Any, ...]:
        of_item = get_args(kind)[0]
        items = _checked(value, list)
        if converter.detailed_validation:
            return tuple(_items_explained(converter, items, of_item, kind))
        return tuple(converter.structure(item, of_item) for item in items)

    def structure_class(kind: type[Any]) -> Callable[[Any, Any], Any]:
        from_dict = make_dict_structure_fn(kind, converter)
        names = {
            name
            for name, field in attrs.fields_dict(kind).items()
            if not (defaults and field.default is not attrs.NOTHING)
        }

        def hook(value: object, _: object) -> Any:
            data = _checked(value, dict)
            if missing := names - data.keys():
                raise KeyError(f"missing {', '.join(sorted(missing))}")
            return from_dict(data, kind)

        return hook

    def structure_state(value: object, kind: Any) -> Any:
        data = dict(_checked(value, dict))
        return converter.structure(data, _members(kind)[data.pop(STATE)])

    converter.register_structure_hook_func(lambda kind: bool(_members(kind)), structure_state)
    converter.register_structure_hook_func(_generic(Map), structure_map)
    converter.register_structure_hook_func(_generic(tuple), structure_tuple)
    converter.register_structure_hook_factory(attrs.has, structure_class)


def _items_explained(
    converter: Converter, items: list[Any], of_item: Any, kind: Any
) -> Iterator[Any]:
    """Structure a list; where items are wrong, the error tells their places."""
    errors: list[Exception] = []
    for number, item in enumerate(items):
        try:
            yield converter.structure(item, of_item)
        except Exception as error:  # noqa: BLE001 - all of them are told
            error.add_note(IterableValidationNote(f"item {number}", number, of_item))
            errors.append(error)
    if errors:
        raise IterableValidationError("wrong items", errors, kind)


def _checked(value: object, kind: type[_T]) -> _T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value


def _add_unstructure_hooks(converter: Converter) -> None:
    converter.register_unstructure_hook(datetime, time_text)
    converter.register_unstructure_hook(float, _finite)
    converter.register_unstructure_hook_func(
        _generic(Map),
        # A map has an order of its own in each process; a line shall not.
        lambda value: {key: converter.unstructure(value[key]) for key in sorted(value)},
    )
    converter.register_unstructure_hook_func(
        _generic(tuple), lambda value: [converter.unstructure(item) for item in value]
    )
    converter.register_unstructure_hook_func(
        lambda kind: bool(_members(kind)),
        lambda value: {STATE: type(value).__name__, **converter.unstructure(value)},
    )
    converter.register_unstructure_hook_factory(
        attrs.has, lambda kind: make_dict_unstructure_fn(kind, converter)
    )
