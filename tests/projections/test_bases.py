"""Bases as rows."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.projections.bases import base_row, base_status
from forks_core.registry import Registry
from forks_events import Event
from forks_events.bases import BaseFailed
from forks_events.sessions import SessionCounted
from forks_events.values import Spent
from forks_events.words import Status
from tests.projections.builders import (
    PRINT,
    REGISTRIES,
    SESSION,
    at,
    ended,
    fork,
    hit,
    named,
    reached,
    registry,
    train,
    trained,
)

ROW = {
    "name",
    "status",
    "session",
    "cwd",
    "base_commit",
    "context_tokens",
    "training_cost_usd",
    "cost_cum_usd",
    "last_hit",
    "train_job",
    "forks",
    "phase",
    "created_at",
    "trained_at",
    "base_state",
    "warm_until",
    "rebase_due",
    "retrain_due",
    "reasons",
}
FAILED = BaseFailed(at=at(5), base="api")


def row(*events: Event, ttl_s: int = 3600, now: float = 10) -> dict[str, Any]:
    """The row of the base ``api``, trained by j0001, after these events."""
    state = registry(train(), named(), *events)
    return base_row(state, state.bases["api"], ttl_s, at(now))


@pytest.mark.rule("B25.13")
class TestStatus:
    """A base is training, then active or failed."""

    @pytest.mark.parametrize(
        ("events", "expected"),
        [([], "training"), ([trained()], "active"), ([FAILED], "failed")],
    )
    def test_told(self, events: list[Event], expected: str) -> None:
        """One word for each state."""
        assert base_status(registry(train(), named(), *events).bases["api"]) == expected
        assert row(*events)["status"] == expected


@pytest.mark.rule("B32.2")
class TestRow:
    """A base's row has every key from the beginning, and of what has not come yet it says null."""

    def test_training(self) -> None:
        """Who trains has its name, its order, and no warmth."""
        made = row()
        assert made.keys() >= ROW
        assert (made["name"], made["train_job"], made["forks"]) == ("api", "j0001", [])
        assert (made["session"], made["cwd"], made["fingerprint"]) == (SESSION, "/repo", PRINT)
        assert made["created_at"] == "2026-11-30T12:00:00.000000+00:00"
        assert made["base_state"] == "cold"
        for key in ("base_commit", "context_tokens", "training_cost_usd", "cost_cum_usd"):
            assert made[key] is None
        for key in ("last_hit", "trained_at", "warm_until", "phase"):
            assert made[key] is None

    def test_active(self) -> None:
        """Who is trained has the session that was reported, its commit, its context, its cost."""
        spent = Spent(cost_usd=0.75, models=Map())
        made = row(
            ended(cost_usd=0.5),
            SessionCounted(at=at(2), session="reported", spent=spent),
            trained(2, session="reported"),
        )
        assert (made["session"], made["base_commit"]) == ("reported", "c" * 40)
        assert made["context_tokens"] == 1000
        assert (made["training_cost_usd"], made["cost_cum_usd"]) == (0.5, 0.75)
        assert made["trained_at"] == "2026-11-30T12:00:02.000000+00:00"

    def test_unknown_cost(self) -> None:
        """A training whose cost is not known has cost null, and not nothing."""
        made = row(ended(cost_usd=None), trained())
        assert (made["training_cost_usd"], made["cost_cum_usd"]) == (None, None)

    def test_nothing_is_due(self) -> None:
        """Whether it is due is advice that nobody gives yet: no reasons."""
        made = row(trained())
        assert (made["rebase_due"], made["retrain_due"], made["reasons"]) == (False, False, [])

    def test_phase(self) -> None:
        """The caller's phase is repeated as it was given."""
        state = registry(train(), named(phase=3))
        assert base_row(state, state.bases["api"], 3600, at(0))["phase"] == 3


@pytest.mark.rule("B16.7", "B32.2")
class TestForks:
    """A base names its forks in id order, and nobody else's."""

    @pytest.mark.rule("D21")
    def test_order(self) -> None:
        """j9999 comes before j10000."""
        made = row(trained(), fork("j10000"), fork("j9999"), fork("j0002", base="web"))
        assert made["forks"] == ["j9999", "j10000"]

    def test_ended_ones_count(self) -> None:
        """A fork stays its base's when it is over."""
        assert row(trained(), fork("j0002"), ended("j0002"))["forks"] == ["j0002"]

    def test_trained_anew(self) -> None:
        """A failed base's name goes to a new record, which begins without forks."""
        state = registry(
            train(),
            named(),
            FAILED,
            fork("j0002", forced=True),
            train("j0003"),
            named("j0003", 9),
            fork("j0004"),
        )
        made = base_row(state, state.bases["api"], 3600, at(10))
        assert (made["train_job"], made["forks"]) == ("j0003", ["j0004"])


@pytest.mark.rule("B32.2")
class TestWarmth:
    """The row tells the warmth at the time it is asked, and until when it lasts."""

    @pytest.mark.parametrize(
        ("ttl_s", "age", "expected"),
        [
            (3600, 3239, "warm"),
            (3600, 3240, "expiring"),
            (3600, 3600, "cold"),
            (1200, 1079, "warm"),
            (1200, 1080, "expiring"),
            (300, 180, "expiring"),
        ],
    )
    def test_told(self, ttl_s: int, age: int, expected: str) -> None:
        """It is expiring in the last tenth of its life, at least in its last two minutes."""
        made = row(trained(), hit(0), ttl_s=ttl_s, now=age)
        assert made["base_state"] == expected
        assert made["last_hit"] == "2026-11-30T12:00:00.000000+00:00"
        minutes = ttl_s // 60
        assert f"T{12 + minutes // 60}:{minutes % 60:02}:00.000000" in made["warm_until"]

    def test_the_last_hit_counts(self) -> None:
        """An older hit, heard of later, does not cool it."""
        made = row(trained(), hit(5), hit(3))
        assert made["last_hit"] == "2026-11-30T12:00:05.000000+00:00"


class TestEveryHistory:
    """Whatever happened, a base can be shown."""

    @settings(deadline=None)
    @given(REGISTRIES, st.integers(0, 9999))
    def test_law_rows(self, state: Registry, now: int) -> None:
        """Every base has a row of plain data with all keys, and its forks are jobs of its name."""
        for name, base in state.bases.items():
            made = base_row(state, base, 3600, at(now))
            assert json.loads(json.dumps(made)) == made
            assert made.keys() >= ROW
            assert all(state.jobs[job].spec.base == name for job in made["forks"])
            assert made["train_job"] not in made["forks"]

    def test_reachability(self) -> None:
        """The law looks at bases in each state, at forks, and at names that were trained anew."""
        for status in ("training", "active", "failed"):
            statuses = REGISTRIES.map(lambda r: {base_status(base) for base in r.bases.values()})
            assert reached(statuses, holding(status))
        assert reached(
            REGISTRIES, lambda r: any(job.spec.parent_session for job in r.jobs.values())
        )

    def test_failed_training_is_failed(self) -> None:
        """A training that timed out leaves a base that can be seen."""
        assert row(ended(status=Status.TIMEOUT), FAILED)["status"] == "failed"


def holding(word: str) -> Any:
    """Whether a set holds a word."""
    return lambda words: word in words
