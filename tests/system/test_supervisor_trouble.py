"""The supervisor when the world around it fails."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from forks_core.decider.ending import End
from forks_core.registry import SILENT
from forks_core.rules.outcome import Imposed
from forks_core.system.spawn import spawn_supervisor
from forks_core.transact import transact
from forks_events.words import Reason, Status
from tests.conftest import MakeRun
from tests.driver import Run, ok
from tests.processes import is_alive, until

_HOLD = """
import fcntl, os, signal, sys
lock = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX)
os.pwrite(lock, f"{os.getpid():<20}\\n".encode(), 0)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def stopped_writer(run: Run) -> Iterator[int]:
    """Another writer takes the log's lock and is stopped; it goes on at the end."""
    argv = [sys.executable, "-c", _HOLD, str(run.state / "events.lock")]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        writer.send_signal(signal.SIGSTOP)
        try:
            yield writer.pid
        finally:
            writer.send_signal(signal.SIGCONT)
            assert writer.stdin is not None
            writer.stdin.close()


@pytest.mark.rule("B5.2", "D13")
class TestLocked:
    """A stopped writer makes others wait and say so, and no job is lost for it."""

    def test_the_end_is_said_when_it_goes_on(self, make_run: MakeRun) -> None:
        """While the log is locked nothing is recorded; then all of it is, and the job is ok."""
        run = make_run(lock_wait_s=0.2, lost_after_s=0.5, heartbeat_s=0.2)
        run.init()
        go = run.folder / "go"
        job = run.train({"wait_for": str(go)}, {"say": "done"})
        supervisor, client = run.supervisor(job), run.started(job)["pid"]
        with stopped_writer(run) as holder:
            go.touch()
            until(lambda: not is_alive(client))
            until(lambda: run.supervisor_log(job).count("log locked") > 3)
            said = run.ask("list")
            assert (said.error, said.content["holder"]) == ("log locked", holder)
            assert said.content["waited_s"] == 0.2
            assert run.events("JobEnded", job) == []
            assert is_alive(supervisor)
        end = run.end_of(job)
        assert (end["status"], end["turns"]) == ("ok", 1)
        assert ok(run.ask("list"))["lost_now"] == []


class TestRefused:
    """A supervisor that comes too late starts nothing."""

    @pytest.mark.rule("B21.2", "B29.3")
    def test_a_kill_was_asked_for(self, inited: Run) -> None:
        """When the wish to kill came before it, no client is started and nothing is launched."""
        job = inited.create()
        inited.want_killed(job)
        self._comes_late(inited, job)
        assert inited.kinds(job) == ["JobCreated", "BaseCreated", "KillRequested"]

    @pytest.mark.rule("B21.2")
    def test_the_job_has_ended(self, inited: Run) -> None:
        """When the job has ended already, nothing is said and nothing started."""
        job = inited.create()
        end_elsewhere(inited, job)
        self._comes_late(inited, job)
        assert inited.kinds(job) == ["JobCreated", "BaseCreated", "JobEnded"]

    @pytest.mark.rule("B21.12")
    def test_another_was_first(self, inited: Run) -> None:
        """A second supervisor of the same job starts nothing, and ends nothing."""
        job = inited.train({"sleep": 2})
        first, client = inited.supervisor(job), inited.started(job)
        with inited.opened() as opened:
            environment = inited.env | {"FORKS_JOB": opened.marker(job)}
            spawn_supervisor(opened, job, environment)
        until(lambda: "refused" in inited.supervisor_log(job))
        assert is_alive(client["pid"])
        assert is_alive(first)
        assert inited.end_of(job)["status"] == "ok"
        assert len(inited.events("ClientStarted", job)) == 1

    @pytest.mark.rule("B21.1")
    def test_there_is_no_such_job(self, inited: Run) -> None:
        """A supervisor of nothing fails, says why, and records nothing."""
        before = inited.snapshot()
        argv = [sys.executable, "-P", "-m", "forks_core.system.supervise"]
        words = ["--run", str(inited.path), "--job", "j0009"]
        done = subprocess.run([*argv, *words], env=inited.env, capture_output=True, check=False)
        assert done.returncode == 1
        assert b"unknown job" in done.stdout + done.stderr
        assert inited.snapshot() == before

    def _comes_late(self, run: Run, job: str) -> None:
        with run.opened() as opened:
            spawn_supervisor(opened, job, run.env | {"FORKS_JOB": opened.marker(job)})
        until(lambda: bool(run.supervisor_log(job)) and not run.job_processes(job))
        assert not (run.state / "raw" / f"{job}.jsonl").exists()


