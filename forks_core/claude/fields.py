"""Reading JSON that somebody else wrote: what is absent, null or of another type is None.

The client's lines are open: fields come and go between versions, and a wrong one must cost that
field and not the line. So nothing in here raises, whatever it is given.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from forks_events.values import Usage

Json = Mapping[str, Any]

NOTHING: Json = {}
LARGEST = 2**53 - 1
"""The largest count that the client, a JavaScript program, can tell from its neighbours."""
NAME_LENGTH = 256
"""Names are logged, texts are not: a longer name is cut to this many characters."""
DEAREST = 1e9
"""No call costs more USD: a larger amount is none, so sums of them can always be told."""


def load(line: bytes) -> Json | None:
    """Read one line as a JSON object, or None when it is anything else.

    JavaScript writes half a surrogate pair as an escape, which is JSON and no Unicode text; such
    a line is read all the same, and so is one with bytes that aren't UTF-8.
    """
    bare = line.strip(b" \t\r\n\xef\xbb\xbf")
    if not bare.startswith(b"{"):
        return None
    try:
        value = orjson.loads(bare)
    except orjson.JSONDecodeError:
        value = _load_leniently(bare)
    return value if isinstance(value, dict) else None


def _load_leniently(line: bytes) -> Any:
    try:
        return json.loads(
            line.decode("utf-8", "replace"), parse_int=_small, parse_constant=lambda _: None
        )
    except (ValueError, RecursionError):
        return None


def _small(digits: str) -> int | None:
    return int(digits) if len(digits) <= len(str(LARGEST)) + 1 else None


def text(obj: Json, key: str) -> str | None:
    """Give a text, with a replacement for whatever UTF-8 cannot say."""
    value = obj.get(key)
    return clean(value) if isinstance(value, str) else None


def clean(value: str) -> str:
    """Replace lone surrogates, which no log could hold."""
    return value.encode("utf-8", "replace").decode("utf-8")


def name(obj: Json, key: str) -> str | None:
    """Give a text that goes to the log, cut to a name's length; an empty one is None."""
    value = text(obj, key)
    return value[:NAME_LENGTH] if value else None


def names(obj: Json, key: str) -> list[str] | None:
    """Give the texts of a list, or None when there is no list."""
    value = obj.get(key)
    if not isinstance(value, list):
        return None
    return [clean(item)[:NAME_LENGTH] for item in value if isinstance(item, str)]


def count(obj: Json, key: str) -> int | None:
    """Give a whole number from 0 that JavaScript can count to; true and false are none."""
    value = obj.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= LARGEST else None


def whole(obj: Json, key: str) -> int | None:
    """Give a number from 0 without its fraction."""
    value = money(obj, key)
    return None if value is None else int(min(value, LARGEST))


def money(obj: Json, key: str) -> float | None:
    """Give a finite number from 0; true and false are none."""
    value = obj.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def cost(obj: Json, key: str) -> float | None:
    """Give an amount in USD; what no call could cost is None."""
    value = money(obj, key)
    return None if value is None or value > DEAREST else value


def moment(obj: Json, key: str) -> datetime | None:
    """Give a time from epoch seconds; what no calendar holds is None."""
    seconds = money(obj, key)
    return at_epoch(seconds) if seconds else None


def at_epoch(seconds: float) -> datetime | None:
    """Turn epoch seconds into an aware time, or None when no calendar holds them."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def child(obj: Json, key: str) -> Json:
    """Give the object below a key; an empty one when there is none."""
    value = obj.get(key)
    return value if isinstance(value, dict) else NOTHING


def items(obj: Json, key: str) -> list[Json]:
    """Give the objects of a list, without whatever else is in it."""
    value = obj.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def usage(obj: Json) -> Usage:
    """Give the tokens of a ``usage`` object; what it lacks is 0."""
    split = child(obj, "cache_creation")
    return tokens(
        input=count(obj, "input_tokens"),
        output=count(obj, "output_tokens"),
        cache_creation=count(obj, "cache_creation_input_tokens"),
        cache_creation_1h=count(split, "ephemeral_1h_input_tokens"),
        cache_creation_5m=count(split, "ephemeral_5m_input_tokens"),
        cache_read=count(obj, "cache_read_input_tokens"),
    )


def tokens(**counts: int | None) -> Usage:
    """Build a Usage from counts that may be missing, so that the split never exceeds its whole."""
    known = {key: value or 0 for key, value in counts.items()}
    one_hour, five_minutes = known["cache_creation_1h"], known["cache_creation_5m"]
    whole = counts["cache_creation"]
    creation = one_hour + five_minutes if whole is None else whole
    known["cache_creation"] = creation
    known["cache_creation_1h"] = min(one_hour, creation)
    known["cache_creation_5m"] = min(five_minutes, creation - known["cache_creation_1h"])
    return Usage(**known)
