"""The mutants of a source: every place that an operator changes, one at a time."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import CodeType

from attrs import frozen

from tests.mutation.operators import OPERATORS

ROOT = Path(__file__).parent.parent.parent
Place = tuple[tuple[str, int | None], ...]
# What is there for readers and type checkers, and does nothing while it runs.
_UNMUTATED = {"annotation", "returns", "decorator_list", "type_params"}


@frozen(kw_only=True)
class Mutant:
    """One small fault.

    Args:
        file: The source, from the root of the project.
        source: Its text, without the fault.
        number: Number of the line.
        line: The line, without the blanks around it.
        operator: Name of the operator.
        change: What became of what, for people.
        place: Where in the syntax tree.
        node: What stands there now.
    """

    file: str
    source: str
    number: int
    line: str
    operator: str
    change: str
    place: Place
    node: ast.AST

    def tree(self) -> ast.Module:
        """The whole source with the fault in it."""
        tree = ast.parse(self.source)
        holder: ast.AST = tree
        for name, index in self.place[:-1]:
            held = getattr(holder, name)
            holder = held if index is None else held[index]
        name, index = self.place[-1]
        if index is None:
            setattr(holder, name, deepcopy(self.node))
        else:
            getattr(holder, name)[index] = deepcopy(self.node)
        return ast.fix_missing_locations(tree)

    def code(self) -> CodeType:
        """The same, compiled."""
        return compile(self.tree(), str(ROOT / self.file), "exec")


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of a source, in the order of its lines."""
    lines = source.splitlines()
    found = [
        Mutant(
            file=file,
            source=source,
            number=line,
            line=lines[line - 1].strip(),
            operator=name,
            change=f"{_told(node)} -> {_told(other)}",
            place=place,
            node=other,
        )
        for node, place, line in _nodes(ast.parse(source), (), 1)
        for name, operator in OPERATORS.items()
        for other in operator(node)
    ]
    return sorted(found, key=lambda mutant: mutant.number)


def _nodes(node: ast.AST, place: Place, line: int) -> Iterator[tuple[ast.AST, Place, int]]:
    """Every node that runs, with its place and its line."""
    line = getattr(node, "lineno", line)
    if place:
        yield node, place, line
    for name, value in ast.iter_fields(node):
        if name in _UNMUTATED or (isinstance(node, ast.Expr) and isinstance(value, ast.Constant)):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST):
                yield from _nodes(child, (*place, (name, index)), line)


def _told(node: ast.AST) -> str:
    """A node on one line."""
    return " ".join(ast.unparse(node).split())
