"""What tests draw: any event, any envelope, and histories that decisions could have led to.

Alphabets are small, three jobs, three bases, three sessions, so that things meet; texts are odd.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

import attrs
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_events import Event
from forks_events.codec import TYPES
from forks_events.envelope import Author, Envelope, Unknown
from tests.histories import STORIES, played

_T = TypeVar("_T")
_ONLY_REACHED = settings(phases=[Phase.generate], max_examples=5000, database=None, deadline=None)

JOBS = ("j0001", "j0002", "j0003")
BASES = ("a", "b", "c.3")
SESSIONS = tuple(f"{n}0000000-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))
ODD_TEXTS = ("", " ", "\0", "\n", "\r\n", '"\\/', "\u2028", "\ufeff", "é", "😀", "null", "1", "no")

TEXTS = st.sampled_from(ODD_TEXTS) | st.text(st.characters(codec="utf-8"), max_size=4)
TIMES = st.datetimes(timezones=st.just(UTC))
INTS = st.sampled_from([0, 1, -(2**63), 2**64 - 1]) | st.integers(0, 9)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)

_NAMED: dict[str, st.SearchStrategy[str]] = {
    "job": st.sampled_from(JOBS),
    "behind": st.sampled_from(JOBS),
    "base": st.sampled_from(BASES),
    "session": st.sampled_from(SESSIONS),
    "parent_session": st.sampled_from(SESSIONS),
    "prev": HASHES,
    "sha256": HASHES,
    "fingerprint": st.sampled_from(["0" * 64, "f" * 64]),
}
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: INTS,
    bool: st.booleans(),
    float: FLOATS,
    datetime: TIMES,
    type(None): st.none(),
}


def values(kind: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Draw any value of a type that events are built of.

    Args:
        kind: The type, as attrs has it.
        name: The field's name: jobs, bases and sessions come from the alphabets.
    """
    if get_origin(kind) is UnionType or isinstance(kind, UnionType):
        return st.one_of(*(values(one, name) for one in get_args(kind)))
    if kind is str and name in _NAMED:
        return _NAMED[name]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if attrs.has(kind):
        fields = {field.name: values(field.type, field.name) for field in attrs.fields(kind)}
        return st.fixed_dictionaries(fields).map(_maker(kind))
    return _container(kind)


def _container(kind: Any) -> st.SearchStrategy[Any]:
    if get_origin(kind) is tuple:
        return st.lists(values(get_args(kind)[0]), max_size=2).map(tuple)
    if get_origin(kind) is Map:
        of_key, of_item = get_args(kind)
        return st.dictionaries(values(of_key), values(of_item), max_size=3).map(Map)
    raise TypeError(f"no strategy for {kind}")


def _maker(kind: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda fields: kind(**fields)


def events_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    """Draw events of one class."""
    return values(kind)


EVENTS: st.SearchStrategy[Event] = st.one_of(*map(events_of, TYPES.values()))
BATCHES: st.SearchStrategy[list[Event]] = st.lists(EVENTS, min_size=1, max_size=3)
AUTHORS: st.SearchStrategy[Author] = values(Author)
JSON_OBJECTS = st.dictionaries(
    TEXTS.filter(lambda key: key != "at"), TEXTS | INTS | st.none(), max_size=3
)
UNKNOWN: st.SearchStrategy[Unknown] = st.builds(
    Unknown,
    type=st.sampled_from(["TrialDreamt", "jobCreated", ""]),
    v=st.integers(-1, 3),
    at=TIMES,
    data=JSON_OBJECTS,
) | st.builds(
    Unknown,
    type=st.sampled_from(sorted(TYPES)),
    v=st.sampled_from([-1, 0, 99]),
    at=TIMES,
    data=JSON_OBJECTS,
)
ENVELOPES: st.SearchStrategy[Envelope] = st.builds(
    Envelope, seq=INTS, commit=INTS, by=AUTHORS, prev=HASHES, event=EVENTS | UNKNOWN
)


def histories() -> st.SearchStrategy[tuple[Event, ...]]:
    """Draw legal histories: random commands of three bases and five jobs, decided and folded."""
    return STORIES.map(played).map(lambda player: player.events)


def reach(strategy: st.SearchStrategy[_T], condition: Callable[[_T], bool]) -> _T:
    """Draw until something meets the condition, and do not make it smaller.

    Raises:
        NoSuchExample: Nothing did: a law about it would be vacuous.
    """
    return find(strategy, condition, settings=_ONLY_REACHED)


def drawn(strategy: st.SearchStrategy[_T], examples: int = 600) -> list[_T]:
    """Draw so many, always the same ones: what a law meets must be among them."""
    found: list[_T] = []

    @settings(_ONLY_REACHED, max_examples=examples, derandomize=True)
    @given(strategy)
    def draw(value: _T) -> None:
        found.append(value)

    draw()
    return found
