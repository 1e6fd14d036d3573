"""Reaping: a job whose supervisor died is booked as lost, and nothing of it goes on."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from tests.conftest import MakeRun
from tests.driver import Run, ok, one_object
from tests.processes import a_nap, is_alive, napping, until

_HOLD = (
    "import fcntl, os, sys; lock = os.open(sys.argv[1], os.O_RDWR); "
    "fcntl.flock(lock, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def short(make_run: MakeRun) -> Run:
    """A run on which silence is noticed soon."""
    run = make_run(lost_after_s=1.0, heartbeat_s=0.2)
    run.init()
    return run


def reaped(run: Run) -> list[str]:
    """Look until something was reaped, and tell what."""
    found: list[str] = []

    def look() -> bool:
        found.extend(ok(run.ask("list"))["lost_now"])
        return bool(found)

    until(look)
    return found


class TestLost:
    """Silent for too long, and its supervisor dead: the job is lost, and ended for good."""

    @pytest.mark.rule("B28.2", "B28.3")
    def test_a_dead_supervisor(self, short: Run) -> None:
        """Its client and all that the client left go with it; the base's name is free again."""
        nap = a_nap()
        job = short.train({"leave": {"kind": "setsid", "seconds": nap}}, {"sleep": 60})
        client = short.started(job)["pid"]
        until(lambda: bool(napping(nap)))
        died = time.monotonic()
        os.kill(short.supervisor(job), signal.SIGKILL)
        assert ok(short.ask("list"))["lost_now"] == [], "it was heard of a moment ago"
        assert reaped(short) == [job]
        assert time.monotonic() - died > 0.7
        until(lambda: not is_alive(client) and not napping(nap), 5.0)
        end = short.end_of(job)
        assert (end["status"], end["reason"]) == ("lost", "supervisor_dead")
        assert (end["exit_code"], end["usage_basis"], end["cost_usd"]) == (None, None, None)
        assert ok(short.ask("list"))["lost_now"] == []
        assert len(short.events("JobEnded", job)) == 1
        assert short.end_of(short.train())["status"] == "ok"

    @pytest.mark.rule("B28.1", "D20")
    def test_a_supervisor_that_has_not_spoken_yet(self, short: Run) -> None:
        """While a process with the job's mark lives, silence is no proof; afterwards it is."""
        job = short.create()
        created = time.monotonic()
        opened = short.log()[0]["data"]["run"]
        mark = {"FORKS_JOB": f"{opened}/{job}"}
        with subprocess.Popen(["sleep", a_nap()], env=short.env | mark) as late:
            try:
                until(lambda: time.monotonic() - created > 1.5)
                assert ok(short.ask("list"))["lost_now"] == []
            finally:
                late.kill()
        assert reaped(short) == [job]

    @pytest.mark.rule("B28.4", "D4")
    def test_train_reaps(self, short: Run) -> None:
        """A training that was abandoned does not block its base's name for good."""
        job = short.train({"sleep": 60})
        os.kill(short.supervisor(job), signal.SIGKILL)
        brief = short.brief()
        until(lambda: short.ask("train", "--base", "base", "--brief", brief).code == 0)
        assert short.end_of(job)["status"] == "lost"

    @pytest.mark.rule("B28.2")
    def test_what_the_raw_file_holds_is_booked(self, short: Run) -> None:
        """A result that the log never heard of is recovered: lost, with its usage and its cost."""
        go = short.folder / "go"
        job = short.train({"wait_for": str(go)}, {"say": "done"}, {"linger": 60})
        supervisor, client = short.supervisor(job), short.started(job)["pid"]
        short.wait_for(lambda: bool(short.events("StreamOpened", job)))
        argv = [sys.executable, "-c", _HOLD, str(short.state / "events.lock")]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdin=pipe, stdout=pipe) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            go.touch()
            until(lambda: b'"type":"result"' in short.raw(job))
            os.kill(supervisor, signal.SIGKILL)
            until(lambda: not is_alive(supervisor))
            holder.kill()
        assert short.events("StreamTurned", job) == []
        assert reaped(short) == [job]
        end = short.end_of(job)
        assert (end["status"], end["flags"]) == ("lost", ["result_recovered"])
        assert end["turns"] == 1
        assert end["cost_usd"] > 0
        assert end["raw"]["bytes"] == len(short.raw(job))
        order = short.kinds(job)
        assert order[-4:] == ["StreamTurned", "QuotaRead", "StreamResulted", "JobEnded"]
        commits = {line["commit"] for line in short.log() if line["type"] in order[-4:]}
        assert len(commits) == 1
        assert not is_alive(client)

    @pytest.mark.rule("B28.1")
    def test_never_launched(self, short: Run) -> None:
        """A job whose supervisor never spoke is lost as well."""
        job = short.create()
        assert reaped(short) == [job]
        assert short.end_of(job)["status"] == "lost"

    @pytest.mark.rule("B28.3", "D13")
    def test_once(self, short: Run) -> None:
        """However many look at the same time, one of them reaps it, and it ends once."""
        job = short.train({"sleep": 60})
        os.kill(short.supervisor(job), signal.SIGKILL)
        last = short.log()[-1]["at"]
        until(lambda: seconds_since(last) > 1.1)
        with ThreadPoolExecutor(4) as pool:
            said = list(pool.map(lambda _: ok(short.forks("list"))["lost_now"], range(4)))
        assert sorted(said) == [[], [], [], [job]]
        assert len(short.events("JobEnded", job)) == 1


