"""Fixtures that several test modules share."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.driver import Run

MakeRun = Callable[..., Run]
MUTATION = "mutation"
LONG = "long"
BENCHMARK = frozenset("AER")


settings.register_profile("short", max_examples=40)
settings.register_profile("whole", max_examples=100)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and draw fewer examples where nobody asked for what takes long."""
    # Under nohup or a shell's & these are ignored, and by all that is started from here too.
    for number, usual in (
        (signal.SIGHUP, signal.SIG_DFL),
        (signal.SIGINT, signal.default_int_handler),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    asked = os.environ.get("FORKS_LONG") == "1" or LONG in config.getoption("markexpr")
    settings.load_profile("whole" if asked else "short")
    config.addinivalue_line("markers", "rule(*ids): proves these rules of tests/rules.toml")
    text = f"{MUTATION}: judges every mutant (-m {MUTATION} or FORKS_MUTATION=1 selects it)"
    config.addinivalue_line("markers", text)
    text = f"{LONG}: takes half a minute or more (-m {LONG} or FORKS_LONG=1 selects it)"
    config.addinivalue_line("markers", text)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let ``-k benchmark`` find whatever proves a rule of the benchmark: those of A, E and R."""
    proved = [rule for mark in item.iter_markers("rule") for rule in mark.args]
    if any(rule[0] in BENCHMARK for rule in proved):
        item.extra_keyword_matches.add("benchmark")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long unless it is asked for."""
    asked = config.getoption("markexpr")
    left = {
        name
        for name in (MUTATION, LONG)
        if os.environ.get(f"FORKS_{name.upper()}") != "1" and name not in asked
    }
    out = [item for item in items if any(item.get_closest_marker(name) for name in left)]
    if out:
        config.hook.pytest_deselected(items=out)
        gone = set(out)
        items[:] = [item for item in items if item not in gone]


@pytest.fixture
def make_run(tmp_path: Path) -> Iterator[MakeRun]:
    """Makes runs with timings of their own; none may leave a process behind."""
    made: list[Run] = []

    def make(**timings: float) -> Run:
        made.append(Run(tmp_path / f"r{len(made)}", **timings))
        return made[-1]

    yield make
    for run in made:
        run.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run whose base is trained, for tests that only look."""
    made = Run(tmp_path_factory.mktemp("shared"))
    made.init()
    made.trained()
    yield made
    made.close()


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    """A run log that had no init yet."""
    return make_run()


@pytest.fixture
def inited(run: Run) -> Run:
    """A run that had its init."""
    run.init()
    return run


@pytest.fixture
def ready(inited: Run) -> Run:
    """A run whose base is trained."""
    inited.trained()
    return inited
