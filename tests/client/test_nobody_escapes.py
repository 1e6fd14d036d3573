"""Nobody of the real client escapes, though its supervisor was killed with SIGKILL."""

import json
import os
import signal
from collections.abc import Callable

import pytest

from forks_core.system.loopback import run
from tests.client.theatre import TRAINING, Row, Theatre
from tests.client.world import marked, processes, sleepers, until

pytestmark = pytest.mark.client
JOB = "j0001"
GONE_S = 5.0


def reap(theatre: Theatre) -> None:
    """Look until it is noticed."""
    until(lambda: theatre.ok("list")["lost_now"] == [JOB])


def kill(theatre: Theatre) -> None:
    """End the job."""
    _all_ended(theatre.ok("kill", "--job", JOB))


def expire(theatre: Theatre) -> None:
    """End the base's jobs."""
    (row,) = theatre.ok("expire", "--base", "b")["killed"]
    _all_ended(row)


def _all_ended(row: Row) -> None:
    assert (row["killed"], row["ok"], row["survivors"]) == (True, True, [])


class TestWithoutASupervisor:
    """The client and its commands outlive the supervisor, but not the job."""

    @pytest.mark.parametrize(
        ("end", "status", "reason"),
        [
            pytest.param(reap, "lost", "supervisor_dead", id="reaped"),
            pytest.param(kill, "killed", "kill", id="killed"),
            pytest.param(expire, "killed", "expire", id="expired"),
        ],
    )
    def test_background_commands(
        self, theatre: Theatre, end: Callable[[Theatre], None], status: str, reason: str
    ) -> None:
        """One in the background and one in a session of its own: gone in 5 s, with the client."""
        timings = {"lost_after_s": 1.0, "heartbeat_s": 0.2, "tick_s": 0.05}
        theatre.env["FORKS_TIMINGS"] = json.dumps(timings)
        n = theatre.sleep
        tool = f"setsid nohup sleep {n}1 >/dev/null 2>&1 & sleep {n}2 & wait"
        theatre.script(TRAINING, run(tool))
        theatre.init()
        theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
        until(lambda: len(sleepers(n)) == 2)
        supervisor = theatre.events("JobLaunched", JOB)[0]["supervisor"]["pid"]
        client = theatre.events("ClientStarted", JOB)[0]["client"]["pid"]
        os.kill(supervisor, signal.SIGKILL)
        until(lambda: supervisor not in {seen.pid for seen in processes()})
        assert client in {seen.pid for seen in processes()}
        assert len(sleepers(n)) == 2
        end(theatre)
        until(lambda: not sleepers(n) and not marked(theatre.marker), GONE_S)
        row = theatre.result(JOB)
        assert (row["status"], row["reason"], row["turns"]) == (status, reason, 1)
