"""The supervisor: what it says, and when it ends a client."""

import pytest

from tests.conftest import MakeRun
from tests.driver import Run, ok
from tests.log_view import Line
from tests.processes import is_alive


def idle(seconds: float) -> Line:
    """A step that does nothing, silently."""
    return {"sleep": seconds}


class TestOrder:
    """The supervisor stands before the client starts; then the stream; the end is one commit."""

    @pytest.mark.rule("B14.8", "B21.4")
    def test_a_life(self, inited: Run) -> None:
        """Created, launched, started, the stream as it comes, ended: in this order, once each."""
        job = inited.trained({"say": "one"}, {"tool": "true"}, {"say": "two"})
        assert inited.kinds(job) == [
            "JobCreated",
            "BaseCreated",
            "JobLaunched",
            "ClientStarted",
            "StreamOpened",
            "StreamTurned",
            "QuotaRead",
            "StreamTurned",
            "StreamTurned",
            "StreamResulted",
            "JobEnded",
        ]

    @pytest.mark.rule("B21.10")
    def test_the_end_is_one_commit(self, inited: Run) -> None:
        """How it ended, what it cost and what follows for the base stand or fall together."""
        inited.trained()
        last = [line for line in inited.log() if line["commit"] == inited.log()[-1]["seq"]]
        kinds = [line["type"] for line in last]
        assert kinds[-4:] == ["JobEnded", "SessionCounted", "BaseTrained", "BaseHit"]

    @pytest.mark.rule("B20.3")
    def test_each_speaks_for_itself(self, inited: Run) -> None:
        """The verb says the intent; all that follows is the supervisor's, under its own pid."""
        job = inited.trained()
        mine = [line for line in inited.log() if line["data"].get("job") == job]
        said = {line["type"]: line["by"] for line in mine}
        assert said["JobCreated"]["verb"] == "train"
        launched = inited.events("JobLaunched", job)[0]["supervisor"]["pid"]
        for kind in ("JobLaunched", "ClientStarted", "StreamTurned", "JobEnded"):
            assert (said[kind]["verb"], said[kind]["pid"]) == ("supervise", launched)

    @pytest.mark.rule("B21.9")
    def test_a_base_knows_its_commit(self, inited: Run) -> None:
        """A base's commit is HEAD when its training ended, not when it began."""
        go = inited.folder / "go"
        job = inited.train({"wait_for": str(go)})
        inited.started(job)
        commit = inited.commit("Meanwhile")
        go.touch()
        inited.end_of(job)
        assert inited.events("BaseTrained")[0]["commit"] == commit


@pytest.mark.rule("B21.7")
class TestBeats:
    """A beat is said after a while without any event of the job's own, and only then."""

    def test_a_quiet_client(self, make_run: MakeRun) -> None:
        """While the client is quiet the supervisor beats, about as often as it should."""
        run = make_run(heartbeat_s=0.2)
        run.init()
        job = run.trained(idle(1.5))
        assert 3 <= len(run.events("JobBeat", job)) <= 8

    def test_a_talking_client(self, make_run: MakeRun) -> None:
        """While the stream speaks for the job there is no beat."""
        run = make_run(heartbeat_s=1.0)
        run.init()
        chatter = [step for _ in range(25) for step in ({"say": "word"}, idle(0.06))]
        job = run.trained(*chatter)
        assert len(run.events("StreamTurned", job)) == 25
        assert run.events("JobBeat", job) == []


