"""What differs from one version of the client to the next, as far as it was measured."""

from typing import NamedTuple

DEFAULT_VERSION = "2.1.332"


class Dialect(NamedTuple):
    """How one version speaks."""

    version: str
    modern: bool
    """2.1: retries, quota, refused models and denials have lines; a broken budget is an error."""
    windows: bool
    """From 2.1.250: every quota line names both windows with their utilisation."""
    carries: bool
    """From 2.1.277: cost and tokens of a resumed or forked session go on from the parent's."""
    shuffles: bool
    """From 2.1.277: `type` is not the first key of a result."""


def dialect(version: str) -> Dialect:
    """Return how a version speaks; a text that is no version number speaks the oldest way."""
    number = _number(version)
    return Dialect(
        version=version,
        modern=number >= (2, 1, 0),
        windows=number >= (2, 1, 250),
        carries=number >= (2, 1, 277),
        shuffles=number >= (2, 1, 277),
    )


def _number(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(map(str.isdigit, parts)) else (0,)
