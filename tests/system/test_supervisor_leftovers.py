"""What a call leaves behind is swept, however it has detached itself."""

from tests.driver import Run
from tests.log_view import Line
from tests.processes import is_alive, napping, until


class TestLeftovers:
    """When a job has ended nothing of it runs any more; that there was something is flagged."""

    def test_every_kind(self, inited: Run) -> None:
        """A plain child, one in a session of its own, one that holds the output, one unmarked."""
        gone = inited.folder / "gone"
        nap = f"touch '{gone}'; exec sleep 3604.25"
        unmarked = f'env -i setsid sh -c "{nap}" < /dev/null > /dev/null 2>&1 &'
        steps: dict[str, Line] = {
            "3601.25": {"leave": {"kind": "plain", "seconds": 3601.25}},
            "3602.25": {"leave": {"kind": "setsid", "seconds": 3602.25, "stubborn": True}},
            "3603.25": {"leave": {"kind": "stdout", "seconds": 3603.25}},
        }
        jobs = {nap: inited.train(step, base=nap) for nap, step in steps.items()}
        # The client ends the group of its tools: this child must have left it by then.
        jobs["3604.25"] = inited.train({"tool": unmarked}, {"wait_for": str(gone)}, {"say": "x"})
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
        job = run.train({"deaf": True}, {"tool": "setsid sleep 3605.25 & sleep 60"})
        client = run.started(job)["pid"]
        assert run.end_of(job)["status"] == "timeout"
        until(lambda: not is_alive(client) and not napping("3605.25"), 5.0)