class TestLimits:
    """What overstays is ended, and the end says why; what is merely quiet is flagged."""

    @pytest.mark.rule("B21.7", "B21.8", "D19")
    def test_limits(self, run: Run) -> None:
        """Wall time, no output at all, and a silent stream: each by its own rule."""
        run.init("--max-minutes", "0.05", "--no-output-s", "1", "--stall-after-s", "1")
        late = run.train(idle(60), base="late")
        mute = run.train(idle(60), base="mute", init=False)
        quiet = run.train(idle(2), base="quiet")
        clients = {job: run.started(job)["pid"] for job in (late, mute, quiet)}

        end = run.end_of(mute)
        assert (end["status"], end["reason"]) == ("failed", "no_result")
        assert end["error_kind"] == "startup"
        assert 1 <= end["wall_s"] < 2.9

        end = run.end_of(quiet)
        assert (end["status"], end["flags"]) == ("ok", ["stalled"])
        beats = [beat for beat in run.events("JobBeat", quiet) if beat["flags"] == ["stalled"]]
        assert beats, "the flag shows while the job runs"

        end = run.end_of(late)
        assert (end["status"], end["reason"], end["reason_detail"]) == (
            "timeout",
            None,
            "wall time",
        )
        assert 3 <= end["wall_s"] < 6
        assert end["exit_code"] is None
        assert end["flags"] == ["stalled"]
        assert not any(is_alive(pid) for pid in clients.values())
        assert {base["base"] for base in run.events("BaseFailed")} == {"late", "mute"}

    @pytest.mark.rule("B16.1")
    def test_the_limit_of_a_fork(self, ready: Run) -> None:
        """A fork's own limit is stronger than the run's."""
        job = ready.fork(idle(60), words=("--max-minutes", "0.02"))
        assert ready.end_of(job)["status"] == "timeout"

    @pytest.mark.rule("D19")
    def test_a_client_that_lingers(self, make_run: MakeRun) -> None:
        """After its final result a client may take a while to exit, then it is helped; it is ok."""
        run = make_run(result_linger_s=0.4, background_linger_s=1.2)
        run.init()
        plain = run.train({"say": "done"}, {"linger": 60}, base="plain")
        tasks = {"type": "system", "subtype": "background_tasks_changed"}
        tasks["tasks"] = [{"task_id": "t", "task_type": "local_agent"}]  # type: ignore[assignment]
        busy = run.train({"say": "done"}, {"line": tasks}, {"linger": 60}, base="busy")
        for job, at_least in ((plain, 0.4), (busy, 1.6)):
            end = run.end_of(job)
            assert (end["status"], end["reason"]) == ("ok", None)
            assert end["flags"] == ["killed_after_result"]
            assert end["wall_s"] >= at_least
            assert end["cost_usd"] > 0


@pytest.mark.rule("B21.7")
class TestModelRefused:
    """A client that runs another model than the one asked for is ended as soon as it says so."""

    def test_refused(self, inited: Run) -> None:
        """The announcement ends it: failed, model_refused, with what ran instead."""
        job = inited.train({"refuse_model": "claude-sonnet-4-5"}, idle(60))
        end = inited.end_of(job)
        assert (end["status"], end["reason"]) == ("failed", "model_refused")
        assert (end["error_kind"], end["reason_detail"]) == ("model", "claude-sonnet-4-5")


class TestOrphans:
    """A job whose orchestrator is silent for too long is ended; one that is waited for never is."""

    @pytest.mark.rule("B21.7", "B21.8")
    def test_orphaned(self, run: Run) -> None:
        """Nobody called for longer than the limit: killed, orphaned, flagged, its base failed."""
        run.init("--orphan-after", "1")
        job = run.train(idle(60))
        client = run.started(job)["pid"]
        end = run.end_of(job)
        assert (end["status"], end["reason"], end["flags"]) == ("killed", "orphaned", ["orphaned"])
        assert not is_alive(client)
        assert len(run.events("BaseFailed")) == 1

    @pytest.mark.rule("B27.1", "B27.2")
    def test_waited_for(self, run: Run) -> None:
        """As long as a wait goes on there is an orchestrator."""
        run.init("--orphan-after", "3")
        job = run.train(idle(4.5))
        done = ok(run.forks("wait", job))["done"]
        assert [(row["job"], row["status"]) for row in done] == [(job, "ok")]

    @pytest.mark.rule("B27.1")
    def test_seldom_said(self, inited: Run) -> None:
        """That the orchestrator was seen is not said again within a minute."""
        inited.trained()
        for _ in range(3):
            inited.ask("list")
        ok(inited.ask("wait", "--all"))
        assert len(inited.events("OrchestratorSeen")) == 1
