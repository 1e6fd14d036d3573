"""The rules of the project, and that each of them is proved by a test that says so."""

import ast
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MARKED = "pytest.mark.rule"


def rules_of(text: str) -> dict[str, str]:
    """The rules of a file by their ids: ``[B16] 5`` is B16.5, ``[D] 18`` is D18."""
    tables: Mapping[str, Mapping[str, str]] = tomllib.loads(text)
    return {
        chapter + ("." if chapter[-1].isdigit() else "") + number: rule
        for chapter, rules in tables.items()
        for number, rule in rules.items()
    }


def marks_in(source: str) -> list[str]:
    """The ids that the tests of a source say they prove; nothing is imported or run."""
    marks = (
        decorator
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and is_test(node.name)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == MARKED
    )
    return [ast.literal_eval(argument) for mark in marks for argument in mark.args]


def is_test(name: str) -> bool:
    """Whether pytest collects a class or a function of this name."""
    return name.startswith(("Test", "test_"))


def unproved(rules: Iterable[str], marks: Iterable[str]) -> list[str]:
    """The rules that no mark names."""
    return sorted(set(rules) - set(marks))


def unknown(rules: Iterable[str], marks: Iterable[str]) -> list[str]:
    """The ids that marks name and that are no rules."""
    return sorted(set(marks) - set(rules))


RULES = rules_of((HERE / "rules.toml").read_text(encoding="utf-8"))
MARKS = [name for path in sorted(HERE.rglob("*.py")) for name in marks_in(path.read_text("utf-8"))]


class TestRules:
    """Every rule is proved, and nothing is said to be proved that is no rule."""

    def test_every_rule_is_proved(self) -> None:
        """The list of rules that no test proves is empty."""
        assert unproved(RULES, MARKS) == []

    def test_every_mark_is_a_rule(self) -> None:
        """The list of ids that are in no chapter is empty."""
        assert unknown(RULES, MARKS) == []

    def test_rules_are_sentences(self) -> None:
        """A rule says something, to its end."""
        assert [name for name, rule in RULES.items() if not rule.endswith((".", ".)"))] == []


class TestReachability:
    """The lists would not be empty if something were missing."""

    TOML = '[B7]\n1 = "One."\n2 = "Two."\n[D]\n18 = "Eighteen."\n[quota]\n3 = "Three."\n'
    SOURCE = """
@pytest.mark.rule("B7.1", "D18")
class TestOne:
    @pytest.mark.parametrize("x", ["B7.2"])
    @pytest.mark.rule("B9.9")
    def test_two(self): ...

    @pytest.mark.rule("B7.2")
    def helper(self): ...

@pytest.mark.rule("D18")
def test_three(): ...
"""

    def test_ids(self) -> None:
        """A number follows a name, behind a point where that ends in a digit."""
        assert list(rules_of(self.TOML)) == ["B7.1", "B7.2", "D18", "quota3"]

    def test_marks(self) -> None:
        """Marks of classes and functions count, of tests only; other marks don't."""
        assert sorted(marks_in(self.SOURCE)) == ["B7.1", "B9.9", "D18", "D18"]

    def test_found(self) -> None:
        """A rule that nothing proves, and a proof of no rule, are named."""
        rules, marks = rules_of(self.TOML), marks_in(self.SOURCE)
        assert unproved(rules, marks) == ["B7.2", "quota3"]
        assert unknown(rules, marks) == ["B9.9"]

    def test_the_marks_are_those_of_pytest(self, request: pytest.FixtureRequest) -> None:
        """What is collected here is a registered marker of pytest's."""
        lines: list[str] = request.config.getini("markers")
        assert any(line.startswith("rule(") for line in lines)
