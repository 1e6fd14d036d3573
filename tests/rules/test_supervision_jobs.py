"""Liveness of jobs: whom a fork waits for, and when a job is silent."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.registry import Registry
from forks_core.rules.supervision import behind, is_silent, last_sign
from forks_events import Event
from forks_events.jobs import KillRequested
from forks_events.words import Reason
from tests.projections.builders import (
    REGISTRIES,
    at,
    beat,
    ended,
    fork,
    held,
    launched,
    reached,
    registry,
    started,
    train,
    turned,
)


@pytest.mark.rule("D11")
class TestBehind:
    """A fork waits for earlier forks of its base until each has had its first response."""

    def held_by(self, *events: Event) -> str | None:
        """Whom the fork j0003 waits for, after these events."""
        state = registry(*(fork(name) for name in ("j0001", "j0002", "j0003")), *events)
        return behind(state, state.jobs["j0003"])

    def test_the_one_before(self) -> None:
        """It waits for the nearest one before it, and the first waits for nobody."""
        state = registry(*(fork(name) for name in ("j0001", "j0002", "j0003")))
        waits = [behind(state, state.jobs[name]) for name in ("j0001", "j0002", "j0003")]
        assert waits == [None, "j0001", "j0002"]

    def test_a_first_response_frees(self) -> None:
        """Who has answered holds nobody; who has not still does."""
        assert self.held_by(turned("j0002", 1)) == "j0001"
        assert self.held_by(turned("j0001", 1), turned("j0002", 1)) is None

    def test_a_subagent_frees_nobody(self) -> None:
        """Only a response of the main thread has read the prefix."""
        assert self.held_by(turned("j0002", 1, main=False)) == "j0002"

    def test_an_end_frees(self) -> None:
        """Who is over will warm nothing."""
        assert self.held_by(ended("j0001", 1), ended("j0002", 1)) is None

    def test_others_do_not_count(self) -> None:
        """A training, a fork of another base, and later forks hold nobody."""
        state = registry(train("j0001"), fork("j0002", base="web"), fork("j0003"), fork("j0004"))
        assert behind(state, state.jobs["j0003"]) is None

    @pytest.mark.rule("D21")
    def test_by_number(self) -> None:
        """Earlier is meant by number: j9999 comes before j10000."""
        state = registry(fork("j10000"), fork("j9999"))
        assert behind(state, state.jobs["j10000"]) == "j9999"
        assert behind(state, state.jobs["j9999"]) is None
        state = registry(fork("j9999"), fork("j10000"), fork("j10001"))
        assert behind(state, state.jobs["j10001"]) == "j10000"

    @settings(max_examples=50, deadline=None)
    @given(REGISTRIES)
    def test_law_no_deadlock(self, state: Registry) -> None:
        """Waiting always points backwards, at a job that lives: the first one is never held."""
        for name, job in state.jobs.items():
            other = behind(state, job)
            assert other is None or (other < name and not state.jobs[other].ended)

    def test_reachability(self) -> None:
        """Histories hold forks that wait for another."""
        assert reached(REGISTRIES, lambda r: any(behind(r, job) for job in r.jobs.values()))


@pytest.mark.rule("B28.1")
class TestSilence:
    """A job is silent when its last sign of life is older than the limit."""

    @pytest.mark.parametrize(
        ("events", "expected"),
        [
            ((), 0),
            ((launched("j0001", 1),), 1),
            ((launched("j0001", 1), held("j0001", "j0000", 2)), 2),
            ((launched("j0001", 1), started("j0001", 3)), 3),
            ((launched("j0001", 1), started("j0001", 3), beat("j0001", 4, output=1)), 4),
            ((launched("j0001", 1), started("j0001", 3), turned("j0001", 5)), 5),
            ((launched("j0001", 1), turned("j0001", 5), started("j0001", 6)), 6),
            ((launched("j0001", 1), ended("j0001", 9)), 9),
        ],
    )
    def test_last_sign(self, events: tuple[Event, ...], expected: int) -> None:
        """It is its latest word, of its own or of its stream, else its creation."""
        state = registry(fork(), *events)
        assert last_sign(state, state.jobs["j0001"]) == at(expected)

    def test_a_wish_is_no_sign(self) -> None:
        """That somebody wants it killed says nothing of its life."""
        state = registry(fork(), KillRequested(at=at(5), job="j0001", reason=Reason.KILL))
        assert last_sign(state, state.jobs["j0001"]) == at(0)

    @pytest.mark.parametrize(("age", "expected"), [(120, False), (120.1, True)])
    def test_limit_is_strict(self, age: float, *, expected: bool) -> None:
        """At its limit a job is not silent yet."""
        state = registry(fork(), launched("j0001", 1))
        assert is_silent(state, state.jobs["j0001"], at(1 + age), 120.0) is expected

    def test_an_ended_job_is_not_silent(self) -> None:
        """Nobody waits for a word of what is over."""
        state = registry(fork(), ended())
        assert not is_silent(state, state.jobs["j0001"], at(9999), 120.0)

    @settings(deadline=None)
    @given(REGISTRIES, st.integers(0, 9), st.integers(0, 9))
    def test_law_a_young_sign_is_life(self, state: Registry, age: int, limit: int) -> None:
        """A job with a sign of life as young as the limit is never silent, with an older it is."""
        for job in state.jobs.values():
            now = last_sign(state, job) + (at(age) - at(0))
            assert is_silent(state, job, now, limit) is (age > limit and not job.ended)

    def test_reachability(self) -> None:
        """Histories hold jobs that live and that ended, last heard of by their stream too."""
        assert reached(REGISTRIES, lambda r: any(not r.jobs[name].ended for name in r.streams))
        assert reached(REGISTRIES, lambda r: any(r.jobs[name].ended for name in r.streams))