@pytest.mark.rule("B21.10")
class TestEndedElsewhere:
    """A supervisor that finds its job ended ends its client and goes."""

    def test_it_obeys(self, inited: Run) -> None:
        """The client is ended, the supervisor exits, and the end that was first stays alone."""
        job = inited.train({"sleep": 60})
        supervisor, client = inited.supervisor(job), inited.started(job)["pid"]
        end_elsewhere(inited, job)
        until(lambda: not is_alive(client) and not is_alive(supervisor), 5.0)
        assert inited.end_of(job)["status"] == "killed"
        assert inited.kinds(job)[-1] == "JobEnded"


class TestBrokenWorld:
    """Whatever goes wrong, no client is left alone."""

    @pytest.mark.rule("B21.5")
    def test_the_working_directory_is_gone(self, run: Run) -> None:
        """A client that cannot be started: failed, launch_error, with what the system said."""
        gone = run.folder / "gone"
        gone.mkdir()
        run.init("--cwd", str(gone))
        gone.rmdir()
        end = run.end_of(run.train())
        assert (end["status"], end["reason"]) == ("failed", "launch_error")
        assert end["reason_detail"] == "No such file or directory"
        assert (end["wall_s"], end["exit_code"]) == (0.0, None)
        assert len(run.events("BaseFailed")) == 1

    @pytest.mark.rule("B21.8")
    def test_the_log_is_cut_off(self, inited: Run) -> None:
        """With a log that lost what was read, the supervisor ends its client, and says nothing."""
        job = inited.train({"sleep": 60})
        supervisor, client = inited.supervisor(job), inited.started(job)["pid"]
        inited.wait_for(lambda: bool(inited.events("StreamOpened", job)))
        before = inited.log_file.read_bytes()
        os.truncate(inited.log_file, before.index(b"\n") + 1)
        until(lambda: not is_alive(client) and not is_alive(supervisor), 5.0)
        assert inited.log_file.read_bytes() == before[: before.index(b"\n") + 1]
        assert "LogDamaged" in inited.supervisor_log(job)

    @pytest.mark.rule("B21.11")
    def test_output_that_cannot_be_kept(self, inited: Run) -> None:
        """When the disk takes no more, client and job are ended: failed, supervisor_error."""
        brief = inited.brief({"say": "one"}, {"big": 2_000_000}, {"leave": "setsid"}, {"sleep": 60})
        words = inited.words("train", "--base", "base", "--brief", brief)
        with inited.start(*words, preexec_fn=_limit_files) as process:
            process.communicate()
        end = inited.end_of("j0001")
        assert (end["status"], end["reason"]) == ("failed", "supervisor_error")
        assert (end["turns"], end["raw"]["bytes"]) == (1, len(inited.raw("j0001")))
        until(lambda: not inited.job_processes("j0001"), 5.0)


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def end_elsewhere(run: Run, job: str) -> None:
    """End a job in the log, and do nothing about its processes."""
    imposed = Imposed(status=Status.KILLED, reason=Reason.KILL)
    with run.opened() as opened:
        transact(opened.live, End(job=job, said=(), stream=SILENT, raw=None, imposed=imposed))
