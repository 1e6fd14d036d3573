"""The registry as plain data."""

import json
from typing import Any

import pytest
from attrs import fields
from hypothesis import given, settings

from forks_core.projections.plain import plain
from forks_core.registry import INITIAL, Registry
from forks_events import Event
from forks_events.bases import BaseFailed
from tests.projections.builders import (
    PRINT,
    REGISTRIES,
    at,
    ended,
    fork,
    launched,
    named,
    reached,
    registry,
    started,
    train,
    trained,
)

SLICES = {field.name for field in fields(Registry)}


class TestPlain:
    """Every slice is in it, and a state with several forms says which one it has."""

    @pytest.mark.rule("B6.1")
    def test_nothing(self) -> None:
        """Before anything happened every slice is there, and empty."""
        data = plain(INITIAL)
        assert data.keys() == SLICES
        assert not any(data[name] for name in SLICES - {"readings", "runner"})
        assert not any(data["readings"]["quota"][key] for key in ("windows", "status", "read_at"))

    @pytest.mark.rule("B6.4")
    def test_run(self) -> None:
        """The run, its launch by fingerprint, and its settings."""
        data = plain(registry())
        assert data["run"]["opened"]["run"] == "r"
        assert data["run"]["configured"]["settings"]["parallel_cap"] == 4
        assert data["launches"].keys() == {PRINT}

    @pytest.mark.parametrize(
        ("life", "expected"),
        [
            ([], "created"),
            ([launched()], "launched"),
            ([launched(), started()], "running"),
            ([launched(), started(), ended()], "ended"),
        ],
    )
    def test_jobs(self, life: list[Event], expected: str) -> None:
        """The four forms of a job."""
        assert plain(registry(fork(), *life))["jobs"]["j0001"]["state"]["is"].lower() == expected

    @pytest.mark.parametrize(
        ("life", "expected"),
        [
            ([], "training"),
            ([trained()], "active"),
            ([BaseFailed(at=at(1), base="api")], "failed"),
        ],
    )
    def test_bases(self, life: list[Event], expected: str) -> None:
        """The three forms of a base."""
        data = plain(registry(train(), named(), *life))
        assert data["bases"]["api"]["state"]["is"].lower() == expected

    @pytest.mark.rule("D17")
    def test_times(self) -> None:
        """Times are in UTC with their offset, to the microsecond."""
        data = plain(registry(fork(), launched(seconds=1.5)))
        told = data["jobs"]["j0001"]["state"]["launched_at"]
        assert told == "2026-11-30T12:00:01.500000+00:00"

    @settings(max_examples=50, deadline=None)
    @given(REGISTRIES)
    def test_law_plain(self, state: Registry) -> None:
        """Any registry is JSON, holds as much as the registry does, and changes nothing in it."""
        before = state
        data = plain(state)
        assert json.loads(json.dumps(data)) == data
        for name in SLICES - {"run", "study", "readings", "runner"}:
            assert data[name].keys() == set(getattr(state, name))
        assert state == before

    @settings(max_examples=50, deadline=None)
    @given(REGISTRIES, REGISTRIES)
    def test_law_equal_or_different(self, one: Registry, other: Registry) -> None:
        """Two registries look alike exactly when they are equal."""
        assert (plain(one) == plain(other)) is (one == other)

    def test_reachability(self) -> None:
        """The laws look at registries with something in every slice."""
        whole: Any = REGISTRIES.map(plain)
        assert reached(whole, lambda data: all(data.values()))
