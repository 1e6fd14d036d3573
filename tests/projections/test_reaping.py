"""Which jobs may be lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.projections.reaping import candidates, processes_of, supervisor_of
from forks_core.registry import Registry
from forks_core.rules.naming import in_order
from forks_events import Event
from forks_events.jobs import KillRequested
from forks_events.words import Reason
from tests.projections.builders import (
    CLIENT,
    REGISTRIES,
    SUPERVISOR,
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

LOST_AFTER_S = 120.0
AGES = st.sampled_from([0, 1, 61, 3600, 10_000, 100_000])


def lost(*events: Event, now: float) -> list[str]:
    """The candidates by their ids."""
    return [job.spec.job for job in candidates(registry(*events), at(now), LOST_AFTER_S)]


class TestCandidates:
    """A job may be lost when it has not ended and was not heard of for longer than the limit."""

    @pytest.mark.rule("B28.1")
    @pytest.mark.parametrize(
        ("life", "heard"),
        [
            ([], 0),
            ([launched(seconds=5)], 5),
            ([launched(seconds=5), held("j0001", "j0000", 7)], 7),
            ([launched(seconds=5), started(seconds=6)], 6),
            ([launched(seconds=5), started(seconds=6), beat("j0001", 16)], 16),
            ([launched(seconds=5), started(seconds=6), turned("j0001", 17)], 17),
        ],
    )
    def test_the_limit_is_strict(self, life: list[Event], heard: float) -> None:
        """At the limit after its last sign of life it is left alone, right after it is not."""
        assert lost(fork(), *life, now=heard + 120) == []
        assert lost(fork(), *life, now=heard + 120.001) == ["j0001"]

    @pytest.mark.rule("B28.1")
    def test_ended(self) -> None:
        """What is over cannot be lost."""
        assert lost(fork(), ended(), now=9999) == []

    def test_training(self) -> None:
        """A training is lost like any other job, or its base would block its name for good."""
        assert lost(train(), launched(), now=121) == ["j0001"]

    @pytest.mark.rule("B28.3", "D21")
    def test_order(self) -> None:
        """They come in id order: j9999 before j10000."""
        names = ["j10000", "j0002", "j9999"]
        assert lost(*map(fork, names), now=121) == ["j0002", "j9999", "j10000"]

    def test_a_wish_keeps_nobody_alive(self) -> None:
        """A job that somebody wants dead is lost as soon as any other."""
        wish = KillRequested(at=at(100), job="j0001", reason=Reason.KILL)
        assert lost(fork(), wish, now=121) == ["j0001"]

    @settings(deadline=None)
    @given(REGISTRIES, AGES, AGES)
    def test_law_they_only_grow(self, state: Registry, age: int, more: int) -> None:
        """As long as nothing is said, who may be lost may be lost later on too."""
        sooner = candidates(state, at(age), 1.0)
        later = candidates(state, at(age + more), 1.0)
        assert {job.spec.job for job in sooner} <= {job.spec.job for job in later}

    @settings(deadline=None)
    @given(REGISTRIES)
    def test_law_in_the_end_all_that_live(self, state: Registry) -> None:
        """Long after, these are all jobs that have not ended, in id order."""
        found = [job.spec.job for job in candidates(state, at(10**9), LOST_AFTER_S)]
        assert found == [name for name in in_order(state.jobs) if not state.jobs[name].ended]

    def test_reachability(self) -> None:
        """The laws look at several jobs that live at once, and at some that are lost in time."""
        living = REGISTRIES.map(lambda r: sum(not job.ended for job in r.jobs.values()))
        assert reached(living, lambda count: count > 1)
        grown = st.tuples(REGISTRIES, AGES).map(
            lambda drawn: candidates(drawn[0], at(drawn[1]), 1.0)
        )
        assert reached(grown, lambda found: len(found) > 1)


@pytest.mark.rule("B29.4")
class TestProcesses:
    """What a job has running is known as it was recorded: the client first, its supervisor."""

    def test_created(self) -> None:
        """Before a supervisor spoke nobody is known: nobody can be asked whether he lives."""
        job = registry(fork()).jobs["j0001"]
        assert (supervisor_of(job), processes_of(job)) == (None, ())

    def test_launched(self) -> None:
        """Before the client starts there is only the supervisor, held or not."""
        for life in ([launched()], [launched(), held("j0001", "j0000")]):
            job = registry(fork(), *life).jobs["j0001"]
            assert (supervisor_of(job), processes_of(job)) == (SUPERVISOR, (SUPERVISOR,))

    def test_running(self) -> None:
        """The client comes first: its group is ended while its supervisor still lives."""
        job = registry(fork(), launched(), started()).jobs["j0001"]
        assert (supervisor_of(job), processes_of(job)) == (SUPERVISOR, (CLIENT, SUPERVISOR))

    def test_ended(self) -> None:
        """Of what is over nothing is touched any more: its numbers may be somebody else's."""
        job = registry(fork(), launched(), started(), ended()).jobs["j0001"]
        assert (supervisor_of(job), processes_of(job)) == (None, ())
