"""Forking a base."""

import pytest
from attrs import evolve

from forks_core.decider.fork import Fork
from forks_core.decider.jobs import Hear
from forks_core.decider.train import Train
from forks_core.errors import Refused
from forks_events.bases import BaseHit
from forks_events.jobs import JobCreated, JobEnded
from forks_events.run import OrchestratorSeen
from forks_events.sessions import SessionCounted
from forks_events.words import Cache, Flag, Kind, Mode, Status, Warmth
from tests.decider.world import (
    INIT,
    World,
    call,
    end,
    fork_command,
    opened,
    resulted,
    trained,
    turned,
)


def fork(world: World, command: Fork) -> JobCreated:
    """Fork, and return the job."""
    job = world.do(command)[-1]
    assert isinstance(job, JobCreated)
    return job


class TestFork:
    """A fork starts from an active base, on the base's launch."""

    @pytest.mark.rule("B14.5", "B16.7", "B22.6")
    def test_it_knows_what_it_starts_from(self) -> None:
        """Parent, its counters, context and warmth are taken when the fork is decided."""
        world = trained()
        job = fork(world, fork_command())
        assert (job.job, job.kind, job.base) == ("j0002", Kind.FORK, "main")
        assert (job.parent_session, job.session) == ("s-1", "s-2")
        assert job.spent_before == world.registry.sessions["s-1"]
        assert (job.base_context, job.base_state) == (15_012, Warmth.WARM)
        assert job.fingerprint == world.registry.bases["main"].fingerprint
        assert (job.max_s, job.stagger_s, job.forced) == (5400, 20, False)

    def test_its_own_limits_win(self) -> None:
        """Limits of the call stand before those of the run."""
        command = evolve(fork_command(), max_s=60.0, stagger_s=0.0, max_budget_usd=1.5)
        job = fork(trained(), command)
        assert (job.max_s, job.stagger_s, job.max_budget_usd) == (60, 0, 1.5)

    @pytest.mark.rule("B16.4")
    def test_an_unknown_base_is_refused_with_the_known_ones(self) -> None:
        """The caller is told which bases there are, in order."""
        world = trained()
        world.do(*(Train(base=name, call=call(f"s-{name}")) for name in "hgfedcba"))
        with pytest.raises(Refused, match="unknown base") as refused:
            world.do(fork_command(base="other"))
        assert refused.value.fields == {"base": "other", "bases": [*"abcdefgh", "main"]}

    def test_who_forks_is_the_orchestrator(self) -> None:
        """That it was seen is said first, in the same commit."""
        world = trained()
        world.later(61)
        assert isinstance(world.do(fork_command())[0], OrchestratorSeen)

    @pytest.mark.rule("B16.4", "B16.7")
    def test_a_base_that_is_not_active_needs_force(self) -> None:
        """A training base is refused; with force it is forked, and that is recorded."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        with pytest.raises(Refused, match="not active") as refused:
            world.do(fork_command())
        assert refused.value.fields == {"base": "main", "status": "training"}
        job = fork(world, evolve(fork_command(), force=True))
        assert (job.forced, job.base_context, job.base_state) == (True, None, Warmth.COLD)

    @pytest.mark.rule("B16.7")
    def test_force_that_was_not_needed_is_not_recorded(self) -> None:
        """Forced means that a refusal was overridden."""
        assert not fork(trained(), evolve(fork_command(), force=True)).forced

    @pytest.mark.rule("D3")
    @pytest.mark.parametrize("block", ["", "  ", None])
    def test_an_empty_block_is_refused(self, block: str | None) -> None:
        """The work has a name."""
        command = evolve(fork_command(), call=call("s-2", block))
        with pytest.raises(Refused, match="empty block") as refused:
            trained().do(command)
        assert refused.value.fields == {"block": block}

    @pytest.mark.rule("D3")
    def test_two_blocks_never_share_a_note(self) -> None:
        """Names that differ only in what a file name cannot hold would overwrite each other."""
        world = trained()
        world.do(fork_command(block="a b"))
        with pytest.raises(Refused, match="note file") as refused:
            world.do(fork_command(session="s-3", block="a_b"))
        assert refused.value.fields == {"block": "a_b", "owner": "a b", "note": "a_b.md"}
        fork(world, fork_command(session="s-3", block="a b"))

    @pytest.mark.rule("B16.8")
    def test_paths_may_overlap(self) -> None:
        """Nobody compares paths: what forks beside each other may touch is the caller's to know."""
        world = trained()
        for session, block, mode in (
            ("s-2", "one", Mode.PARALLEL),
            ("s-3", "two", Mode.SEQUENTIAL),
        ):
            command = evolve(fork_command(session=session, block=block), mode=mode)
            assert fork(world, evolve(command, paths=("src", "src/a.py"))).paths is not None


