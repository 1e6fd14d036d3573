"""``expire``: nobody shall fork these bases any more, and what runs of them is ended."""

import os
import signal

import pytest

from tests.driver import Run, ok
from tests.processes import is_alive

KILL_ROW = {"job", "killed", "status", "ok", "snapshot", "survivors", "taskkill_rc"}
RUNS = ({"say": "so far"}, {"sleep": 60})


class TestExpire:
    """Bases are retired once; their jobs are ended whenever it is asked, in the order of ids."""

    @pytest.mark.rule("B30.2", "B30.3", "B30.4", "B29.5")
    def test_a_base_and_what_runs_of_it(self, ready: Run) -> None:
        """A fork and a training are ended; what belongs to other bases goes on."""
        fork = ready.fork(*RUNS)
        training = ready.train(*RUNS, base="new")
        go = ready.folder / "go"
        other = ready.train({"wait_for": str(go)}, base="other")
        for job in (fork, training, other):
            ready.opened_stream(job)
        client = ready.started(fork)["pid"]

        content = ok(ready.forks("expire", "--base", "base"))
        assert set(content) == {"retired", "bases", "killed", "ok"}
        assert (content["retired"], content["bases"], content["ok"]) == (["base"], ["base"], True)
        (row,) = content["killed"]
        assert set(row) == KILL_ROW
        assert (row["job"], row["killed"], row["status"], row["ok"]) == (fork, True, "killed", True)
        assert client in {process["pid"] for process in row["snapshot"]}
        assert not is_alive(client)
        self._are_expired(ready, fork)
        assert ready.ask("wait", fork).code == 4
        listed = ok(ready.ask("list"))
        assert listed["running"] == [training, other]
        statuses = {base["name"]: base["status"] for base in listed["bases"]}
        assert statuses == {"base": "retired", "new": "training", "other": "training"}

        # A training is ended too; its base is retired, not failed, and keeps its name.
        content = ok(ready.ask("expire", "--base", "new"))
        assert content["retired"] == ["new"]
        assert [row["job"] for row in content["killed"]] == [training]
        self._are_expired(ready, training)
        said = ready.ask("train", "--base", "new", "--brief", ready.brief())
        assert (said.error, said.content["status"]) == ("base exists", "retired")
        wishes = [(wish["job"], wish["reason"]) for wish in ready.events("KillRequested")]
        assert wishes == [(fork, "expire"), (training, "expire")]
        go.touch()
        assert ready.end_of(other)["status"] == "ok"
        assert ready.events("BaseFailed") == []

    def _are_expired(self, run: Run, *jobs: str) -> None:
        for job in jobs:
            end = run.end_of(job)
            assert (end["status"], end["reason"]) == ("killed", "expire")
            assert "expired" in end["flags"]
            assert run.job_processes(job) == []

    @pytest.mark.rule("B30.2", "B30.3")
    def test_a_base_that_was_retired_before(self, ready: Run) -> None:
        """What was started of it since is ended, and the base is not told again; nor the jobs."""
        over = ready.fork(block="over")
        ready.end_of(over)
        ok(ready.ask("expire", "--base", "base"))
        forced = ready.fork(*RUNS, block="forced", words=("--force",))
        brief = ready.brief(*RUNS)
        more = str(ok(ready.ask("continue", "--job", over, "--brief", brief))["job"])
        for job in (forced, more):
            ready.opened_stream(job)
        # One of them has no supervisor any more: it is ended all the same.
        os.kill(ready.supervisor(more), signal.SIGKILL)
        content = ok(ready.ask("expire", "--all"))
        assert (content["retired"], content["bases"]) == ([], ["base"])
        assert [row["job"] for row in content["killed"]] == [forced, more]
        self._are_expired(ready, forced, more)
        before = ready.snapshot()
        content = ok(ready.ask("expire", "--all"))
        assert content == {"retired": [], "bases": ["base"], "killed": [], "ok": True}
        assert ready.snapshot() == before

    @pytest.mark.rule("B1.10", "B27.1", "B29.3", "B30.3")
    def test_while_it_is_held(self, ready: Run) -> None:
        """A job whose client waits for a sibling is ended before that ever starts.

        A fork may ask for it, and who asks is not thereby the orchestrator.
        """
        first = ready.fork(*RUNS[1:])
        ready.opened_stream(first)
        held = ready.fork(block="other", words=("--stagger-s", "60"))
        ready.wait_for(lambda: bool(ready.events("JobHeld", held)))
        seen = len(ready.events("OrchestratorSeen"))
        content = ok(ready.ask("expire", "--all", env={"SPIRE_FORKS_CHILD": "1"}))
        assert [row["job"] for row in content["killed"]] == [first, held]
        self._are_expired(ready, first, held)
        assert ready.events("ClientStarted", held) == []
        assert len(ready.events("OrchestratorSeen")) == seen


class TestWhich:
    """One of ``--base`` and ``--all``, and what there is."""

    @pytest.mark.rule("B30.4")
    def test_all_of_none(self, inited: Run) -> None:
        """Without any base the lists are empty, and that is ok."""
        before = inited.snapshot()
        content = ok(inited.ask("expire", "--all"))
        assert content == {"retired": [], "bases": [], "killed": [], "ok": True}
        assert inited.snapshot() == before

    @pytest.mark.rule("B30.1")
    def test_refused(self, shared: Run, run: Run) -> None:
        """Both, neither, an unknown base, an empty name; nothing is recorded."""
        before = shared.snapshot()
        for words in ((), ("--base", "base", "--all"), ("--all", "base"), ("--base",)):
            said = shared.ask("expire", *words)
            assert said.error == "usage"
            assert said.content["usage"].startswith("usage: forks expire")
        for name in ("other", "", "j0001"):
            said = shared.ask("expire", "--base", name)
            assert (said.error, said.content["base"]) == ("unknown base", name)
            assert said.content["bases"] == ["base"]
        assert shared.snapshot() == before
        assert run.ask("expire", "--all").error == "no launch config for this run; call init first"
