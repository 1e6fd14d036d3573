"""``kill``: a job and every process that belongs to it are ended."""

import os
import signal

import pytest

from tests.driver import Run, ok
from tests.processes import is_alive


class TestKill:
    """The wish is recorded, the processes are ended, then the end; again changes nothing."""

    @pytest.mark.rule("B29.2", "B29.4", "B29.5", "D18")
    def test_a_running_job(self, ready: Run) -> None:
        """It is killed, all that was found is named, and its base is as it was."""
        job = ready.fork({"say": "one"}, {"tool": "sleep 60"})
        pids = {ready.supervisor(job), ready.started(job)["pid"]}
        ready.wait_for(lambda: len(ready.events("StreamTurned", job)) == 2)
        said = ready.forks("kill", "--job", job)
        content = ok(said)
        assert set(content) == {
            *("job", "killed", "status", "ok", "snapshot", "survivors", "taskkill_rc"),
        }
        assert (content["job"], content["killed"], content["ok"]) == (job, True, True)
        assert (content["status"], content["survivors"]) == ("killed", [])
        assert content["taskkill_rc"] is None
        assert pids <= {row["pid"] for row in content["snapshot"]}
        assert all(isinstance(row["ctime"], int) for row in content["snapshot"])
        assert not any(is_alive(pid) for pid in pids)
        assert ready.job_processes(job) == []
        end = ready.end_of(job)
        assert (end["status"], end["reason"], end["turns"]) == ("killed", "kill", 2)
        assert end["cost_usd"] is None
        before = ready.snapshot()
        again = ok(ready.ask("kill", "--job", job))
        assert again == {"job": job, "killed": False, "status": "killed", "ok": True}
        assert ready.snapshot() == before
        assert ready.ask("wait", job).code == 4
        assert ready.end_of(ready.fork(block="next"))["status"] == "ok"

    def test_a_training(self, inited: Run) -> None:
        """A training that is killed fails its base, whose name can be used again."""
        job = inited.train({"sleep": 60})
        ok(inited.ask("kill", "--job", job))
        assert ok(inited.ask("list"))["bases"][0]["status"] == "failed"
        inited.trained()

    @pytest.mark.rule("B7.4", "B29.4")
    def test_with_a_dead_supervisor(self, inited: Run) -> None:
        """A client whose supervisor died is found and ended as well."""
        job = inited.train({"sleep": 60})
        client = inited.started(job)["pid"]
        os.kill(inited.supervisor(job), signal.SIGKILL)
        content = ok(inited.ask("kill", "--job", job))
        assert (content["killed"], content["status"]) == (True, "killed")
        assert not is_alive(client)
        assert len(inited.events("JobEnded", job)) == 1

    @pytest.mark.rule("B29.1", "B29.2")
    def test_ended_jobs(self, ready: Run) -> None:
        """A job that has ended keeps its end; one that does not exist is refused."""
        content = ok(ready.ask("kill", "--job", "j0001"))
        assert (content["killed"], content["status"]) == (False, "ok")
        said = ready.ask("kill", "--job", "j0009")
        assert (said.error, said.content["job"]) == ("unknown job", "j0009")
        assert ready.events("KillRequested") == []

    @pytest.mark.rule("B27.1")
    def test_not_the_orchestrator(self, inited: Run) -> None:
        """Who kills is not thereby the orchestrator."""
        inited.ask("kill", "--job", "j0009")
        assert inited.events("OrchestratorSeen") == []
