"""Nobody escapes, and nobody else is touched: whoever ends a job, whatever became of its supervisor."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator

import pytest
from attrs import evolve

from forks_core.decider.jobs import LaunchJob, StartClient
from forks_core.system.processes import identify_child
from forks_core.transact import transact
from forks_events.values import Process
from tests.conftest import MakeRun
from tests.driver import Run, ok
from tests.log_view import Line
from tests.processes import is_alive, napping, until

GONE_S = 5.0
MINE, OTHER = "mine", "other"
Ending = Callable[[Run, str], None]


def a_nap() -> str:
    """Seconds that no ``sleep`` of another test was told, whatever hypothesis makes of `random`."""
    return str(100_000 + uuid.uuid4().int % 900_000)


def kill(run: Run, job: str) -> None:
    """End it by its name."""
    said = ok(run.ask("kill", "--job", job))
    assert (said["killed"], said["ok"], said["survivors"]) == (True, True, [])


def expire(run: Run, job: str) -> None:
    """End it with its base."""
    said = ok(run.ask("expire", "--base", MINE))
    assert [row["job"] for row in said["killed"]] == [job]
    assert said["ok"]


def reap(run: Run, job: str) -> None:
    """End it by looking, once it was silent for too long."""
    until(lambda: job in ok(run.ask("list"))["lost_now"])


def finish(run: Run, job: str) -> None:
    """Let it end by itself."""
    (run.folder / MINE).touch()
    assert "leftovers_swept" in run.end_of(job)["flags"]


class Brood:
    """What a call starts of each kind, by the seconds that it was told to sleep."""

    def __init__(self) -> None:
        kinds = ("plain", "setsid", "stdout", "grandchild", "group")
        self.naps = {kind: a_nap() for kind in kinds}

    def steps(self) -> list[Line]:
        """The steps that start them."""
        nap = self.naps
        quiet = "< /dev/null > /dev/null 2>&1 &"
        below = f"setsid sh -c 'sh -c \"sleep {nap['grandchild']} & wait\" & wait' {quiet}"
        program = f"import os; os.setpgid(0, 0); os.execvp('sleep', ['sleep', '{nap['group']}'])"
        return [
            {"leave": {"kind": "plain", "seconds": nap["plain"]}},
            {"leave": {"kind": "setsid", "seconds": nap["setsid"], "stubborn": True}},
            {"leave": {"kind": "stdout", "seconds": nap["stdout"]}},
            {"tool": below},
            {"tool": f'{sys.executable} -c "{program}" {quiet}'},
        ]

    def living(self) -> dict[str, list[int]]:
        """Those that live, by kind."""
        found = {kind: napping(nap) for kind, nap in self.naps.items()}
        return {kind: pids for kind, pids in found.items() if pids}


@pytest.fixture
def short(make_run: MakeRun) -> Run:
    """A run on which silence is noticed soon."""
    run = make_run(lost_after_s=1.0, heartbeat_s=0.2)
    run.init()
    return run


@pytest.fixture
def strangers(short: Run) -> Iterator[list[Process]]:
    """Processes of the same name and user: without a mark, and with those of others."""
    run = short.events("RunOpened")[0]["run"]
    marks = ("", f"{run}/j00010", f"{run}/j0002", f"{uuid.uuid4()}/j0001")
    made = [
        subprocess.Popen(["sleep", "600"], env={"FORKS_JOB": mark}, start_new_session=True)
        for mark in marks
    ]
    yield [identify_child(process.pid) for process in made]
    for process in made:
        process.kill()
        process.wait()


def born(run: Run, base: str) -> tuple[str, Brood]:
    """Start a job that leaves one of each kind, and then waits."""
    brood = Brood()
    gate = {"wait_for": str(run.folder / base)}
    job = run.train(*brood.steps(), gate, {"say": "done"}, base=base)
    run.started(job)
    until(lambda: brood.living().keys() == brood.naps.keys())
    return job, brood


class TestNobodyEscapes:
    """Five seconds after a job's end nothing of it runs; another job, and strangers, go on."""

    @pytest.mark.parametrize(
        ("supervisor", "end"),
        [
            pytest.param(None, kill, id="killed"),
            pytest.param(signal.SIGKILL, kill, id="killed, without a supervisor"),
            pytest.param(signal.SIGSTOP, kill, id="killed, with a stopped supervisor"),
            pytest.param(None, expire, id="expired"),
            pytest.param(signal.SIGKILL, expire, id="expired, without a supervisor"),
            pytest.param(signal.SIGKILL, reap, id="reaped"),
            pytest.param(None, finish, id="finished"),
        ],
    )
    def test_every_kind(
        self,
        short: Run,
        strangers: list[Process],
        supervisor: signal.Signals | None,
        end: Ending,
    ) -> None:
        """A plain child, one detached and deaf, one with our output, a grandchild, one of a group."""
        mine, brood = born(short, MINE)
        other, others = born(short, OTHER)
        before = [*others.living().values(), [short.supervisor(other), short.started(other)["pid"]]]
        doomed = [short.supervisor(mine), short.started(mine)["pid"]]
        if supervisor:
            os.kill(doomed[0], supervisor)
            until(lambda: not is_alive(doomed[0]) or _state(doomed[0]) == "T")
        end(short, mine)
        until(lambda: not brood.living() and not any(map(is_alive, doomed)), GONE_S)
        assert short.job_processes(mine) == []
        assert [*others.living().values(), before[-1]] == before
        assert all(is_alive(pid) for pid in before[-1])
        assert all(identify_child(known.pid) == known for known in strangers)
        assert all(is_alive(known.pid) for known in strangers)
        (short.folder / OTHER).touch()
        assert short.end_of(other)["status"] == "ok"
        assert others.living() == {}

    def test_one_that_hides_and_breeds(self, short: Run) -> None:
        """While its supervisor lives, who clears its environment and breeds is outrun too."""
        nap, births = a_nap(), short.folder / "births"
        breed = f"while :; do setsid sleep {nap} & echo >> {births}; sleep 0.005; done"
        hidden = f"env -i setsid sh -c '{breed}' < /dev/null > /dev/null 2>&1 &"
        job = short.train({"tool": hidden}, {"sleep": 60}, base=MINE)
        until(lambda: len(napping(nap)) > 5)
        try:
            kill(short, job)
            until(lambda: not napping(nap), GONE_S)
        finally:
            _end(nap)


class TestTheNumberOfAnother:
    """A number that was given out again is somebody else: whoever has it now is never touched."""

    @pytest.mark.parametrize("end", [kill, expire, reap])
    def test_recorded(self, short: Run, strangers: list[Process], end: Ending) -> None:
        """Supervisor and client have the numbers of strangers now, and the job is ended alone."""
        job = short.create(MINE)
        with short.opened() as opened:
            supervisor, client = (evolve(known, ticks=known.ticks - 1) for known in strangers[:2])
            transact(opened.live, LaunchJob(job=job, supervisor=supervisor))
            transact(opened.live, StartClient(job=job, client=client))
        end(short, job)
        assert short.end_of(job)["status"] == ("lost" if end is reap else "killed")
        assert all(is_alive(known.pid) for known in strangers)


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0]


def _end(nap: str) -> None:
    for pid in napping(nap):
        os.kill(pid, signal.SIGKILL)
