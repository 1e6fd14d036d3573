"""Fixtures of the tests of verbs."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import MakeRun
from tests.study_world import World

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(make_run: MakeRun) -> Iterator[MakeWorld]:
    """Makes studies in runs of their own; none may leave a process behind."""
    made: list[World] = []

    def make(*tasks: str, timings: dict[str, float] | None = None, **study: Any) -> World:
        made.append(World(make_run(**(timings or {})), *tasks, **study))
        return made[-1]

    yield make
    for world in made:
        world.close()
