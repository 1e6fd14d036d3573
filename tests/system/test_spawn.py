"""Spawning: a supervisor outlives whoever asked for it, and holds nothing of theirs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.driver import Run, ok
from tests.processes import environment, is_alive, until


class TestDetached:
    """A supervisor is a process of its own, in a session of its own."""

    @pytest.mark.rule("B20.2")
    def test_the_callers_session_dies(self, inited: Run) -> None:
        """When the shell that launched it is killed with its whole group, the job goes on."""
        go = inited.folder / "go"
        brief = inited.brief({"wait_for": str(go)})
        forks = f"'{sys.executable}' -P -m forks_cli train --run '{inited.path}'"
        script = f"{forks} --base base --brief '{brief}'; sleep 60"
        with subprocess.Popen(
            ["/bin/sh", "-c", script],
            env=inited.env,
            cwd=inited.repository,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as shell:
            assert shell.stdout is not None
            assert b'"job": "j0001"' in shell.stdout.readline()
            os.killpg(shell.pid, signal.SIGKILL)
        supervisor = inited.supervisor("j0001")
        assert os.getsid(supervisor) == supervisor
        go.touch()
        assert inited.end_of("j0001")["status"] == "ok"

    def test_nothing_of_the_caller_stays_open(self, inited: Run) -> None:
        """A pipe of the caller's is closed when the command has answered, not when the job ends."""
        reading, writing = os.pipe()
        words = inited.words("train", "--base", "base", "--brief", inited.brief({"sleep": 60}))
        with inited.start(*words, pass_fds=[writing]) as process:
            out, err = process.communicate()
        os.close(writing)
        assert (process.returncode, err) == (0, b""), out
        client = inited.started("j0001")["pid"]
        with os.fdopen(reading, "rb") as pipe:
            assert pipe.read() == b""
        assert is_alive(client)

    @pytest.mark.rule("B21.3", "D2")
    def test_marked_from_the_start(self, inited: Run) -> None:
        """The mark shows in the supervisor's environment and in its client's; both in no file."""
        job = inited.train({"sleep": 60})
        pids = {inited.supervisor(job), inited.started(job)["pid"]}
        run = inited.events("RunOpened")[0]["run"]
        for pid in pids:
            assert f"FORKS_JOB={run}/{job}".encode() in environment(pid)
        assert pids <= set(inited.job_processes(job))

    @pytest.mark.rule("B20.1", "B20.2")
    def test_its_place(self, inited: Run) -> None:
        """Our own interpreter, nothing to read, the state folder around it, its log below it."""
        pid = inited.supervisor(inited.train({"sleep": 60}))
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
        program = ["-P", "-m", "forks_core.system.supervise"]
        assert words == [sys.executable, *program, "--run", str(inited.path), "--job", "j0001"]
        log = str(inited.state / "raw" / "j0001.sup.log")
        until(lambda: _link(pid, "cwd") == str(inited.state))
        assert [_link(pid, f"fd/{number}") for number in range(3)] == ["/dev/null", log, log]
        assert os.getsid(pid) == pid


def _link(pid: int, name: str) -> str:
    return str(Path(f"/proc/{pid}/{name}").readlink())


class TestPlaces:
    """What the caller's environment names relative to where it stands is the same for all."""

    @pytest.mark.rule("A10.1")
    def test_relative(self, inited: Run) -> None:
        """The account and the price table are named in full to a supervisor and to its client."""
        here = {"FORKS_ACCOUNT": "books/mine", "FORKS_PRICES": "../prices.toml"}
        (inited.folder / "prices.toml").write_text('as_of = "2026-11-30"\nmodels = {}\n')
        brief = inited.brief({"sleep": 60})
        job = ok(inited.ask("train", "--base", "base", "--brief", brief, env=here))["job"]
        for pid in (inited.supervisor(job), inited.started(job)["pid"]):
            told = environment(pid)
            assert f"FORKS_ACCOUNT={inited.repository}/books/mine".encode() in told
            assert f"FORKS_PRICES={inited.folder}/prices.toml".encode() in told

    def test_named_nowhere(self, inited: Run) -> None:
        """What is empty is left so."""
        brief = inited.brief({"sleep": 60})
        here = {"FORKS_PRICES": ""}
        job = ok(inited.ask("train", "--base", "base", "--brief", brief, env=here))["job"]
        assert b"FORKS_PRICES=" in environment(inited.supervisor(job))


class TestFailure:
    """A supervisor that cannot be spawned ends its job; the command has done its part."""

    @pytest.mark.rule("B14.7", "B14.8", "B20.3")
    def test_spawn_failed(self, inited: Run) -> None:
        """The command exits 0 with the job's id; the job has failed, spawn_failed, and says why."""
        (inited.state / "raw").rmdir()
        said = inited.forks("train", "--base", "base", "--brief", inited.brief())
        assert ok(said)["job"] == "j0001"
        end = inited.end_of("j0001")
        assert (end["status"], end["reason"]) == ("failed", "spawn_failed")
        assert end["reason_detail"] == "No such file or directory"
        assert inited.kinds("j0001") == ["JobCreated", "BaseCreated", "JobEnded"]
        (inited.state / "raw").mkdir()
        assert inited.end_of(inited.train())["status"] == "ok"
        until(lambda: not inited.living())