@pytest.mark.rule("B16.5")
class TestTheCap:
    """At most as many forks run as the cap says; trainings do not count."""

    def test_the_third_fork_waits_for_a_place(self) -> None:
        """With a cap of 2, a place is free again when a fork has ended."""
        world = trained()
        world.do(Train(base="other", call=call("s-8")))
        world.do(fork_command(session="s-2"), fork_command(session="s-3"))
        with pytest.raises(Refused, match="parallel cap reached") as refused:
            world.do(fork_command(session="s-4"))
        assert refused.value.fields == {"parallel_cap": 2, "running": ["j0003", "j0004"]}
        world.do(end("j0003", exit_code=1))
        assert fork(world, fork_command(session="s-4")).job == "j0005"


class TestTheEndOfAFork:
    """A fork books what it used itself, and what it found in the cache."""

    def test_its_cost_is_its_own(self) -> None:
        """Counters that the client carried on from the base are taken off."""
        world = trained()
        world.do(fork_command())
        world.run("j0002")
        said = (
            opened("j0002", "s-2"),
            turned("j0002", world.now, read=15_012, written=50),
            resulted("j0002", cost_usd=0.11, prompt=15_000 + 15_062),
        )
        ended, counted = world.do(end("j0002", said))[-2:]
        assert isinstance(ended, JobEnded)
        assert (ended.status, ended.cache, ended.cost_usd) == (Status.OK, Cache.HIT, 0.01)
        assert isinstance(counted, SessionCounted)
        assert (counted.session, counted.spent.cost_usd) == ("s-2", 0.11)

    @pytest.mark.rule("B25.6")
    @pytest.mark.parametrize(
        ("read", "verdict"), [(15_012, Cache.HIT), (7_000, Cache.PARTIAL), (0, Cache.MISS)]
    )
    def test_a_miss_without_drift_is_a_cold_start(self, read: int, verdict: Cache) -> None:
        """Without anything that differs, a prefix that was not read was not there."""
        world = trained()
        world.do(fork_command())
        world.run("j0002")
        said = (opened("j0002", "s-2"), turned("j0002", world.now, read=read), resulted("j0002"))
        ended = next(event for event in world.do(end("j0002", said)) if isinstance(event, JobEnded))
        assert ended.cache is verdict
        assert (Flag.COLD_START in ended.flags) == (verdict is not Cache.HIT)

    @pytest.mark.rule("B21.7", "B25.11")
    def test_the_first_response_hits_the_base_at_once(self) -> None:
        """The base is warm again from a fork's first response on, before the fork ends."""
        world = trained()
        world.do(fork_command())
        world.run("j0002")
        world.later(600)
        seen_at = world.now
        said = (opened("j0002", "s-2"), turned("j0002", seen_at))
        events = world.do(Hear(job="j0002", after=0, said=said))
        assert events[-1] == BaseHit(at=world.now, base="main", hit_at=seen_at)
        again = (turned("j0002", world.now),)
        assert not [
            event
            for event in world.do(Hear(job="j0002", after=2, said=again))
            if isinstance(event, BaseHit)
        ]

    def test_the_mode_and_paths_are_kept(self) -> None:
        """What a parallel fork may touch is part of the intent."""
        command = evolve(fork_command(), mode=Mode.PARALLEL, paths=("a.txt",))
        job = fork(trained(), command)
        assert (job.mode, job.paths) == (Mode.PARALLEL, ("a.txt",))
