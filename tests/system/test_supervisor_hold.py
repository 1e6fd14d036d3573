"""Siblings that start together are held back behind the first one's first response."""

import pytest

from tests.driver import Run, ok


def row(run: Run, job: str) -> tuple[str, list[str]]:
    """A job's status and flags, as ``list`` shows them."""
    rows = {row["job"]: row for row in ok(run.ask("list"))["jobs"]}
    return rows[job]["status"], rows[job]["flags"]


@pytest.mark.rule("D11")
class TestHeld:
    """A fork's client starts once no earlier fork of the base is without its first response."""

    def test_behind_the_first(self, ready: Run) -> None:
        """The second is held, created, until the first has answered; then it hits the cache."""
        go = ready.folder / "go"
        first = ready.fork({"wait_for": str(go)}, {"say": "first"})
        ready.started(first)
        second = ready.fork(block="other", words=("--stagger-s", "60"))
        ready.wait_for(lambda: bool(ready.events("JobHeld", second)))
        assert ready.events("JobHeld", second) == [{"job": second, "behind": first}]
        assert row(ready, second) == ("created", ["held"])
        go.touch()
        assert ready.end_of(second)["status"] == "ok"
        ready.end_of(first)
        order = [(line["type"], line["data"].get("job")) for line in ready.log()]
        assert order.index(("StreamTurned", first)) < order.index(("ClientStarted", second))
        end = ready.end_of(second)
        assert (end["flags"], end["cache"]) == (["held"], "hit")
        assert len(ready.events("JobHeld", second)) == 1

    def test_not_for_ever(self, ready: Run) -> None:
        """After the longest wait it starts anyway; with 0 it is not held at all."""
        go = ready.folder / "go"
        first = ready.fork({"wait_for": str(go)})
        second = ready.fork(block="other", words=("--stagger-s", "1"))
        ready.started(second)
        assert ready.events("StreamTurned", first) == []
        assert ready.events("JobHeld", second) != []
        ready.end_of(second)
        third = ready.fork(block="third")
        ready.started(third)
        assert ready.events("JobHeld", third) == []
        go.touch()
        assert {ready.end_of(job)["status"] for job in (first, second, third)} == {"ok"}

    def test_killed_while_held(self, ready: Run) -> None:
        """A job that is killed while it is held never starts its client."""
        go = ready.folder / "go"
        first = ready.fork({"wait_for": str(go)})
        second = ready.fork(block="other", words=("--stagger-s", "60"))
        ready.wait_for(lambda: bool(ready.events("JobHeld", second)))
        content = ok(ready.ask("kill", "--job", second))
        assert (content["killed"], content["status"]) == (True, "killed")
        go.touch()
        ready.end_of(first)
        assert ready.events("ClientStarted", second) == []
        assert not (ready.state / "raw" / f"{second}.jsonl").exists()
        assert ready.job_processes(second) == []

    def test_killed_in_the_log_alone(self, ready: Run) -> None:
        """A held supervisor that reads the wish in the log ends the job itself."""
        go = ready.folder / "go"
        ready.fork({"wait_for": str(go)})
        second = ready.fork(block="other", words=("--stagger-s", "60"))
        ready.wait_for(lambda: bool(ready.events("JobHeld", second)))
        ready.want_killed(second)
        end = ready.end_of(second)
        assert (end["status"], end["reason"], end["wall_s"]) == ("killed", "kill", 0.0)
        assert end["flags"] == ["held"]
        go.touch()
