"""Delivering and settling."""

import pytest

from forks_core.decider.wait import Deliver
from forks_core.registry import Ended
from forks_events import Event
from forks_events.jobs import JobDelivered, JobSettled
from forks_events.run import OrchestratorSeen
from tests.decider.world import World, end, fork_command, trained

ALL = Deliver(names=None, first=False)


def two_forks() -> World:
    """A trained world whose training was delivered and settled, with the forks j0002 and j0003."""
    world = trained()
    world.do(ALL, fork_command(session="s-2"), fork_command(session="s-3"))
    return world


def names(events: tuple[Event, ...], kind: type) -> list[str]:
    """The jobs of one kind of event."""
    return [
        event.job
        for event in events
        if isinstance(event, JobDelivered | JobSettled) and isinstance(event, kind)
    ]


class TestDeliver:
    """Each result is delivered once; a met wait settles its finished members."""

    @pytest.mark.rule("B31.5", "B31.6", "D9")
    def test_what_is_finished_is_delivered_also_when_the_wait_is_not_met(self) -> None:
        """At its timeout a wait shows what there is, and settles nothing."""
        world = two_forks()
        world.do(end("j0002"))
        said = world.do(ALL)
        assert (names(said, JobDelivered), names(said, JobSettled)) == (["j0002"], [])

    @pytest.mark.rule("B27.1")
    def test_who_waits_is_the_orchestrator(self) -> None:
        """That it was seen is said with what is delivered, also when there is nothing of that."""
        world = two_forks()
        world.later(61)
        assert world.do(ALL) == (OrchestratorSeen(at=world.now),)

    @pytest.mark.rule("B31.5", "B31.6")
    def test_nothing_is_delivered_twice(self) -> None:
        """The next wait delivers only what is new, and settles all of its members."""
        world = two_forks()
        world.do(end("j0002"), ALL, end("j0003"))
        said = world.do(ALL)
        assert (names(said, JobDelivered), names(said, JobSettled)) == (
            ["j0003"],
            ["j0002", "j0003"],
        )
        assert world.do(ALL) == ()

    @pytest.mark.rule("B31.3", "B31.6")
    def test_one_finished_job_is_enough_for_any(self) -> None:
        """Only the finished one is settled; the other is still waited for."""
        world = two_forks()
        world.do(end("j0003"))
        said = world.do(Deliver(names=None, first=True))
        assert (names(said, JobDelivered), names(said, JobSettled)) == (["j0003"], ["j0003"])
        assert world.do(end("j0002")) != ()
        assert names(world.do(ALL), JobDelivered) == ["j0002"]

    @pytest.mark.rule("B31.6")
    def test_waiting_again_for_a_named_job_settles_it_again(self) -> None:
        """A repeated wait is satisfied by it anew, and delivers nothing."""
        world = two_forks()
        world.do(end("j0002"))
        named = Deliver(names=("j0002",), first=False)
        world.do(named)
        first = world.registry.jobs["j0002"].state
        said = world.do(named)
        again = world.registry.jobs["j0002"].state
        assert (names(said, JobDelivered), names(said, JobSettled)) == ([], ["j0002"])
        assert isinstance(first, Ended)
        assert isinstance(again, Ended)
        assert first.settled_at is not None
        assert again.settled_at is not None
        assert again.settled_at > first.settled_at
        assert again.delivered_at == first.delivered_at
