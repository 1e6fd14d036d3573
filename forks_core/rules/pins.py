"""Pins: what a study expects to observe before it starts (A11, E2)."""

from collections.abc import Mapping

from attrs import frozen

COMMENT = "_"
"""Keys that begin so are for people."""
NOT_OBSERVABLE = frozenset(
    {"release", "cua_driver_git_sha", "cua_driver_tarball", "cua_skills_tarball"}
)
"""Keys that say where a pinned thing came from; nothing that runs reports them."""


@frozen(kw_only=True)
class Pin:
    """One expectation, and what became of it.

    Args:
        name: What is pinned.
        expected: The value that it must have.
        observed: The value that it has, or None when it was not observed.
        matches: Whether it was observed, and is as expected.
    """

    name: str
    expected: object
    observed: object
    matches: bool


def check_pins(expected: Mapping[str, object], observed: Mapping[str, object]) -> tuple[Pin, ...]:
    """Compare what was observed with what is expected, in the order of what is expected.

    Args:
        expected: Name to value; names that nothing can observe are passed over (A11.2).
        observed: Name to value; None is not observed, and matches nothing (E2). More names than
            expected are fine.
    """
    return tuple(
        _pin(name, value, observed.get(name))
        for name, value in expected.items()
        if not name.startswith(COMMENT) and name not in NOT_OBSERVABLE
    )


def _pin(name: str, expected: object, observed: object) -> Pin:
    matches = observed is not None and observed == expected
    return Pin(name=name, expected=expected, observed=observed, matches=matches)
