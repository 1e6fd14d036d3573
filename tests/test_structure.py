"""The house: rings, rooms, purity, sizes and names, held by reading the sources.

1. Inwards only: ``forks_events <- forks_core <- forks_cli``, and rooms of the core by their table.
2. Only ``forks_core/system/`` and ``forks_cli`` touch the world.
3. No file above 250 lines; no module utils; no class Manager, Helper, Event or Command.
4. One verb, one file.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forks_cli.verbs import SUMMARIES, module_of
from forks_templates import SAMPLE_STUDY

ROOT = Path(__file__).parent.parent
SOURCES = {
    path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
    for root, ring in (
        (ROOT / "events", "forks_events"),
        (ROOT, "forks_core"),
        (ROOT, "forks_cli"),
        (ROOT / "templates", "forks_templates"),
    )
    for path in sorted((root / ring).rglob("*.py"))
    # What the sample study works on is data.
    if not path.is_relative_to(SAMPLE_STUDY)
}
LONGEST = 250
OURS = ("forks_events", "forks_core", "forks_cli", "forks_templates")
FORBIDDEN_CLASSES = {"Manager", "Helper", "Event", "Command"}

# What a room may import of us, as module prefixes; itself it may always. First match wins.
STATE = ("forks_events", "forks_core.errors", "forks_core.registry")
ROOMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("forks_events/", ()),
    ("forks_templates/", ()),
    ("forks_core/errors.py", ("forks_events",)),
    ("forks_core/registry/", ("forks_events",)),
    ("forks_core/ports.py", ("forks_events",)),
    ("forks_core/reducer/", STATE),
    ("forks_core/rules/", STATE),
    ("forks_core/projections/", (*STATE, "forks_core.rules")),
    ("forks_core/decider/", (*STATE, "forks_core.rules", "forks_core.projections")),
    ("forks_core/claude/", ("forks_events",)),
    (
        "forks_core/transact.py",
        (*STATE, "forks_core.ports", "forks_core.decider", "forks_core.reducer"),
    ),
    (
        "forks_core/runner.py",
        (
            *STATE,
            "forks_core.rules",
            "forks_core.decider",
            "forks_core.projections",
            "forks_core.transact",
        ),
    ),
    ("forks_core/system/", ("forks_events", "forks_core", "forks_templates")),
    ("forks_core/__init__.py", ()),
    ("forks_cli/", OURS),
)
WORLDLY = ("forks_core/system/", "forks_cli/")
"""Rooms that may touch the world."""
READS_ITSELF = "forks_templates/__init__.py"
"""The one file that reads files of our own: the templates that lie beside it."""
PURE_MODULES = {
    "attrs",
    "cattrs",
    "collections",
    "contextlib",
    "datetime",
    "enum",
    "functools",
    "types",
    "hashlib",
    "immutables",
    "itertools",
    "json",
    "math",
    "ntpath",
    "operator",
    "orjson",
    "posixpath",
    "re",
    "string",
    "typing",
}
"""All that a pure room may import from elsewhere: values, and calculations on them."""
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
IMPURE_METHODS = {"utcnow", "today", "read_text", "read_bytes", "write_text", "write_bytes"}
CLOCKS = {"datetime.now", "datetime.fromtimestamp"}
"""Without a zone these ask the machine; ``now`` always does, a port's clock is another thing."""


