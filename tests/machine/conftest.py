"""The long form of the machine, which is asked for; and what it did, at the end of it."""

import os

import pytest

from tests.machine.house import DONE

LONG = "machine"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of the machine's long form."""
    text = f"{LONG}: the long form, real processes for minutes (FORKS_MACHINE=1 selects it)"
    config.addinivalue_line("markers", text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long form out unless it is asked for."""
    if os.environ.get("FORKS_MACHINE") == "1" or LONG in config.option.markexpr:
        return
    long = [item for item in items if item.get_closest_marker(LONG)]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how often each step was done, and what came of it."""
    if DONE and terminalreporter.config.option.verbose > 0:
        terminalreporter.section("what the machine did")
        for what, times in sorted(DONE.items()):
            terminalreporter.line(f"{times:6} {what}")
