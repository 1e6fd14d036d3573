"""Real processes of the real client: who outlives whom, and what is ended with a job."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forks_core.system.loopback import Answer, run, say
from tests.client.theatre import TRAINING, Theatre
from tests.client.versions import BOTH
from tests.client.world import end, in_session, marked, processes, sleepers, until

pytestmark = pytest.mark.client
JOB = "j0002"
GONE_S = 5.0


@contextlib.contextmanager
def shell(theatre: Theatre, script: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a shell that leads a session of its own, as a terminal's does."""
    argv = ["sh", "-c", script, "sh", *words]
    with subprocess.Popen(
        argv, cwd=theatre.repository, env=theatre.env, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            end(in_session(process.pid))


def is_running(pid: int) -> bool:
    """Tell whether a process runs."""
    return any(seen.pid == pid for seen in processes())


class TestTheLaunchingShell:
    """The shell that launched a job may be killed: the job goes on."""

    def test_its_session_is_killed(self, theatre: Theatre) -> None:
        """With every process of the shell's session killed, the supervisor sees the job through."""
        answered = threading.Event()
        held = run("echo done > one.txt")._replace(hold=answered)
        theatre.script("one", held, say("One is done."))
        theatre.train()
        script = f'"$@" > ../forked.json; sleep {theatre.sleep} & exec sleep {theatre.sleep}'
        with shell(theatre, script, *theatre.command("fork", *theatre.fork_words("one"))) as sh:
            until(lambda: theatre.asked("one") and len(sleepers(theatre.sleep)) == 2)
            (launched,) = theatre.events("JobLaunched", JOB)
            (started,) = theatre.events("ClientStarted", JOB)
            pids = (launched["supervisor"]["pid"], started["client"]["pid"])
            doomed = in_session(sh.pid)
            assert not {seen.pid for seen in doomed} & set(pids)
            end(doomed)
            assert sh.wait(timeout=GONE_S) == -signal.SIGKILL
            until(lambda: not in_session(sh.pid), within_s=GONE_S)
        assert all(is_running(pid) for pid in pids)
        assert theatre.ok("list")["running"] == [JOB]
        answered.set()
        row = theatre.result()
        assert (row["job"], row["status"], row["cache"]) == (JOB, "ok", "hit")
        assert (row["usage_basis"], row["flags"]) == ("carried", [])
        assert row["tokens"] == theatre.bill(row["session"]).tokens
        assert (theatre.repository / "one.txt").read_text() == "done\n"


@BOTH
class TestKill:
    """`kill` ends the client and all that its tools have started."""

    def test_all_is_gone(self, theatre: Theatre) -> None:
        """Commands in the background, in other sessions, orphaned and without the mark: gone in 5 s."""
        n, quiet = theatre.sleep, ">/dev/null 2>&1 &"
        tool = (
            f"setsid nohup sleep {n}1 {quiet} (env -i setsid nohup sleep {n}2 {quiet}) "
            f"; sleep {n}3 & wait"
        )
        theatre.script(TRAINING, run(tool))
        theatre.init()
        theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
        until(lambda: len(sleepers(n)) == 3)
        said = theatre.ok("kill", "--job", "j0001")
        took_s = until(lambda: not sleepers(n) and not marked(theatre.marker), GONE_S)
        assert took_s < GONE_S
        assert (said["killed"], said["ok"], said["survivors"]) == (True, True, [])
        row = theatre.result()
        assert (row["status"], row["reason"]) == ("killed", "kill")
        # One response came, and no result: a lower bound of tokens, and no price.
        assert row["turns"] == 1
        assert row["tokens"]["cache_creation"] > 0
        if theatre.is_modern:
            bill = theatre.bill(row["session"])
            assert row["tokens"]["cache_creation"] == bill.written
        assert row["cost_delta_usd"] is None
        assert row["usage_basis"] is None
        assert theatre.ok("kill", "--job", "j0001")["killed"] is False

    def test_a_client_that_waits_for_its_answer(self, theatre: Theatre) -> None:
        """A client that never got an answer is killed at once, and nothing was counted."""
        theatre.script(TRAINING, Answer(hold=threading.Event()))
        theatre.init()
        theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
        until(lambda: theatre.asked(TRAINING))
        assert theatre.ok("kill", "--job", "j0001")["ok"] is True
        until(lambda: not marked(theatre.marker), within_s=GONE_S)
        row = theatre.result()
        assert (row["status"], row["cost_delta_usd"], row["cache"]) == ("killed", None, None)
        assert set(row["tokens"].values()) == {None}


@BOTH
class TestLeftovers:
    """What a call that ended well left running is swept, and told of."""

    def test_swept(self, theatre: Theatre) -> None:
        """A detached command that outlives its client is ended; the job is ok all the same."""
        detached = f"setsid nohup sleep {theatre.sleep} >/dev/null 2>&1 & echo started"
        theatre.script(TRAINING, run(detached), say("Done."))
        row = theatre.train()
        assert row["flags"] == ["leftovers_swept"]
        assert not sleepers(theatre.sleep)


@BOTH
class TestTheWallTime:
    """A call that takes too long is ended."""

    @pytest.mark.long
    def test_timeout(self, theatre: Theatre) -> None:
        """A client whose answer never comes is ended at its limit, with its background commands."""
        left = f"setsid nohup sleep {theatre.sleep} >/dev/null 2>&1 & echo started"
        theatre.script("one", run(left), Answer(hold=threading.Event()))
        theatre.train()
        # An older client takes its time before it asks for the first time.
        limit_s = 5.0 if theatre.is_modern else 20.0
        theatre.fork("one", "--max-minutes", str(limit_s / 60))
        row = theatre.result()
        assert theatre.asked("one") == 2
        assert (row["status"], row["reason_detail"]) == ("timeout", "wall time")
        assert limit_s <= row["wall_s"] < limit_s + GONE_S
        assert (row["cost_delta_usd"], row["cache"]) == (None, "hit")
        assert not sleepers(theatre.sleep)
        until(lambda: not marked(theatre.marker), within_s=GONE_S)


class TestTheTheatre:
    """The proofs of these tests are none if nothing can be found."""

    def test_what_runs_is_found(self, theatre: Theatre, tmp_path: Path) -> None:
        """A process that carries the folder's path is seen; one that was ended is not."""
        sleep = ["sleep", theatre.sleep]
        with subprocess.Popen(sleep, env=theatre.env) as process:
            until(lambda: [seen.pid for seen in marked(str(tmp_path))] == [process.pid])
            assert [seen.pid for seen in sleepers(theatre.sleep)] == [process.pid]
            os.kill(process.pid, signal.SIGKILL)
        assert not marked(str(tmp_path))
        assert not sleepers(theatre.sleep)
