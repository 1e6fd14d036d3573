"""Continuing a fork."""

from datetime import timedelta

import pytest
from attrs import evolve

from forks_core.decider.continue_ import Continue, session_of
from forks_core.decider.expire import Expire
from forks_core.decider.jobs import Hear
from forks_core.errors import Refused
from forks_core.rules.outcome import Imposed
from forks_events.bases import BaseHit
from forks_events.jobs import JobCreated, JobEnded
from forks_events.run import OrchestratorSeen
from forks_events.words import Kind, Mode, Status, Warmth
from tests.decider.world import World, call, end, fork_command, opened, resulted, trained, turned


def forked() -> World:
    """A trained world whose fork j0002 has ended, and cost 0.01 of the 0.11 on its session."""
    world = trained()
    world.do(evolve(fork_command(), mode=Mode.PARALLEL, paths=("a.txt",)))
    world.run("j0002")
    said = (
        opened("j0002", "s-2"),
        turned("j0002", world.now, read=15_012, written=50),
        resulted("j0002", cost_usd=0.11, prompt=15_000 + 15_062),
    )
    world.do(end("j0002", said))
    return world


def continue_command(job: str = "j0002", request: str = "r-1") -> Continue:
    """A continue with nothing special about it."""
    return Continue(job=job, call=evolve(call("s-2", "work"), request=request), max_s=None)


def continued(world: World, command: Continue) -> JobCreated:
    """Continue, and return the job."""
    job = world.do(command)[-1]
    assert isinstance(job, JobCreated)
    return job


class TestContinue:
    """A fork's session goes on, on the fork's terms."""

    @pytest.mark.rule("B17.6", "B25.10")
    def test_it_takes_over_what_the_fork_was(self) -> None:
        """Base, session, mode and paths are the fork's; the counters are its session's own."""
        world = forked()
        job = continued(world, continue_command())
        assert (job.job, job.kind, job.continues, job.base) == (
            "j0003",
            Kind.CONTINUE,
            "j0002",
            "main",
        )
        assert (job.session, job.parent_session) == ("s-2", "s-1")
        assert (job.mode, job.paths, job.stagger_s) == (Mode.PARALLEL, ("a.txt",), 0)
        assert job.spent_before is not None
        assert job.spent_before.cost_usd == 0.11
        assert job.base_context == 15_012

    @pytest.mark.rule("B17.6")
    def test_without_counters_of_its_own_the_base_s_count(self) -> None:
        """A fork that never came to a result may still carry its base's counters on."""
        world = trained()
        world.do(fork_command())
        world.do(end("j0002", exit_code=1))
        job = continued(world, continue_command())
        assert job.spent_before == world.registry.sessions["s-1"]

    def test_its_own_limit_wins(self) -> None:
        """Without a limit of its own it has the run's, whatever the fork had."""
        world = trained()
        world.do(evolve(fork_command(), max_s=7.0), end("j0002"))
        assert continued(world, continue_command()).max_s == 5400
        world.do(end("j0003"))
        command = evolve(continue_command(request="r-2"), max_s=60.0)
        assert continued(world, command).max_s == 60

    def test_it_knows_how_warm_its_base_is(self) -> None:
        """The base's prefix may have gone cold since the fork, which is told of this call."""
        world = forked()
        job = continued(world, continue_command())
        last_hit = world.registry.bases["main"].last_hit
        assert last_hit is not None
        assert (job.base_state, job.warm_until) == (Warmth.WARM, last_hit + timedelta(hours=1))
        world.do(end("j0003"))
        world.later(3600)
        assert continued(world, continue_command(request="r-2")).base_state is Warmth.COLD

    def test_asked_again(self) -> None:
        """The same request again creates no second job, and says that nobody was seen."""
        world = forked()
        world.later(61)
        assert isinstance(world.do(continue_command())[0], OrchestratorSeen)
        assert world.do(continue_command()) == ()

    def test_the_session_that_was_reported(self) -> None:
        """A fork's session is the one that its client told, and until then the one it was told."""
        world = trained()
        world.do(fork_command())
        assert session_of(world.registry.jobs["j0002"]) == "s-2"
        said = (opened("j0002", "told"), turned("j0002"), resulted("j0002", cost_usd=0.2))
        world.do(end("j0002", said))
        assert session_of(world.registry.jobs["j0002"]) == "told"
        spent = continued(world, continue_command()).spent_before
        assert spent == world.registry.sessions["told"] != world.registry.sessions["s-1"]

    @pytest.mark.rule("B17.4")
    @pytest.mark.parametrize("status", [Status.FAILED, Status.TIMEOUT, Status.KILLED])
    def test_however_the_fork_ended(self, status: Status) -> None:
        """A failed, killed or timed-out fork can be continued."""
        world = trained()
        world.do(fork_command(), end("j0002", imposed=Imposed(status=status)))
        assert continued(world, continue_command()).continues == "j0002"

    @pytest.mark.rule("B17.4")
    def test_its_base_may_be_retired(self) -> None:
        """Expiring a base stops new forks, not the work of old ones."""
        world = forked()
        world.do(Expire(base="main"))
        assert continued(world, continue_command()).base == "main"

    def test_its_first_response_hits_the_base(self) -> None:
        """It reads the base's prefix, as its fork did."""
        world = forked()
        continued(world, continue_command())
        world.run("j0003")
        said = (opened("j0003", "s-2"), turned("j0003", world.now))
        assert isinstance(world.do(Hear(job="j0003", after=0, said=said))[-1], BaseHit)

    @pytest.mark.rule("B25.10")
    def test_its_cost_is_its_own(self) -> None:
        """What its session's counters held before is taken off."""
        world = forked()
        continued(world, continue_command())
        world.run("j0003")
        said = (
            opened("j0003", "s-2"),
            turned("j0003", world.now, read=15_062, written=50),
            resulted("j0003", cost_usd=0.13, prompt=15_000 + 15_062 + 15_112),
        )
        (ended,) = [e for e in world.do(end("j0003", said)) if isinstance(e, JobEnded)]
        assert ended.cost_usd == pytest.approx(0.02)
        assert world.registry.sessions["s-2"].cost_usd == 0.13


