"""Whether a wait is met."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.projections.waiting import Waiting, waiting
from forks_core.registry import Ended, Registry
from forks_events import Event
from forks_events.words import Kind, Status
from tests.projections.builders import (
    REGISTRIES,
    at,
    delivered,
    ended,
    fork,
    launched,
    reached,
    registry,
    settled,
    started,
)

ONE, TWO, THREE = "j0001", "j0002", "j0003"


def state(*events: Event) -> Registry:
    """Three forks, and what happened to them."""
    return registry(fork(ONE), fork(TWO), fork(THREE), *events)


def ids(wait: Waiting) -> tuple[list[str], list[str], bool]:
    """A wait by the ids of its members and of the finished ones."""
    members = [job.spec.job for job in wait.members]
    return members, [job.spec.job for job in wait.finished], wait.met


@pytest.mark.rule("B31.2")
class TestMembers:
    """The jobs that are named, or else every job that no wait was satisfied by yet."""

    def test_named(self) -> None:
        """They come in id order, each once, however they were named; settled ones too."""
        found = state(ended(ONE), settled(ONE, 1))
        assert ids(waiting(found, [TWO, ONE, TWO], first=False))[0] == [ONE, TWO]

    def test_all(self) -> None:
        """A settled job is none any more; one that was only delivered is."""
        found = state(ended(ONE), settled(ONE, 1), ended(TWO), delivered(TWO, 1))
        assert ids(waiting(found, None, first=False)) == ([TWO, THREE], [TWO], False)

    def test_settled_by_this_wait(self) -> None:
        """After it was recorded, a wait still counts those in that it settled itself."""
        found = state(ended(ONE), settled(ONE, 1), ended(TWO), settled(TWO, 2))
        assert ids(waiting(found, None, first=False, at=at(2)))[0] == [TWO, THREE]

    @pytest.mark.rule("D21")
    def test_by_number(self) -> None:
        """Id order is by number."""
        found = registry(fork("j10000"), fork("j9999"))
        assert ids(waiting(found, None, first=False))[0] == ["j9999", "j10000"]


@pytest.mark.rule("B31.3")
class TestMet:
    """A wait is met when all its members are over; with ``--any``, when one is, or it has none."""

    @pytest.mark.parametrize(
        ("over", "all_met", "any_met"),
        [
            ([], False, False),
            ([TWO], False, True),
            ([ONE, TWO], False, True),
            ([ONE, TWO, THREE], True, True),
        ],
    )
    def test_by_finished(self, over: list[str], *, all_met: bool, any_met: bool) -> None:
        """A job is finished when it has ended, however it did."""
        found = state(launched(TWO), started(TWO), *map(ended, over))
        assert ids(waiting(found, None, first=False)) == ([ONE, TWO, THREE], over, all_met)
        assert ids(waiting(found, None, first=True)) == ([ONE, TWO, THREE], over, any_met)

    @pytest.mark.parametrize("first", [True, False])
    def test_nothing_to_wait_for(self, *, first: bool) -> None:
        """Without members it is met at once, and all is well."""
        for wait in (waiting(registry(), None, first=first), waiting(state(), [], first=first)):
            assert wait.met
            assert wait.all_ok
        over = (ended(name) for name in (ONE, TWO, THREE))
        done = (settled(name, 1) for name in (ONE, TWO, THREE))
        assert waiting(state(*over, *done), None, first=first).met

    def test_named_again(self) -> None:
        """Waiting again for jobs by their names is met again."""
        found = state(ended(ONE), delivered(ONE, 1), settled(ONE, 1))
        assert ids(waiting(found, [ONE], first=False)) == ([ONE], [ONE], True)


@pytest.mark.rule("B31.8")
class TestAllOk:
    """Every finished member ended ok: those that were delivered before count too."""

    @pytest.mark.parametrize("status", Status)
    def test_each_status(self, status: Status) -> None:
        """Only ok is ok."""
        found = state(ended(ONE), ended(TWO, status=status), delivered(TWO, 1))
        assert waiting(found, [ONE, TWO], first=False).all_ok is (status is Status.OK)

    def test_who_runs_is_not_judged(self) -> None:
        """With ``--any`` only the finished ones are judged."""
        assert waiting(state(ended(ONE)), None, first=True).all_ok

    def test_who_is_no_member_is_not_judged(self) -> None:
        """Another job's failure spoils nothing."""
        found = state(ended(ONE), ended(TWO, status=Status.FAILED))
        assert waiting(found, [ONE], first=False).all_ok


class TestEveryHistory:
    """Laws of waits over all that can have happened."""

    @settings(deadline=None)
    @given(REGISTRIES, st.booleans())
    def test_law_finished_members(self, found: Registry, first: bool) -> None:  # noqa: FBT001 - drawn
        """The finished ones are members that have ended, and all of them."""
        wait = waiting(found, None, first=first)
        assert wait.finished == tuple(job for job in wait.members if isinstance(job.state, Ended))

    @settings(deadline=None)
    @given(REGISTRIES)
    def test_law_all_is_harder_than_any(self, found: Registry) -> None:
        """When all are over, one is: whatever meets a wait for all meets one for any."""
        if waiting(found, None, first=False).met:
            assert waiting(found, None, first=True).met

    @settings(deadline=None)
    @given(REGISTRIES)
    def test_law_names_say_what_all_says(self, found: Registry) -> None:
        """Naming every job that is not settled, and no trial, is the same wait as naming none."""
        names = [
            name
            for name, job in found.jobs.items()
            if job.spec.kind is not Kind.TRIAL
            and (not isinstance(job.state, Ended) or job.state.settled_at is None)
        ]
        for first in (True, False):
            assert waiting(found, names, first=first) == waiting(found, None, first=first)

    def test_reachability(self) -> None:
        """The laws look at waits that are met by all, by some only, and at settled jobs."""
        assert reached(REGISTRIES, lambda r: bool(r.jobs) and waiting(r, None, first=False).met)
        assert reached(
            REGISTRIES,
            lambda r: waiting(r, None, first=True).met and not waiting(r, None, first=False).met,
        )
        assert reached(
            REGISTRIES, lambda r: len(waiting(r, None, first=True).members) < len(r.jobs)
        )
