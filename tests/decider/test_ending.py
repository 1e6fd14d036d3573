"""What a job's end holds, and what follows from it."""

from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.decider import decide
from forks_core.decider.ending import End
from forks_core.decider.jobs import Beat, Hear, HoldJob, LaunchJob
from forks_core.decider.train import Train
from forks_core.rules.outcome import Imposed
from forks_events.bases import BaseTrained
from forks_events.jobs import JobEnded
from forks_events.words import Flag, Reason, Status
from tests.decider.world import (
    INIT,
    World,
    call,
    end,
    fork_command,
    opened,
    process,
    resulted,
    trained,
    turned,
)

LOST = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)


def forked(**told: Any) -> World:
    """A trained world with the fork j0002, whose call is as told."""
    world = trained()
    world.do(evolve(fork_command(), call=evolve(call("s-2", "work"), **told)))
    return world


def ended(world: World, command: End) -> JobEnded:
    """End a job, and return its end."""
    return next(event for event in world.do(command) if isinstance(event, JobEnded))


@pytest.mark.rule("B25.7")
class TestSession:
    """A job's session is the one that its client reported."""

    def test_reported(self) -> None:
        """Where none was reported it is the one that was told to the client."""
        assert ended(forked(), end("j0002", (opened("j0002", "told"),))).session == "told"
        assert ended(forked(), end("j0002")).session == "s-2"


@pytest.mark.rule("B25.7")
class TestWallTime:
    """How long it took is told by the supervisor, else reckoned, in tenths of a second."""

    def test_told(self) -> None:
        """What the supervisor measured counts."""
        assert ended(forked(), evolve(end("j0002"), wall_s=1.26)).wall_s == 1.3

    def test_reckoned(self) -> None:
        """It counts from the client's start, else the launch, else the creation."""
        created, launched, running = forked(), forked(), forked()
        launched.do(LaunchJob(job="j0002", supervisor=process(7)))
        running.run("j0002")
        for world in (created, launched, running):
            world.later(6.24)
            assert ended(world, end("j0002")).wall_s == 7.2

    def test_a_clock_that_was_set_back(self) -> None:
        """No job took less than no time."""
        world = forked()
        world.later(-3600)
        assert ended(world, end("j0002")).wall_s == 0.0

    @pytest.mark.rule("B28.2")
    def test_lost(self) -> None:
        """A lost job took until its last sign of life, however late it was found."""
        created, launched, running, beaten, heard = (forked() for _ in range(5))
        launched.do(LaunchJob(job="j0002", supervisor=process(7)))
        for world in (running, beaten, heard):
            world.run("j0002")
        for world in (beaten, heard):
            world.later(6.24)
            world.do(Beat(job="j0002", output_at=None, flags=()))
        heard.do(Hear(job="j0002", after=0, said=(opened("j0002", "s-2"),)))
        for world, wall_s in (
            *((created, 0.0), (launched, 0.0), (running, 0.0)),
            *((beaten, 7.2), (heard, 8.2)),
        ):
            world.later(3600)
            assert ended(world, end("j0002", imposed=LOST)).wall_s == wall_s

    @pytest.mark.rule("B28.2")
    def test_lost_by_a_clock_that_was_set_back(self) -> None:
        """Nor did a lost one whose last sign seems to lie before its start."""
        world = forked()
        world.run("j0002")
        world.later(-3600)
        world.do(Beat(job="j0002", output_at=None, flags=()))
        world.later(7200)
        assert ended(world, end("j0002", imposed=LOST)).wall_s == 0.0


@pytest.mark.rule("B24.4")
class TestDrift:
    """What had drifted at the launch, and what the client reported, are told together."""

    def test_all_of_it(self) -> None:
        """The names come sorted, and each once."""
        fixed = ("agent", "append_system_prompt", "binary", "settings", "tools")
        reported = ("agents", "apiKeySource", "permissionMode", "plugins", "tools")
        runtime = Map(dict.fromkeys(reversed(reported), "other"))
        said = (evolve(opened("j0002", "s-2"), runtime=runtime),)
        told = ended(forked(drift=fixed), end("j0002", said)).drift
        assert told == tuple(sorted({*fixed, *reported}))

    def test_none(self) -> None:
        """A client that reports what its base's did has not drifted."""
        assert ended(forked(), end("j0002", (opened("j0002", "s-2"),))).drift == ()


@pytest.mark.rule("B25.5")
class TestFlags:
    """Flags stay in the order in which they were raised, each once."""

    def test_held(self) -> None:
        """A job that ends while it is held was held, and one that was only launched was not."""
        world = forked()
        world.do(LaunchJob(job="j0002", supervisor=process(7)))
        registry = world.registry
        assert ended(world, end("j0002")).flags == ()
        world.registry = registry
        world.do(HoldJob(job="j0002", behind="j0001"))
        assert ended(world, end("j0002")).flags == (Flag.HELD,)

    def test_beaten(self) -> None:
        """What a beat has told is not lost when somebody else ends the job."""
        world = forked()
        world.run("j0002")
        world.do(Beat(job="j0002", output_at=None, flags=(Flag.STALLED,)))
        command = evolve(end("j0002"), flags=(Flag.LEFTOVERS_SWEPT, Flag.STALLED))
        assert ended(world, command).flags == (Flag.STALLED, Flag.LEFTOVERS_SWEPT)

    @pytest.mark.parametrize(("prompt", "flags"), [(5, (Flag.USAGE_MISMATCH,)), (15_000, ())])
    def test_usage_mismatch(self, prompt: int, flags: tuple[Flag, ...]) -> None:
        """More prompt tokens seen than booked are flagged, and no more than that."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        said = (opened("j0001", "s-1"), turned("j0001"), resulted("j0001", prompt=prompt))
        assert ended(world, end("j0001", said)).flags == flags


@pytest.mark.rule("B25.7")
class TestNote:
    """Whether the note is there is seen by whoever ends the job."""

    def test_told(self) -> None:
        """Unless it was seen there is none."""
        assert ended(forked(), end("j0002")).note is False
        assert ended(forked(), evolve(end("j0002"), note=True)).note is True


@pytest.mark.rule("B25.12")
class TestBase:
    """What a training makes of its base."""

    @pytest.mark.rule("B21.9")
    @pytest.mark.parametrize(("head", "commit"), [("d" * 40, "d" * 40), (None, "c" * 40)])
    def test_commit(self, head: str | None, commit: str) -> None:
        """Its commit is HEAD now, and where that is not known, HEAD at its launch."""
        assert self._trained(evolve(self._good(), head=head)).commit == commit

    def test_runtime(self) -> None:
        """What its client reported of its surroundings is kept, also that it reported nothing."""
        assert self._trained(self._good()).runtime == Map({"permissionMode": "dontAsk"})
        said = (turned("j0001"), resulted("j0001"))
        assert self._trained(end("j0001", said)).runtime == Map()

    def _good(self) -> End:
        return end("j0001", (opened("j0001", "s-1"), turned("j0001"), resulted("j0001")))

    def _trained(self, command: End) -> BaseTrained:
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        said = decide(command, world.registry, world.now)
        return next(event for event in said if isinstance(event, BaseTrained))
