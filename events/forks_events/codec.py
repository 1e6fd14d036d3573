"""Events to plain data and back, strictly: a log must not guess."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError, transform_error

from forks_events import Event
from forks_events.converter import make_converter

_T = TypeVar("_T")
Data = dict[str, Any]


class Undecodable(ValueError):
    """The data is not what its type says; the message tells where and why."""


_converter = make_converter()


def structure(data: object, kind: type[_T]) -> _T:
    """Make a ``kind`` of plain data.

    Raises:
        Undecodable: The data is not exactly one; the message names the place.
    """
    try:
        return _converter.structure(data, kind)
    except Exception as short:
        raise Undecodable(_explain(data, kind, short, _explainer())) from short


def structure_written(data: object, kind: type[_T]) -> _T:
    """Make a ``kind`` of what somebody wrote, who may leave out what has a default.

    Raises:
        Undecodable: The data is none; the message names the place of all that is wrong.
    """
    reader = make_converter(detailed=True, defaults=True)
    try:
        return reader.structure(data, kind)
    except Exception as short:
        raise Undecodable(_explain(data, kind, short, reader)) from short


def _explain(data: object, kind: type[Any], short: Exception, explainer: Converter) -> str:
    """Say what is wrong with data that could not be structured, by the slow converter."""
    try:
        explainer.structure(data, kind)
    except BaseValidationError as error:
        return "; ".join(transform_error(error, format_exception=_said))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the explanation
        return str(error)
    return str(short)


@functools.cache
def _explainer() -> Converter:
    return make_converter(detailed=True)


def _said(error: BaseException, _: object) -> str:
    if isinstance(error, ForbiddenExtraKeysError):
        return f"unknown {', '.join(sorted(error.extra_fields))}"
    return str(error.args[0]) if isinstance(error, KeyError) else str(error)


def unstructure(value: object) -> Any:
    """Make plain data of any value that events, or the registry, are built of."""
    return _converter.unstructure(value)


# The history of the events' shapes. A change of an event's data is a new version here and an
# upcaster from the one before; a line that was ever written can be read for ever.
Upcasters = Mapping[tuple[str, int], Callable[[Data], Data]]
TYPES: Mapping[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}
VERSIONS: Mapping[str, int] = dict.fromkeys(TYPES, 1)
UPCASTERS: Upcasters = {}


def upcast(name: str, version: int, data: Data, upcasters: Upcasters = UPCASTERS) -> Data:
    """Bring the data of an event from an older version to the newest one.

    Raises:
        Undecodable: The data is not what that version wrote.
    """
    while step := upcasters.get((name, version)):
        try:
            data = step(data)
        except Exception as error:
            raise Undecodable(
                f"not the data of a {name} of version {version}: {error!r}"
            ) from error
        version += 1
    return data
