"""Expiring bases."""

import pytest

from forks_core.decider.expire import Expire
from forks_core.decider.train import Train
from forks_core.errors import Refused
from forks_core.registry import Retired
from forks_events.bases import BaseRetired
from forks_events.jobs import JobEnded
from forks_events.words import Status
from tests.decider.world import INIT, World, call, end, fork_command, opened, resulted, trained


class TestExpire:
    """A retired base is never forked and never active again."""

    @pytest.mark.rule("B30.2")
    def test_it_is_retired_once(self) -> None:
        """The second time nothing is said."""
        world = trained()
        assert world.do(Expire(base="main")) == (BaseRetired(at=world.now, base="main"),)
        assert world.do(Expire(base="main")) == ()

    @pytest.mark.rule("B30.2")
    def test_all_of_them(self) -> None:
        """Without a name every base that is not retired yet is, in the order of names."""
        world = trained()
        world.do(Expire(base="main"))
        world.do(*(Train(base=name, call=call(f"s-{name}")) for name in "hgfedcba"))
        assert world.do(Expire(base=None)) == tuple(
            BaseRetired(at=world.now, base=name) for name in "abcdefgh"
        )

    @pytest.mark.rule("B30.4")
    def test_all_of_none(self) -> None:
        """Without any base there is nothing to say."""
        world = World()
        world.do(INIT)
        assert world.do(Expire(base=None)) == ()

    @pytest.mark.rule("B30.1")
    def test_an_unknown_base_is_refused(self) -> None:
        """The caller is told which bases there are, in order."""
        world = trained()
        world.do(*(Train(base=name, call=call(f"s-{name}")) for name in "hgfedcba"))
        with pytest.raises(Refused, match="unknown base") as refused:
            world.do(Expire(base="other"))
        assert refused.value.fields == {"base": "other", "bases": [*"abcdefgh", "main"]}

    def test_it_needs_an_init(self) -> None:
        """Before init there is nothing to expire, all of it neither."""
        with pytest.raises(Refused, match="call init first"):
            World().do(Expire(base=None))

    def test_it_is_not_forked_any_more(self) -> None:
        """Its name stays taken, and its status tells why."""
        world = trained()
        world.do(Expire(base="main"))
        with pytest.raises(Refused, match="not active") as refused:
            world.do(fork_command())
        assert refused.value.fields["status"] == "retired"
        with pytest.raises(Refused, match="base exists"):
            world.do(Train(base="main", call=call("s-9")))

    @pytest.mark.rule("B25.12")
    def test_a_training_that_ends_later_leaves_it_retired(self) -> None:
        """The job is booked; the base gets nothing of it."""
        world = World()
        world.do(INIT, Train(base="main", call=call()))
        world.run("j0001")
        world.do(Expire(base="main"))
        said = world.do(end("j0001", (opened("j0001", "s-1"), resulted("j0001"))))
        (ended,) = [event for event in said if isinstance(event, JobEnded)]
        assert ended.status is Status.OK
        assert isinstance(world.registry.bases["main"].state, Retired)
        assert world.registry.bases["main"].active is None
