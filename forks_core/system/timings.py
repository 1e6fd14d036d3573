"""The timings, as they are or as ``FORKS_TIMINGS`` says: a JSON object of seconds by name."""

import json
import math
from collections.abc import Mapping
from typing import Any

from forks_core.errors import Refused
from forks_core.rules.supervision import Timings

VARIABLE = "FORKS_TIMINGS"


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"no number of seconds: {value}")
    return seconds


def timings(environment: Mapping[str, str]) -> Timings:
    """Read the timings.

    Raises:
        Refused: The variable holds something else.
    """
    text = environment.get(VARIABLE)
    if not text:
        return Timings()
    try:
        return Timings(**{name: _seconds(value) for name, value in json.loads(text).items()})
    except (ValueError, TypeError, AttributeError) as error:
        raise Refused(f"{VARIABLE} must be a JSON object of seconds", detail=str(error)) from error
