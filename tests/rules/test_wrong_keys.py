"""What is wrong in a table that somebody wrote, by the paths of its keys."""

from typing import Any

import pytest
from attrs import frozen

from forks_core.rules.wrong_keys import below, wrong_keys
from forks_events.codec import Undecodable, structure_written


@frozen(kw_only=True)
class Inner:
    """A table."""

    name: str
    size: int = 1


@frozen(kw_only=True)
class Outer:
    """A file."""

    inner: Inner
    many: tuple[Inner, ...]


def wrong(data: Any) -> list[tuple[str, str]]:
    """Every place that is wrong, and why."""
    with pytest.raises(Undecodable) as caught:
        structure_written(data, Outer)
    assert caught.value.__cause__ is not None
    return list(wrong_keys(caught.value.__cause__))


GOOD: dict[str, Any] = {"inner": {"name": "a"}, "many": []}


@pytest.mark.rule("R1.1")
class TestPlaces:
    """Each place has its path and its reason, apart from whatever text stands there."""

    @pytest.mark.parametrize(
        ("data", "places"),
        [
            ({}, [("inner", "missing key"), ("many", "missing key")]),
            (GOOD | {"b": 1, "a": 2}, [("a", "unknown key"), ("b", "unknown key")]),
            (GOOD | {"inner": {}}, [("inner.name", "missing key")]),
            (GOOD | {"inner": {"name": "a", "x-y": 1}}, [("inner.x-y", "unknown key")]),
            (GOOD | {"inner": {"name": 5}}, [("inner.name", "expected str, not 5")]),
            (
                GOOD | {"inner": {"name": "a", "size": "1; 2 @ $.x"}},
                [("inner.size", "expected int, not '1; 2 @ $.x'")],
            ),
            (
                GOOD | {"many": [{"name": "a"}, {"name": 5}, 7]},
                [
                    ("many[1].name", "expected str, not 5"),
                    ("many[2]", "expected dict, not 7"),
                ],
            ),
            (GOOD | {"many": [{}]}, [("many[0].name", "missing key")]),
            (GOOD | {"many": [{"name": "a", "x": 1}]}, [("many[0].x", "unknown key")]),
            (5, [("", "expected dict, not 5")]),
        ],
    )
    def test_all(self, data: Any, places: list[tuple[str, str]]) -> None:
        """All of them, in the order of the file's keys; unknown ones by name."""
        assert wrong(data) == places

    def test_many_unknown(self) -> None:
        """However many there are, they are told in one order."""
        names = [f"k{number}" for number in range(10)]
        found = wrong(GOOD | dict.fromkeys(reversed(names), 1))
        assert [key for key, _ in found] == names

    @pytest.mark.parametrize(
        ("path", "name", "key"),
        [
            ("", "a-b_1", "a-b_1"),
            ("x", "a", "x.a"),
            ("x", "a b", 'x."a b"'),
            ("", "", '""'),
            ("x", "a.b", 'x."a.b"'),
            ("x", 'a"b', 'x."a\\"b"'),
        ],
    )
    def test_below(self, path: str, name: str, key: str) -> None:
        """What is no bare key of TOML stands in quotes."""
        assert below(path, name) == key
