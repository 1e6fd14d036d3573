"""The lock: one holder at a time, a bounded wait, and it dies with its holder."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forks_core.errors import LogLocked
from forks_core.system.lock import _flock_blocking, locked

CHILD = (sys.executable, "-m", "tests.system.log_child")
ROOT = Path(__file__).parent.parent.parent
LONG = 30.0


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock."""
    with subprocess.Popen(
        (*CHILD, "hold", str(path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; fail if it does not come true."""
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        os.sched_yield()


def is_waited_for(path: Path) -> bool:
    """Whether the kernel knows somebody who waits for the file's lock."""
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return any("->" in line and inode in line for line in lines)


def descriptors_of(path: Path) -> int:
    """How many descriptors of this process are of the file."""
    there = (os.path.realpath(number) for number in Path("/proc/self/fd").iterdir())
    return sum(name == os.path.realpath(path) for name in there)


def is_closed(descriptor: int) -> bool:
    """Whether a descriptor is."""
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A lock file that is not there yet."""
    return tmp_path / "events.lock"


class TestOneHolder:
    """Whoever holds it is alone, and says who it is."""

    @pytest.mark.rule("B5.1")
    def test_made(self, path: Path) -> None:
        """The file is made, for us alone, and holds our pid."""
        with locked(path, 0):
            assert path.stat().st_mode & 0o777 == 0o600
            assert int(path.read_text(encoding="ascii")) == os.getpid()

    @pytest.mark.rule("B5.1", "B5.5")
    def test_held(self, path: Path) -> None:
        """It cannot be had twice, and can be had again."""
        with locked(path, 0), pytest.raises(LogLocked), locked(path, 0):
            pass
        with locked(path, 0):
            pass

    @pytest.mark.rule("B5.5")
    def test_who_does_not_wait_leaves_nothing(self, path: Path) -> None:
        """A refused try without a wait keeps no descriptor: nothing is granted to it later."""
        with locked(path, 0):
            with pytest.raises(LogLocked), locked(path, 0):
                pass
            assert descriptors_of(path) == 1
        assert descriptors_of(path) == 0

    @pytest.mark.rule("B5.2", "B5.5")
    def test_held_for_longer_than_the_wait(self, path: Path) -> None:
        """A refused try with a wait lets go what it is granted late: who waits has it again."""
        with locked(path, 0):
            with pytest.raises(LogLocked), locked(path, 0.01):
                pass
            assert descriptors_of(path) == 2
        with locked(path, LONG):
            pass

    @pytest.mark.rule("B5.5")
    def test_let_go_by_an_error(self, path: Path) -> None:
        """An error within lets it go."""
        with pytest.raises(ZeroDivisionError), locked(path, 0):
            _ = 1 // 0
        with locked(path, 0):
            pass

    @pytest.mark.rule("B5.1")
    def test_threads_take_turns(self, path: Path) -> None:
        """Ten threads that each add to a number under it lose none."""
        total = 0

        def add() -> None:
            nonlocal total
            for _ in range(20):
                with locked(path, LONG):
                    before = total
                    os.sched_yield()
                    total = before + 1

        threads = [threading.Thread(target=add) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert total == 200


class TestBoundedWait:
    """A stopped holder must not hang everyone."""

    @pytest.mark.rule("B5.2", "B5.3", "D13")
    def test_stopped_holder(self, path: Path) -> None:
        """After the wait it is refused, with the holder's pid; nothing was changed."""
        with holder(path) as process:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
            before = path.read_bytes()
            with pytest.raises(LogLocked, match="log locked") as caught, locked(path, 0.05):
                pass
            assert caught.value.fields == {
                "holder": process.pid,
                "waited_s": 0.05,
                "lock": str(path),
            }
            assert path.read_bytes() == before

    @pytest.mark.rule("B5.5")
    def test_given_up_late(self, path: Path) -> None:
        """A lock that is granted after we gave up is closed, not kept."""
        first = os.open(path, os.O_RDWR | os.O_CREAT)
        with locked(path, 0):
            assert not _flock_blocking(first, 0.01)
        until(lambda: is_closed(first))
        with locked(path, 0):
            pass

    @pytest.mark.rule("B5.3", "B5.6")
    def test_dies_with_its_holder(self, path: Path) -> None:
        """A killed holder holds nothing, and who waits for it gets the lock."""
        with holder(path) as process:
            granted = threading.Event()

            def wait() -> None:
                with locked(path, LONG):
                    granted.set()

            waiter = threading.Thread(target=wait)
            waiter.start()
            until(lambda: is_waited_for(path))
            assert not granted.is_set()
            process.kill()
            waiter.join(LONG)
            assert granted.is_set()

    def test_a_holder_that_says_nothing(self, path: Path) -> None:
        """Without a pid in the file there is none to tell."""
        with locked(path, 0):
            path.write_bytes(b"?")
            with pytest.raises(LogLocked) as caught, locked(path, 0):
                pass
        assert caught.value.fields["holder"] is None


@pytest.mark.rule("B5.5")
class TestReplaced:
    """What is locked is the file at the path, whatever was put there meanwhile."""

    def test_while_waiting(self, path: Path) -> None:
        """Who waited for a file that was replaced locks the new one."""
        with holder(path) as process:
            inside, leave = threading.Event(), threading.Event()

            def wait() -> None:
                with locked(path, LONG):
                    inside.set()
                    leave.wait(LONG)

            waiter = threading.Thread(target=wait)
            waiter.start()
            until(lambda: is_waited_for(path))
            fresh = path.with_name("fresh")
            fresh.touch()
            fresh.replace(path)
            process.kill()
            assert inside.wait(LONG)
            with pytest.raises(LogLocked) as caught, locked(path, 0.01):
                pass
            assert caught.value.fields["holder"] == os.getpid()
            leave.set()
            waiter.join()

    def test_gone_while_waiting(self, path: Path) -> None:
        """Who waited for a file that is gone makes it anew."""
        with holder(path) as process:
            inside = threading.Event()

            def wait() -> None:
                with locked(path, LONG):
                    assert path.exists()
                    inside.set()

            waiter = threading.Thread(target=wait)
            waiter.start()
            until(lambda: is_waited_for(path))
            path.unlink()
            process.kill()
            waiter.join(LONG)
            assert inside.is_set()