def imported(name: str, source: str) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, with its line; of ``from a import b`` also ``a.b``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = name.split("/")[: -node.level] if node.level else []
            module = ".".join([*parts, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield node.lineno, inner if f"{inner.replace('.', '/')}.py" in SOURCES else module


def is_within(module: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a module is one of these, or lies in one."""
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def room_of(name: str) -> tuple[str, tuple[str, ...]]:
    """The room that a file lies in, and what it may import of us."""
    return next((room, allowed) for room, allowed in ROOMS if name.startswith(room))


def is_pure(name: str) -> bool:
    """Whether a file must not touch the world."""
    return not name.startswith(WORLDLY) and name != READS_ITSELF


def wrong_rings(name: str, source: str) -> Iterator[str]:
    """What a file imports of us and may not."""
    room, allowed = room_of(name)
    own = room.removesuffix(".py").rstrip("/").replace("/", ".")
    for line, module in imported(name, source):
        if module.split(".")[0] in OURS and not is_within(module, (own, *allowed)):
            yield f"{name}:{line} imports {module}"


def impure_imports(name: str, source: str) -> Iterator[str]:
    """What a pure file imports beyond values and calculations."""
    for line, module in imported(name, source):
        if is_pure(name) and module.split(".")[0] not in {*PURE_MODULES, *OURS}:
            yield f"{name}:{line} imports {module}"


def impure_calls(name: str, source: str) -> Iterator[str]:
    """Where a pure file calls the clock, the screen or a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not is_pure(name):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in IMPURE_CALLS:
            yield f"{name}:{node.lineno} calls {called.id}"
        if isinstance(called, ast.Attribute) and (
            called.attr in IMPURE_METHODS or is_clock(node, called)
        ):
            yield f"{name}:{node.lineno} calls {ast.unparse(called)}"


def is_clock(call: ast.Call, called: ast.Attribute) -> bool:
    """Whether ``datetime`` is asked what only the machine knows: the time, or its own zone."""
    words = ast.unparse(called).split(".")[-2:]
    zoned = words[-1] == "fromtimestamp" and len(call.args) + len(call.keywords) > 1
    return ".".join(words) in CLOCKS and not zoned


def too_long(name: str, source: str) -> Iterator[str]:
    """A file of too many lines."""
    if (lines := len(source.splitlines())) > LONGEST:
        yield f"{name} has {lines} lines"


def bad_names(name: str, source: str) -> Iterator[str]:
    """A module, or a class, whose name says nothing."""
    if Path(name).stem.strip("_") in {"utils", "util", "helpers"} or "/utils/" in name:
        yield f"{name} is called utils"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            words = {node.name, *(w for w in ("Manager", "Helper") if node.name.endswith(w))}
            if words & FORBIDDEN_CLASSES:
                yield f"{name}:{node.lineno} has a class {node.name}"


def future_annotations(name: str, source: str) -> Iterator[str]:
    """Annotations that are texts: attrs and cattrs read them while they run."""
    for line, module in imported(name, source):
        if module == "__future__":
            yield f"{name}:{line} imports from __future__"


def untold(name: str, source: str) -> Iterator[str]:
    """A module without a docstring."""
    if ast.get_docstring(ast.parse(source)) is None:
        yield f"{name} has no docstring"


Check = Callable[[str, str], Iterator[str]]
# Each check, and a small bad file that it must find something in: name, source.
CHECKS: tuple[tuple[Check, str, str], ...] = (
    (wrong_rings, "forks_events/x.py", "import forks_core.registry"),
    (wrong_rings, "forks_events/x.py", "def f():\n    from forks_cli import main"),
    (wrong_rings, "forks_core/errors.py", "from forks_core import transact"),
    (wrong_rings, "forks_core/reducer/x.py", "from forks_core.rules.cache import warmth"),
    (wrong_rings, "forks_core/rules/x.py", "from forks_core.projections.head import head_row"),
    (wrong_rings, "forks_core/rules/x.py", "from ..reducer import fold"),
    (wrong_rings, "forks_core/projections/x.py", "import forks_core.decider.run"),
    (wrong_rings, "forks_core/decider/x.py", "from forks_core.reducer import fold"),
    (wrong_rings, "forks_core/decider/x.py", "from forks_core import reducer"),
    (wrong_rings, "forks_core/decider/x.py", "from forks_core.system.clock import SystemClock"),
    (wrong_rings, "forks_core/claude/x.py", "from forks_core.registry import Job"),
    (wrong_rings, "forks_core/ports.py", "from forks_core.registry import Job"),
    (wrong_rings, "forks_core/transact.py", "from forks_core.system.log_file import LogFile"),
    (wrong_rings, "forks_core/system/x.py", "from forks_cli.main import main"),
    (impure_imports, "forks_events/x.py", "import os"),
    (impure_imports, "forks_core/rules/x.py", "from pathlib import Path"),
    (impure_imports, "forks_core/decider/x.py", "import uuid"),
    (impure_imports, "forks_core/decider/x.py", "import random"),
    (impure_imports, "forks_core/claude/x.py", "import os.path"),
    (impure_imports, "forks_core/transact.py", "import time, threading"),
    (impure_imports, "forks_core/registry/x.py", "def f():\n    import subprocess"),
    (impure_imports, "forks_core/reducer/x.py", "from socket import socket"),
    (impure_calls, "forks_core/decider/x.py", "now = datetime.now(UTC)"),
    (impure_calls, "forks_events/x.py", "f = open('x')"),
    (impure_calls, "forks_core/rules/x.py", "def f():\n    print(1)"),
    (impure_calls, "forks_core/claude/x.py", "datetime.datetime.utcnow()"),
    (impure_calls, "forks_core/claude/x.py", "datetime.datetime.now()"),
    (impure_calls, "forks_core/claude/x.py", "datetime.fromtimestamp(0)"),
    (too_long, "forks_core/system/x.py", "\n" * 251),
    (bad_names, "forks_core/system/utils.py", ""),
    (bad_names, "forks_cli/x.py", "class Manager: ..."),
    (bad_names, "forks_cli/x.py", "class JobManager: ..."),
    (bad_names, "forks_events/x.py", "class A:\n    class Event: ..."),
    (future_annotations, "forks_events/x.py", "from __future__ import annotations"),
    (untold, "forks_events/x.py", "x = 1"),
)
EACH = tuple(dict.fromkeys(check for check, _, _ in CHECKS))


class TestTheHouse:
    """The sources keep the rules; each rule can be broken, and its check finds it."""

    @pytest.mark.parametrize("check", EACH, ids=lambda check: check.__name__)
    def test_law_every_file(self, check: Check) -> None:
        """Every file of the product keeps it."""
        assert [found for name, text in SOURCES.items() for found in check(name, text)] == []

    @pytest.mark.parametrize(("check", "name", "source"), CHECKS)
    def test_reachability(self, check: Check, name: str, source: str) -> None:
        """A small bad file is found."""
        assert list(check(name, source))

    @pytest.mark.parametrize("check", EACH, ids=lambda check: check.__name__)
    def test_good(self, check: Check) -> None:
        """A small good one is left alone, and what is worldly may do worldly things."""
        good = (
            '"""Say."""\nfrom collections.abc import Mapping\nfrom forks_events.jobs import Kind\n'
        )
        good += "datetime.fromtimestamp(0, UTC)\nlive.clock.now()\n"
        worldly = f"{good}import os, random\nfrom forks_core.rules import cache\nprint(open(1))\n"
        assert list(check("forks_core/rules/x.py", good)) == []
        assert list(check("forks_core/system/x.py", worldly)) == []

    def test_every_room_is_spoken_of(self) -> None:
        """No file lies outside the table, and no room of it is empty."""
        assert {room_of(name)[0] for name in SOURCES} == {room for room, _ in ROOMS}


@pytest.mark.rule("B1.6")
class TestVerbs:
    """One verb, one file."""

    def test_every_verb_has_its_file(self) -> None:
        """The verbs that are told are those that are there."""
        found = {Path(name).stem for name in SOURCES if name.startswith("forks_cli/verbs/")}
        assert found - {"__init__"} == {module_of(verb).split(".")[-1] for verb in SUMMARIES}

    def test_each_has_its_two_functions(self) -> None:
        """Each has arguments, and what it does."""
        for verb in SUMMARIES:
            tree = ast.parse(SOURCES[f"{module_of(verb).replace('.', '/')}.py"])
            functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert {"add_arguments", "run"} <= functions
