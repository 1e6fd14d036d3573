"""Pins: expected, observed, matched."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.pins import Pin, check_pins
from tests.projections.builders import reached

NAMES = ["client_version", "git", "_note", "release"]
PINS = st.dictionaries(st.sampled_from(NAMES), st.none() | st.sampled_from(["1", "2"]))


class TestPins:
    """Each expectation is judged, and shown beside what was observed."""

    @pytest.mark.rule("A11.1")
    def test_order(self) -> None:
        """One result for each, in the order of the expectations."""
        expected = {"z": "1", "a": "2", "m": "3"}
        assert check_pins(expected, {"a": "2", "m": "4", "z": "1"}) == (
            Pin(name="z", expected="1", observed="1", matches=True),
            Pin(name="a", expected="2", observed="2", matches=True),
            Pin(name="m", expected="3", observed="4", matches=False),
        )
        assert check_pins({}, {"a": "1"}) == ()

    @pytest.mark.rule("A11.2")
    @pytest.mark.parametrize(
        "name",
        ["_", "_note", "release", "cua_driver_git_sha", "cua_driver_tarball", "cua_skills_tarball"],
    )
    def test_skipped(self, name: str) -> None:
        """Remarks, and where things came from, are not judged, be they observed or not."""
        (pin,) = check_pins({name: "1", "client_version": "2"}, {name: "1", "client_version": "2"})
        assert pin.name == "client_version"

    @pytest.mark.rule("A11.2")
    @pytest.mark.parametrize("name", ["a_", "release_", "Release", "cua_driver_version"])
    def test_not_skipped(self, name: str) -> None:
        """Names that are only like those are judged."""
        assert [pin.matches for pin in check_pins({name: "1"}, {})] == [False]

    @pytest.mark.rule("A11.3")
    @pytest.mark.parametrize(
        ("value", "other"), [("1", "1.0"), ("1", 1), ("", None), ("a", "A"), ("a", "a ")]
    )
    def test_equality(self, value: object, other: object) -> None:
        """Nothing but an equal value matches; what else was observed does not matter."""
        told = check_pins({"x": value, "y": value}, {"x": value, "y": other, "more": value})
        assert [pin.matches for pin in told] == [True, False]

    @pytest.mark.rule("A11.3", "E2")
    @pytest.mark.parametrize("observed", [{}, {"x": None}, {"y": "1"}])
    @pytest.mark.parametrize("value", ["1", "", None])
    def test_not_observed(self, value: object, observed: dict[str, object]) -> None:
        """What was not observed fails, also where null is expected."""
        pin = Pin(name="x", expected=value, observed=None, matches=False)
        assert check_pins({"x": value}, observed) == (pin,)

    @pytest.mark.rule("A11.3", "E2")
    @settings(deadline=None)
    @given(PINS, PINS)
    def test_law_matches(
        self, expected: dict[str, str | None], observed: dict[str, str | None]
    ) -> None:
        """A match was observed and is equal; nothing else matches, and extra names change nothing."""
        told = check_pins(expected, observed)
        assert [pin.name for pin in told] == [n for n in expected if n in {"client_version", "git"}]
        for pin in told:
            assert pin.expected == expected[pin.name]
            assert pin.matches is (pin.observed is not None and pin.observed == pin.expected)
        needed = {name: value for name, value in observed.items() if name in expected}
        assert check_pins(expected, needed) == told

    @pytest.mark.parametrize("matches", [True, False])
    def test_reachability(self, *, matches: bool) -> None:
        """The law looks at pins that match and at pins that do not."""
        assert reached(
            st.tuples(PINS, PINS), lambda it: matches in [pin.matches for pin in check_pins(*it)]
        )
