"""One running client: its pipes, its files, its exit."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forks_core.system.client_process import ClientProcess
from tests.processes import is_alive, until

Start = Callable[..., ClientProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts shell scripts as clients; they are ended afterwards."""
    made: list[ClientProcess] = []

    def begin(script: str, prompt: bytes = b"", raw: Path | None = None) -> ClientProcess:
        client = ClientProcess(
            ["/bin/sh", "-c", script],
            str(tmp_path),
            prompt,
            raw or tmp_path / "out",
            tmp_path / "err",
        )
        made.append(client)
        return client

    yield begin
    for client in made:
        if not client.poll():
            os.killpg(client.process.pid, 9)
            client.wait()
        client.join(5)
        client._child.stdout.close()  # type: ignore[union-attr]


def heard(client: ClientProcess) -> list[bytes]:
    """All lines, to the end of the output."""
    lines: list[bytes] = []
    while not client.drained:
        lines += [line for chunk in client.chunks(1.0) for line in chunk.lines]
    return lines


@pytest.mark.rule("B21.6")
class TestOutput:
    """What comes out is kept verbatim, and given as lines with the time they came."""

    def test_lines_and_bytes(self, start: Start, tmp_path: Path) -> None:
        """The file has every byte; the lines are without their ends, the last one too."""
        client = start("printf 'one\\r\\ntwo\\n\\nthree'; printf 'oh' >&2")
        assert heard(client) == [b"one", b"two", b"", b"three"]
        assert client.wait() == 0
        assert (tmp_path / "out").read_bytes() == b"one\r\ntwo\n\nthree"
        assert (tmp_path / "err").read_bytes() == b"oh"

    def test_private(self, start: Start, tmp_path: Path) -> None:
        """Nobody else may read what it printed."""
        heard(start("echo hello"))
        for name in ("out", "err"):
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o600

    def test_nothing_yet(self, start: Start) -> None:
        """Without output there is nothing to take, and the wait for it is bounded."""
        client = start("sleep 60")
        assert client.chunks(0.01) == []
        assert (client.drained, client.poll()) == (False, False)

    def test_a_full_disk(self, start: Start) -> None:
        """Output that cannot be kept is an error, never passed over."""
        client = start("echo hello; sleep 60", raw=Path("/dev/full"))
        client.join(20)
        with pytest.raises(OSError, match="No space left"):
            client.chunks(0.01)


@pytest.mark.rule("B21.6")
class TestEvidence:
    """What another client printed is never written into."""

    def test_the_raw_file_is_there(self, start: Start, tmp_path: Path) -> None:
        """A second client is not started on the same file."""
        (tmp_path / "out").write_bytes(b"evidence")
        with pytest.raises(FileExistsError):
            start("echo more")
        assert (tmp_path / "out").read_bytes() == b"evidence"


class TestInput:
    """The prompt goes in through standard input, then that is closed."""

    def test_whole(self, start: Start) -> None:
        """A prompt of several megabytes arrives whole."""
        assert heard(start("wc -c", b"x" * 3_000_000)) == [b"3000000"]

    @pytest.mark.parametrize("script", ["exec 0<&-; echo a; sleep 0.1; echo b", "echo a; echo b"])
    def test_not_read(self, start: Start, script: str) -> None:
        """A client that does not read it loses nothing of its own."""
        client = start(script, b"x" * 3_000_000)
        assert heard(client) == [b"a", b"b"]
        assert client.wait() == 0


class TestExit:
    """Its exit is noticed, and it is known for good from its start."""

    def test_codes(self, start: Start) -> None:
        """A code is positive, a signal negative."""
        assert start("exit 7").wait() == 7
        assert start("kill -TERM $$").wait() == -15

    def test_gone_at_once(self, start: Start) -> None:
        """One that exits before anybody looks is identified all the same."""
        client = start("exit 0")
        assert client.process.pid > 0
        until(client.poll)
        assert client.exit_code == 0

    @pytest.mark.rule("B21.5")
    def test_a_session_of_its_own(self, start: Start) -> None:
        """It leads a session and a group, so that both can be ended without ours."""
        pid = start("sleep 60").process.pid
        assert os.getsid(pid) == os.getpgid(pid) == pid
        assert is_alive(pid)

    @pytest.mark.rule("B21.5")
    def test_not_there(self, tmp_path: Path) -> None:
        """A program or a working directory that is not there is the system's error."""
        for argv, cwd in ((["/gone"], tmp_path), (["/bin/true"], tmp_path / "gone")):
            with pytest.raises(FileNotFoundError):
                ClientProcess(argv, str(cwd), b"", tmp_path / "out", tmp_path / "err")
