"""Processes: who one is, whether it lives, and that only those that are meant are ended."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator

import pytest
from attrs import evolve

from forks_core.system.processes import (
    SystemProcesses,
    identify,
    identify_child,
    myself,
    send,
    survivors,
)
from forks_events.values import Process
from tests.processes import a_nap, is_alive, marked, napping, until

Sleeper = subprocess.Popen[bytes]


@pytest.fixture
def mark() -> str:
    """A mark that no other process carries."""
    return f"{uuid.uuid4()}/j0001"


@pytest.fixture
def sleepers() -> Iterator[list[Sleeper]]:
    """Processes that a test starts; they are ended and reaped afterwards."""
    made: list[Sleeper] = []
    yield made
    for process in made:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def start(sleepers: list[Sleeper], *argv: str, **env: str) -> Process:
    """Start a process in a session of its own, and tell who it is."""
    process = subprocess.Popen(argv, env=os.environ | env, start_new_session=True)
    sleepers.append(process)
    return identify_child(process.pid)


def nap(sleepers: list[Sleeper], **env: str) -> Process:
    """Start a process that sleeps."""
    return start(sleepers, "sleep", "60", **env)


@pytest.mark.rule("D18")
class TestIdentity:
    """A process is its host, boot, number and start: all four, exactly."""

    @pytest.mark.rule("B7.2", "B7.7", "D1")
    def test_alive_and_dead(self, sleepers: list[Sleeper]) -> None:
        """It lives until it has exited; one that only waits to be reaped is dead."""
        known = nap(sleepers)
        processes = SystemProcesses()
        assert processes.is_alive(known) is True
        assert identify(known.pid) == known
        sleepers[0].kill()
        until(lambda: processes.is_alive(known) is False)
        assert os.path.exists(f"/proc/{known.pid}"), "it was not reaped yet"  # noqa: PTH110
        assert identify(known.pid) is None
        assert identify_child(known.pid) == known
        sleepers[0].wait()
        assert processes.is_alive(known) is False

    @pytest.mark.rule("B7.1", "B7.2", "B7.6")
    def test_another_start(self, sleepers: list[Sleeper]) -> None:
        """The same number with another start is somebody else."""
        known = nap(sleepers)
        other = evolve(known, ticks=known.ticks - 1)
        assert SystemProcesses().is_alive(other) is False
        assert not send(other, signal.SIGKILL)
        assert SystemProcesses().end([other], "none/j0001") == ()
        assert is_alive(known.pid)

    def test_elsewhere(self, sleepers: list[Sleeper]) -> None:
        """Another boot of this host means dead; another host means unknown; both are left alone."""
        known = nap(sleepers)
        processes = SystemProcesses()
        rebooted, away = evolve(known, boot="other"), evolve(known, host="other")
        assert processes.is_alive(rebooted) is False
        assert processes.is_alive(away) is None
        assert processes.end([rebooted, away], "none/j0001") == ()
        assert is_alive(known.pid)

    @pytest.mark.rule("B7.1")
    def test_a_name_with_parentheses(self, sleepers: list[Sleeper], tmp_path: object) -> None:
        """A program's name may hold anything."""
        odd = f"{tmp_path}/a) S 1 (b"
        os.symlink("/bin/sleep", odd)  # noqa: PTH211
        known = start(sleepers, odd, "60")
        until(lambda: b"a) S 1 (b" in _stat(known.pid))
        assert identify(known.pid) == known

    @pytest.mark.rule("B7.2")
    def test_none(self) -> None:
        """A number that nobody has is nobody."""
        assert identify(2**22 + 1) is None
        assert not send(evolve(myself(), pid=2**22 + 1), signal.SIGKILL)


def _stat(pid: int) -> bytes:
    with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        return file.read()


