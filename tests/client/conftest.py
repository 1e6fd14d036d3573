"""The real client, and a theatre for it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.install import VERSION, install
from tests.client.theatre import Theatre, theatre_in

OLDER = "older_clients"


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of tests that need other versions of the client."""
    text = f"{OLDER}: drives older clients too (FORKS_OLDER_CLIENTS=1 selects it)"
    config.addinivalue_line("markers", text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests of older clients out unless they are asked for."""
    if os.environ.get("FORKS_OLDER_CLIENTS") == "1":
        return
    older = [item for item in items if item.get_closest_marker(OLDER)]
    if older:
        config.hook.pytest_deselected(items=older)
        items[:] = [item for item in items if item not in older]


@pytest.fixture(scope="session")
def client(request: pytest.FixtureRequest) -> Path:
    """The client's program; another version by ``parametrize("client", [...], indirect=True)``."""
    return install(getattr(request, "param", VERSION))


@pytest.fixture
def theatre(client: Path, tmp_path: Path) -> Iterator[Theatre]:
    """A theatre of the test's own, in which nothing has happened yet."""
    with theatre_in(tmp_path, client) as opened:
        yield opened
