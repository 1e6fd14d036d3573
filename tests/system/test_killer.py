"""Killing: the wish is written, the processes are ended, then what came of it."""

import pytest

from forks_core.system.killer import kill
from forks_events.words import Reason
from tests.driver import Run
from tests.processes import a_nap, is_alive, napping, until


@pytest.mark.rule("B29.4")
class TestKill:
    """A kill ends the client, its supervisor and all that carries the job's mark; nobody else."""

    def test_one_of_two(self, inited: Run) -> None:
        """The other job goes on as if nothing had been."""
        go, nap = inited.folder / "go", a_nap()
        first = inited.train({"leave": {"kind": "setsid", "seconds": nap}}, {"sleep": 60}, base="a")
        second = inited.train({"wait_for": str(go)}, base="b")
        mine = {inited.supervisor(first), inited.started(first)["pid"]}
        other = {inited.supervisor(second), inited.started(second)["pid"]}
        until(lambda: bool(napping(nap)))
        with inited.opened() as opened:
            found = kill(opened, first, Reason.KILL)
        assert found.killed
        assert mine | set(napping(nap)) <= {process.pid for process in found.snapshot}
        assert found.survivors == []
        assert not any(is_alive(pid) for pid in mine)
        assert all(is_alive(pid) for pid in other)
        assert inited.job_processes(first) == []
        go.touch()
        assert inited.end_of(second)["status"] == "ok"
        assert (inited.end_of(first)["status"], inited.end_of(first)["reason"]) == (
            "killed",
            "kill",
        )

    @pytest.mark.rule("B29.3")
    def test_the_wish_comes_first(self, inited: Run) -> None:
        """The wish is in the log before the end is, and both only once."""
        job = inited.train({"sleep": 60})
        inited.started(job)
        with inited.opened() as opened:
            kill(opened, job, Reason.KILL)
            assert not kill(opened, job, Reason.KILL).killed
        kinds = [kind for kind in inited.kinds(job) if kind in {"KillRequested", "JobEnded"}]
        assert kinds == ["KillRequested", "JobEnded"]

    @pytest.mark.rule("B7.7", "D2")
    def test_unmarked_but_below(self, inited: Run) -> None:
        """While the supervisor lives, a child without mark, group and session is found too."""
        nap = a_nap()
        hidden = f"env -i setsid sleep {nap} < /dev/null > /dev/null 2>&1 &"
        job = inited.train({"tool": hidden}, {"sleep": 60})
        until(lambda: bool(napping(nap)))
        with inited.opened() as opened:
            kill(opened, job, Reason.KILL)
        assert napping(nap) == []

    def test_a_good_result_survives(self, inited: Run) -> None:
        """A client that had given its good result did its work, whoever ended it then."""
        job = inited.train({"say": "done"}, {"linger": 60})
        inited.wait_for(lambda: bool(inited.events("StreamResulted", job)))
        inited.want_killed(job)
        end = inited.end_of(job)
        assert (end["status"], end["flags"]) == ("ok", ["killed_after_result"])
        assert len(inited.events("BaseTrained")) == 1
