"""Mutation: faults that are put into the rules and the decisions are found."""

import ast
import subprocess
import sys

import pytest

from tests.mutation.mutants import ROOT, mutants_of
from tests.mutation.operators import OPERATORS
from tests.mutation.run import files, mutants, sample, stages_of
from tests.mutation.survivors import survivors

SMALL = ("forks_core/rules/models.py", "forks_core/rules/naming.py", "forks_core/rules/paths.py")
# Judges, in a process of its own, a mutant that changes nothing, and one that never ends.
_JUDGED = """
import ast
from attrs import evolve
from tests.mutation import run
from tests.mutation.mutants import mutants_of
first = mutants_of("forks_core/rules/models.py", (run.ROOT / "forks_core/rules/models.py").read_text())[0]
tree = ast.parse(first.source)
endless = ast.parse("while True: pass").body[0]
same = evolve(first, place=(("body", 0),), node=tree.body[0])
never = evolve(first, place=(("body", 0),), node=endless)
run.TIMEOUT_S = 20.0
print(*[found.outcome.value for found in run.findings([same])])
run.TIMEOUT_S = 1.0
print(*[found.outcome.value for found in run.findings([never])])
"""


class TestOperators:
    """Each operator changes what it says, one place at a time, and nothing else."""

    @pytest.mark.parametrize(
        ("operator", "source", "expected"),
        [
            ("compare", "a < b", ["a <= b", "a >= b"]),
            ("compare", "a is b not in c", ["a is not b not in c", "a is b in c"]),
            ("boolean", "a and b", ["a or b"]),
            ("operand", "a or b or c", ["b or c", "a or c", "a or b"]),
            ("operand", "a and b", ["b", "a"]),
            ("negation", "not a", ["a"]),
            ("negation", "x if a else y", ["x if not a else y"]),
            ("constant", "f(True, 1, 2.5, 'a', '', None)", ["False", "2", "3.5", "''", "'x'"]),
            (
                "default",
                "def f(a, b=1, *, c=2, d):\n    pass",
                ["a, b=1, *, c, d", "a, b, *, c=2, d"],
            ),
            ("returned", "def f():\n    return (1, 2)", ["return None", "return ()"]),
            ("returned", "def f():\n    return None", []),
            ("arithmetic", "a + b * c", ["a - b * c", "b / c"]),
            ("statement", "f(a)", ["pass"]),
            ("statement", "assert_never(a)", []),
            ("branches", "x if a else y", ["y if a else x"]),
            ("filtered", "[a for a in b if c if d]", ["for a in b if d", "for a in b if c"]),
            ("turned", "max(a, key=b)", ["min(a, key=b)"]),
            ("turned", "sorted(a, key=b)", ["list(a)"]),
            ("keyword", "f(a, b=1, c=2)", ["f(a, c=2)", "f(a, b=1)"]),
            ("element", "(a, b)", ["(b,)", "(a,)"]),
            ("element", "{a: b, **c}", ["{**c}", "{a: b}"]),
            ("element", "a, b = c", []),
        ],
    )
    def test_changes(self, operator: str, source: str, expected: list[str]) -> None:
        """The table of what becomes of what."""
        found = [mutant for mutant in mutants_of("x.py", source) if mutant.operator == operator]
        assert [mutant.change.partition(" -> ")[2] for mutant in found] == expected
        for mutant in found:
            assert ast.dump(ast.parse(source)) != ast.dump(mutant.tree())

    def test_every_operator_is_spoken_of(self) -> None:
        """Each of them changes something of the rules and the decisions."""
        assert {mutant.operator for mutant in mutants(files())} == set(OPERATORS)

    @pytest.mark.parametrize(
        "source",
        ['"""Words."""', "a: list[1]", "def f(a: 1) -> 2: ...", "@f(1)\nclass A: ...", "..."],
    )
    def test_what_is_for_readers(self, source: str) -> None:
        """Docstrings, annotations and decorators are left as they are."""
        assert mutants_of("x.py", source) == []


class TestTool:
    """A fault is found, no fault is not found, and what never ends is ended."""

    @pytest.mark.long
    def test_outcomes(self) -> None:
        """A mutant that changes nothing survives; one that hangs is out of time."""
        done = subprocess.run(
            [sys.executable, "-c", _JUDGED], cwd=ROOT, capture_output=True, check=True, timeout=60
        )
        assert done.stdout.split(b"\n")[:2] == [b"survived", b"timed out"]

    def test_every_file_has_tests(self) -> None:
        """The tests that judge a file are there."""
        for file in files():
            assert all((ROOT / path).exists() for stage in stages_of(file) for path in stage)

    def test_sample(self) -> None:
        """A sample is the same for the same seed, in order, and never more than there is."""
        found = mutants(SMALL)
        chosen = sample(found, 9, 3)
        assert chosen == sample(found, 9, 3) != sample(found, 9, 4)
        assert [found.index(mutant) for mutant in chosen] == sorted(map(found.index, chosen))
        assert sample(found, 10**6, 0) == sample(found, None, 0) == found


class TestSurvivors:
    """What survives is explained, and what is explained is there."""

    def test_each_is_a_mutant(self) -> None:
        """An explanation of a line that has changed explains nothing any more."""
        found = mutants(files())
        assert [it for it in survivors() if not any(it.is_of(mutant) for mutant in found)] == []

    def test_each_has_a_reason(self) -> None:
        """A survivor is accepted for a reason, and once."""
        told = survivors()
        assert all(it.why.endswith(".") for it in told)
        assert len({(it.file, it.line, it.operator, it.change) for it in told}) == len(told)


class TestMutation:
    """Every fault is found by a test, or explained."""

    def test_a_few(self) -> None:
        """Eight mutants of the smallest rules, always the same ones."""
        report = run_mutation("--sample", "8", "--seed", "4", *SMALL)
        assert report.startswith("8 mutants: ")
        assert ", 0 unexplained" in report

    @pytest.mark.mutation
    def test_all(self) -> None:
        """All of them, for as long as that takes."""
        assert ", 0 unexplained" in run_mutation()


def run_mutation(*words: str) -> str:
    """Run the tool as a person does, and return what it reports."""
    argv = [sys.executable, "-m", "tests.mutation", *words]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, check=False)
    return done.stdout.decode() + done.stderr.decode()
