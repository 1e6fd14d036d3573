"""The operators: each turns a node of a syntax tree into nodes that mean something else."""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy

Operator = Callable[[ast.AST], Iterator[ast.AST]]

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_RECKONED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_TURNED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


def compare(node: ast.AST) -> Iterator[ast.AST]:
    """Another comparison."""
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in _COMPARED[type(operator)]:
                made = deepcopy(node)
                made.ops[at] = other()
                yield made


def boolean(node: ast.AST) -> Iterator[ast.AST]:
    """``and`` for ``or``, and the other way round."""
    if isinstance(node, ast.BoolOp):
        made = deepcopy(node)
        made.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield made


def operand(node: ast.AST) -> Iterator[ast.AST]:
    """One of several conditions is gone."""
    if isinstance(node, ast.BoolOp):
        for at in range(len(node.values)):
            left = node.values[:at] + node.values[at + 1 :]
            yield deepcopy(left[0]) if len(left) == 1 else ast.BoolOp(node.op, deepcopy(left))


def negation(node: ast.AST) -> Iterator[ast.AST]:
    """A ``not`` is gone, or a condition is turned around."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield deepcopy(node.operand)
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.Compare):
        made = deepcopy(node)
        made.test = ast.UnaryOp(ast.Not(), made.test)
        yield made


def constant(node: ast.AST) -> Iterator[ast.AST]:
    """Another number, truth or text."""
    if not isinstance(node, ast.Constant):
        return
    match node.value:
        case bool():
            yield ast.Constant(not node.value)
        case int() | float():
            yield ast.Constant(node.value + 1)
        case str():
            yield ast.Constant("" if node.value else "x")


def default(node: ast.AST) -> Iterator[ast.AST]:
    """An argument or a field has no default any more."""
    if isinstance(node, ast.arguments):
        for at, value in enumerate(node.kw_defaults):
            if value is not None:
                made = deepcopy(node)
                made.kw_defaults[at] = None
                yield made
        if node.defaults:
            made = deepcopy(node)
            made.defaults = made.defaults[1:]
            yield made


def returned(node: ast.AST) -> Iterator[ast.AST]:
    """Nothing is returned, or an empty one of its kind."""
    if not isinstance(node, ast.Return) or node.value is None:
        return
    if not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield ast.Return(ast.Constant(None))
    match node.value:
        case ast.Tuple(elts=[_, *_]):
            yield ast.Return(ast.Tuple([], ast.Load()))
        case ast.List(elts=[_, *_]) | ast.ListComp():
            yield ast.Return(ast.List([], ast.Load()))


def arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    """Another reckoning."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _RECKONED:
        made = deepcopy(node)
        made.op = _RECKONED[type(node.op)]()
        yield made


def statement(node: ast.AST) -> Iterator[ast.AST]:
    """A statement is gone."""
    dropped = ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break
    if isinstance(node, dropped) and not _is_for_types(node):
        yield ast.Pass()


def _is_for_types(node: ast.AST) -> bool:
    """Docstrings do nothing, and ``assert_never`` is reached by no value that has its type."""
    match node:
        case (
            ast.Expr(value=ast.Constant())
            | ast.Expr(value=ast.Call(func=ast.Name(id="assert_never")))
        ):
            return True
    return False


def branches(node: ast.AST) -> Iterator[ast.AST]:
    """What is done if so is done if not, and the other way round."""
    if isinstance(node, ast.IfExp):
        yield ast.IfExp(deepcopy(node.test), deepcopy(node.orelse), deepcopy(node.body))
    if isinstance(node, ast.If) and node.orelse:
        yield ast.If(deepcopy(node.test), deepcopy(node.orelse), deepcopy(node.body))


def filtered(node: ast.AST) -> Iterator[ast.AST]:
    """A condition of a comprehension, or of a case, is gone."""
    if isinstance(node, ast.comprehension):
        for at in range(len(node.ifs)):
            made = deepcopy(node)
            del made.ifs[at]
            yield made
    if isinstance(node, ast.match_case) and node.guard:
        case = deepcopy(node)
        case.guard = None
        yield case


def turned(node: ast.AST) -> Iterator[ast.AST]:
    """The largest for the smallest, all for any, and no order."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TURNED:
        made = deepcopy(node)
        made.func = ast.Name(_TURNED[node.func.id], ast.Load())
        if node.func.id == "sorted":
            made.keywords = []
        yield made


def keyword(node: ast.AST) -> Iterator[ast.AST]:
    """An argument that is given by name is not given."""
    if isinstance(node, ast.Call):
        for at in range(len(node.keywords)):
            made = deepcopy(node)
            del made.keywords[at]
            yield made


def element(node: ast.AST) -> Iterator[ast.AST]:
    """An element of a tuple, a list or a set, or an item of a map, is gone."""
    if isinstance(node, ast.Set) or (
        isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load)
    ):
        for at in range(len(node.elts)):
            made = deepcopy(node)
            del made.elts[at]
            yield made
    if isinstance(node, ast.Dict):
        for at in range(len(node.keys)):
            mapped = deepcopy(node)
            del mapped.keys[at], mapped.values[at]
            yield mapped


OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        compare,
        boolean,
        operand,
        negation,
        constant,
        default,
        returned,
        arithmetic,
        statement,
        branches,
        filtered,
        turned,
        keyword,
        element,
    )
}