@pytest.mark.rule("B7.5")
class TestEnding:
    """All that belongs to a job is ended, and what does not is never touched."""

    @pytest.mark.rule("B7.7", "D2")
    def test_by_the_mark(self, sleepers: list[Sleeper], mark: str) -> None:
        """Who carries the mark is found without any root; who carries another one is not."""
        mine = [nap(sleepers, FORKS_JOB=mark) for _ in range(2)]
        others = [nap(sleepers, FORKS_JOB=f"{mark}0"), nap(sleepers, NOT_FORKS_JOB=mark)]
        found = SystemProcesses().end([], mark)
        assert set(found) == set(mine)
        assert survivors(mine) == []
        assert survivors(others) == others

    def test_by_the_tree_and_the_group(self, sleepers: list[Sleeper], mark: str) -> None:
        """Children of a root go with it, those of its group and those that left it."""
        script = "sleep 61 & setsid sleep 62 & echo $$; wait"
        process = subprocess.Popen(
            ["/bin/sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True
        )
        sleepers.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        root = identify_child(process.pid)
        until(lambda: len(_children(process.pid)) == 2)
        children = _children(process.pid)
        found = SystemProcesses().end([root], mark)
        assert {known.pid for known in found} == {process.pid, *children}
        assert not any(is_alive(pid) for pid in children)

    def test_by_the_group_alone(self, sleepers: list[Sleeper], mark: str) -> None:
        """Whoever is in the group of the first root goes, though it has neither parent nor mark."""
        nap = a_nap()
        orphan = f"(env -i sleep {nap} &); exec sleep 60"
        process = subprocess.Popen(
            ["/bin/sh", "-c", orphan], stdout=subprocess.PIPE, start_new_session=True
        )
        sleepers.append(process)
        until(lambda: bool(napping(nap)) and not _children(process.pid))
        SystemProcesses().end([identify_child(process.pid)], mark)
        until(lambda: not napping(nap), 5.0)

    @pytest.mark.rule("B7.4")
    def test_a_stopped_one(self, sleepers: list[Sleeper], mark: str) -> None:
        """A process that is stopped, or deaf to polite signals, is ended too."""
        known = start(sleepers, "/bin/sh", "-c", "trap '' TERM; kill -STOP $$", FORKS_JOB=mark)
        until(lambda: b") T " in _stat(known.pid))
        assert SystemProcesses().end([], mark) == (known,)
        assert survivors([known]) == []

    @pytest.mark.rule("D2")
    def test_one_that_breeds(self, sleepers: list[Sleeper], mark: str) -> None:
        """A process that keeps starting others in new sessions is outrun, or nobody is left."""
        breed = "while :; do setsid sh -c 'sleep 60' & sleep 0.01; done"
        known = start(sleepers, "/bin/sh", "-c", breed, FORKS_JOB=mark)
        until(lambda: len(marked(f"FORKS_JOB={mark}")) > 5)
        found = SystemProcesses().end([known], mark)
        assert known in found
        assert marked(f"FORKS_JOB={mark}") == []

    def test_never_the_caller(self, mark: str) -> None:
        """Who ends a job, though it is a root and carries the mark, lives on."""
        program = (
            "from forks_core.system.processes import *; import subprocess;"
            "subprocess.Popen(['sleep', '60']);"
            f"print(len(SystemProcesses().end([myself()], {mark!r})))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"FORKS_JOB": mark},
            capture_output=True,
            check=True,
            timeout=20,
        )
        assert done.stdout == b"1\n"

    def test_bounded(self, mark: str) -> None:
        """With nothing to end it takes but a moment."""
        began = time.monotonic()
        assert SystemProcesses().end([], mark) == ()
        assert time.monotonic() - began < 2


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:  # noqa: PTH123
        return [int(word) for word in file.read().split()]


@pytest.mark.rule("D22")
def test_elsewhere_than_on_linux(tmp_path: object) -> None:
    """On another platform forks refuses in one sentence, before it does anything."""
    program = (
        "import sys; from forks_cli.main import answer; import forks_cli.verbs.list;"
        "sys.platform = 'darwin';"
        f"said = answer(['list', '--run', '{tmp_path}/run.md']); print(said.content['error']);"
        "sys.exit(said.code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    sentence = b"forks needs Linux with /proc: elsewhere it cannot watch processes\n"
    assert (done.returncode, done.stdout) == (2, sentence)