class TestWhoReaps:
    """Whoever launches, lists or waits reaps; whoever ends, retires or configures does not."""

    @pytest.mark.rule("B28.4", "B31.4")
    def test_a_wait(self, short: Run) -> None:
        """A wait for a job whose supervisor dies is met by its loss."""
        job = short.train({"sleep": 60})
        supervisor = short.supervisor(job)
        with short.start(*short.words("wait", job)) as process:
            os.kill(supervisor, signal.SIGKILL)
            out, _ = process.communicate(timeout=30)
        assert process.returncode == 4
        assert [row["status"] for row in one_object(out)["done"]] == ["lost"]

    @pytest.mark.rule("B28.4")
    def test_others(self, short: Run) -> None:
        """Kill, expire, init, show and replay leave a lost job to be found."""
        job = short.create(base="lost")
        until(lambda: seconds_since(short.log()[-1]["at"]) > 1.1)
        short.ask("kill", "--job", "j0009")
        short.ask("expire", "--base", "none")
        short.init()
        for verb in (("show", job), ("replay",)):
            ok(short.ask(*verb))
        assert short.events("JobEnded") == []
        assert reaped(short) == [job]


class TestLeftAlone:
    """A live supervisor is never reaped, however silent it is."""

    @pytest.mark.rule("B28.1", "D19")
    def test_stopped(self, make_run: MakeRun) -> None:
        """A stopped supervisor shows as silent and keeps its place; it goes on and ends its job."""
        run = make_run(lost_after_s=0.5, heartbeat_s=0.1)
        run.init("--parallel-cap", "1")
        run.trained()
        go = run.folder / "go"
        job = run.fork({"wait_for": str(go)})
        client, supervisor = run.started(job)["pid"], run.supervisor(job)
        os.kill(supervisor, signal.SIGSTOP)
        try:
            until(lambda: ok(run.ask("list"))["jobs"][1]["flags"] == ["silent"])
            content = ok(run.ask("list"))
            assert (content["lost_now"], content["running"]) == ([], [job])
            brief = run.brief()
            said = run.ask("fork", "--base", "base", "--block", "b", "--brief", brief)
            assert said.error == "parallel cap reached"
            assert is_alive(client)
        finally:
            os.kill(supervisor, signal.SIGCONT)
        go.touch()
        assert (run.end_of(job)["status"], run.end_of(job)["flags"]) == ("ok", [])


def seconds_since(at: str) -> float:
    """Seconds since a recorded time."""
    return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
