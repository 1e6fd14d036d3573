"""Training a base."""

import pytest

from forks_core.decider.train import Train
from forks_core.errors import Refused
from forks_core.registry import Active, Failed
from forks_core.rules.outcome import Imposed
from forks_events.bases import BaseCreated, BaseFailed, BaseHit, BaseTrained
from forks_events.jobs import JobCreated, JobEnded
from forks_events.sessions import SessionCounted
from forks_events.words import Kind, Reason, Status
from tests.decider.world import INIT, World, call, end, opened, resulted, trained, turned


class TestTrain:
    """A name is trained once; only a training that failed gives it back."""

    def test_the_job_and_its_base_are_one_commit(self) -> None:
        """The intent names the job, the session, and the run's limit in seconds."""
        world = World()
        world.do(INIT)
        _, job, base = world.do(Train(base="main", call=call("s-9")))
        assert isinstance(job, JobCreated)
        assert (job.job, job.kind, job.session, job.max_s) == ("j0001", Kind.TRAIN, "s-9", 5400)
        assert (job.parent_session, job.spent_before, job.base_state) == (None, None, None)
        assert (job.stagger_s, job.forced, job.continues) == (0, False, None)
        assert isinstance(base, BaseCreated)
        assert (base.base, base.job, base.session) == ("main", "j0001", "s-9")

    @pytest.mark.rule("B15.2")
    @pytest.mark.parametrize("name", ["", "a b", "../x", "ä", "a/b"])
    def test_a_bad_name_is_refused(self, name: str) -> None:
        """A base's name has letters, digits and . _ - only."""
        world = World()
        world.do(INIT)
        with pytest.raises(Refused, match="bad base name") as refused:
            world.do(Train(base=name, call=call()))
        assert refused.value.fields == {"base": name}

    @pytest.mark.rule("B15.3")
    def test_a_base_that_is_training_or_active_keeps_its_name(self) -> None:
        """The refusal tells the status that stands in the way."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        with pytest.raises(Refused, match="base exists") as refused:
            world.do(Train(base="main", call=call("s-2")))
        assert refused.value.fields == {"base": "main", "status": "training"}
        with pytest.raises(Refused, match="base exists") as refused:
            trained().do(Train(base="main", call=call("s-2")))
        assert refused.value.fields == {"base": "main", "status": "active"}

    @pytest.mark.rule("B15.4")
    def test_training_is_not_limited_by_the_cap(self) -> None:
        """More trainings than the cap of 2 run at once."""
        world = World()
        world.do(INIT)
        for name in ("a", "b", "c"):
            world.do(Train(base=name, call=call(f"s-{name}")))
        assert len(world.registry.jobs) == 3


class TestTheEndOfATraining:
    """Ok makes the base active; any other end fails it, and its name is free again."""

    @pytest.mark.rule("B22.6", "B25.11", "B25.12", "D10")
    def test_ok_makes_it_active(self) -> None:
        """The end, the counters, the base and its hit are said together."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        world.run("j0001")
        seen_at = world.now
        said = (opened("j0001", "s-1"), turned("j0001", seen_at), resulted("j0001", 0.1))
        *heard, ended, counted, active, hit = world.do(end("j0001", said))
        assert [type(event).__name__ for event in heard] == [
            "StreamOpened",
            "StreamTurned",
            "StreamResulted",
        ]
        assert isinstance(ended, JobEnded)
        assert (ended.status, ended.cost_usd) == (Status.OK, 0.1)
        assert isinstance(counted, SessionCounted)
        assert (counted.session, counted.spent.cost_usd) == ("s-1", 0.1)
        assert isinstance(active, BaseTrained)
        assert (active.session, active.context_tokens) == ("s-1", 15_012)
        assert hit == BaseHit(at=world.now, base="main", hit_at=seen_at)
        assert isinstance(world.registry.bases["main"].state, Active)

    @pytest.mark.rule("B15.3", "B25.12", "D10")
    def test_any_other_end_fails_it_and_frees_the_name(self) -> None:
        """A failed base can be trained again under the same name, by another job."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        world.run("j0001")
        assert BaseFailed(at=world.now, base="main") not in world.events
        said = world.do(end("j0001", exit_code=1))
        assert said[-1] == BaseFailed(at=world.now, base="main")
        assert isinstance(world.registry.bases["main"].state, Failed)
        world.do(Train(base="main", call=call("s-2")))
        assert world.registry.bases["main"].job == "j0002"

    def test_a_late_end_of_a_replaced_training_leaves_the_new_base_alone(self) -> None:
        """Only the base's own train job decides over it."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        lost = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)
        world.later(121)
        world.do(end("j0001", imposed=lost))
        world.do(Train(base="main", call=call("s-2")))
        assert world.do(end("j0001", (opened("j0001", "s-1"), resulted("j0001")))) == ()
        assert world.registry.bases["main"].job == "j0002"
