"""What a call leaves behind is swept, however it has detached itself."""

import pytest

from tests.driver import Run
from tests.log_view import Line
from tests.processes import a_nap, is_alive, napping, until


@pytest.mark.rule("B21.9", "D2")
class TestLeftovers:
    """When a job has ended nothing of it runs any more; that there was something is flagged."""

    def test_every_kind(self, inited: Run) -> None:
        """A plain child, one in a session of its own, one that holds the output, one unmarked."""
        gone = inited.folder / "gone"
        plain, detached, holding, unmarked = (a_nap() for _ in range(4))
        steps: dict[str, Line] = {
            plain: {"leave": {"kind": "plain", "seconds": plain}},
            detached: {"leave": {"kind": "setsid", "seconds": detached, "stubborn": True}},
            holding: {"leave": {"kind": "stdout", "seconds": holding}},
        }
        jobs = {nap: inited.train(step, base=nap) for nap, step in steps.items()}
        script = f"touch '{gone}'; exec sleep {unmarked}"
        tool = f'env -i setsid sh -c "{script}" < /dev/null > /dev/null 2>&1 &'
        # The client ends the group of its tools: this child must have left it by then.
        jobs[unmarked] = inited.train({"tool": tool}, {"wait_for": str(gone)}, {"say": "x"})
        for nap, job in jobs.items():
            end = inited.end_of(job)
            assert (nap, end["status"], end["reason"]) == (nap, "ok", None)
            assert "leftovers_swept" in end["flags"], nap
            assert end["wall_s"] < 10
            until(lambda nap=nap: not napping(nap), 5.0)  # type: ignore[misc]
            assert inited.job_processes(job) == [] or inited.living()

    def test_nothing_left(self, inited: Run) -> None:
        """A call that cleans up after itself is not flagged."""
        job = inited.trained({"tool": "sleep 0.05 & wait"}, {"say": "done"})
        assert inited.end_of(job)["flags"] == []

    def test_a_deaf_client(self, run: Run) -> None:
        """A client that ignores polite signals, and its tool's child, are ended all the same."""
        run.init("--max-minutes", "0.02")
        nap = a_nap()
        job = run.train({"deaf": True}, {"tool": f"setsid sleep {nap} & sleep 60"})
        client = run.started(job)["pid"]
        assert run.end_of(job)["status"] == "timeout"
        until(lambda: not is_alive(client) and not napping(nap), 5.0)