class TestRefused:
    """Only a fork that is over can go on."""

    @pytest.mark.rule("B17.2")
    def test_an_unknown_job(self) -> None:
        """There is nothing to continue."""
        with pytest.raises(Refused, match="unknown job"):
            forked().do(continue_command("j0009"))

    @pytest.mark.rule("B17.2")
    def test_a_training_and_a_continue(self) -> None:
        """The fork is named, always: neither a training nor a continue will do."""
        world = forked()
        world.do(continue_command(), end("j0003"))
        for job, kind in (("j0001", "train"), ("j0003", "continue")):
            with pytest.raises(Refused, match="continue takes a fork job") as refused:
                world.do(continue_command(job, "r-2"))
            assert refused.value.fields == {"job": job, "kind": kind}

    @pytest.mark.rule("B17.3")
    def test_while_the_fork_or_a_continue_of_it_runs(self) -> None:
        """Two calls on one session would run into each other."""
        world = trained()
        world.do(fork_command())
        with pytest.raises(Refused, match="still running") as refused:
            world.do(continue_command())
        assert refused.value.fields == {"job": "j0002", "running": ["j0002"]}
        world.do(end("j0002"), continue_command())
        with pytest.raises(Refused, match="still running") as refused:
            world.do(continue_command(request="r-2"))
        assert refused.value.fields["running"] == ["j0003"]

    @pytest.mark.rule("B16.5", "B17.4")
    def test_beyond_the_cap(self) -> None:
        """Continues count as forks do."""
        world = forked()
        world.do(fork_command(session="s-3"), fork_command(session="s-4"))
        with pytest.raises(Refused, match="parallel cap reached"):
            world.do(continue_command())
        world.do(end("j0003"), continue_command())
        with pytest.raises(Refused, match="parallel cap reached") as refused:
            world.do(fork_command(session="s-5"))
        assert refused.value.fields["running"] == ["j0004", "j0005"]
