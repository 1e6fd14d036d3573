"""What people write: defaults may be left out, and all that is wrong is named by its place."""

from enum import Enum
from typing import Any

import pytest
from attrs import field, frozen
from immutables import Map

from forks_events.codec import Undecodable, structure, structure_written


class Colour(Enum):
    """A word."""

    RED = "red"


@frozen(kw_only=True)
class Inner:
    """A table with a default."""

    name: str
    size: int = 3


@frozen(kw_only=True)
class Outer:
    """A file."""

    inner: Inner
    many: tuple[Inner, ...] = ()
    words: tuple[str, ...] | None = None
    share: float = 0.5
    colour: Colour = Colour.RED
    more: Inner = field(factory=lambda: Inner(name="made"))
    pins: Map[str, str] = field(factory=Map)


SMALL: dict[str, Any] = {"inner": {"name": "a"}}


class TestDefaults:
    """What has a default may be left out by people, never in a log."""

    def test_left_out(self) -> None:
        """It is then as the class says, a new one where the class makes one."""
        found = structure_written(SMALL, Outer)
        assert found == Outer(inner=Inner(name="a", size=3))
        assert found.more == Inner(name="made", size=3)

    def test_said(self) -> None:
        """What is said counts, also where it is the default."""
        told = {"inner": {"name": "a", "size": 9}, "many": [{"name": "b"}], "words": ["x"]}
        found = structure_written(told | {"share": 1, "pins": {"p": "q"}}, Outer)
        assert (found.inner.size, found.many, found.words) == (9, (Inner(name="b"),), ("x",))
        assert (found.share, type(found.share), found.pins["p"]) == (1.0, float, "q")

    @pytest.mark.parametrize(
        ("data", "missing"),
        [
            (SMALL, "missing colour, many, more, pins, share, words"),
            ({}, "missing colour, inner, many, more, pins, share, words"),
        ],
    )
    def test_a_log_leaves_nothing_out(self, data: dict[str, Any], missing: str) -> None:
        """In a log a key that is missing is damage, whatever default it has."""
        with pytest.raises(Undecodable, match=missing):
            structure(data, Outer)
        with pytest.raises(Undecodable, match="missing size"):
            structure({"name": "a"}, Inner)

    def test_one_does_not_change_the_other(self) -> None:
        """Reading for people and reading a log take turns, and stay what they are."""
        for _ in range(2):
            assert structure_written({"name": "a"}, Inner).size == 3
            with pytest.raises(Undecodable):
                structure({"name": "a"}, Inner)


class TestPlaces:
    """The message names each place that is wrong, with the numbers of items."""

    @pytest.mark.parametrize(
        ("told", "message"),
        [
            ({"inner": 5}, r"^expected dict, not 5 @ \$\.inner$"),
            ({"inner": {}}, r"^missing name @ \$\.inner$"),
            ({"inner": {"name": "a", "x": 1, "b": 2}}, r"^unknown b, x @ \$\.inner$"),
            ({"inner": {"name": 1}}, r"^expected str, not 1 @ \$\.inner\.name$"),
            ({"many": {}}, r"^expected list, not {} @ \$\.many$"),
            ({"many": [{"name": "a"}, {"name": 1}]}, r"^.* @ \$\.many\[1\]\.name$"),
            ({"many": [{"name": "a"}, 7]}, r"^expected dict, not 7 @ \$\.many\[1\]$"),
            ({"many": [{}]}, r"^missing name @ \$\.many\[0\]$"),
            ({"words": ["a", 5]}, r"^expected str, not 5 @ \$\.words\[1\]$"),
            ({"words": "a"}, r"^expected list, not 'a' @ \$\.words$"),
            ({"share": float("nan")}, r"^expected a finite number, not nan @ \$\.share$"),
            ({"share": True}, r"^expected a finite number, not True @ \$\.share$"),
            ({"colour": "blue"}, r"'blue' .* @ \$\.colour$"),
            ({"colour": 1}, r"^expected a word, not 1 @ \$\.colour$"),
            ({"pins": {"p": 1}}, r"^expected str, not 1 @ \$\.pins"),
            ({"what": 1}, r"^unknown what @ \$$"),
        ],
    )
    def test_named(self, told: dict[str, Any], message: str) -> None:
        """One thing wrong is one place."""
        with pytest.raises(Undecodable, match=message):
            structure_written(SMALL | told, Outer)

    def test_all_of_them(self) -> None:
        """Several are told, not only the first."""
        told = {"inner": {"name": 1}, "many": [{"name": 2}, {"name": "a", "size": "3"}]}
        with pytest.raises(Undecodable) as caught:
            structure_written(told, Outer)
        for place in ("$.inner.name", "$.many[0].name", "$.many[1].size"):
            assert str(caught.value).count(f"@ {place}") == 1

    def test_missing_in_the_whole(self) -> None:
        """Where the whole lacks a key, its name is told."""
        with pytest.raises(Undecodable, match="missing inner"):
            structure_written({}, Outer)
