"""The timings, as they are or as ``FORKS_TIMINGS`` says: a JSON object of seconds by name."""

import json
from collections.abc import Mapping

from forks_core.errors import Refused
from forks_core.rules.supervision import Timings

VARIABLE = "FORKS_TIMINGS"


def timings(environment: Mapping[str, str]) -> Timings:
    """Read the timings.

    Raises:
        Refused: The variable holds something else.
    """
    text = environment.get(VARIABLE)
    if not text:
        return Timings()
    try:
        return Timings(**{name: float(value) for name, value in json.loads(text).items()})
    except (ValueError, TypeError, AttributeError) as error:
        raise Refused(f"{VARIABLE} must be a JSON object of seconds", detail=str(error)) from error
