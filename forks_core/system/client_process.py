"""One running client: its prompt goes in, all that it prints comes out and is kept verbatim.

Both pipes are always drained: a thread copies standard output to the raw file as it comes, and
standard error goes to its file directly. A prompt that the client does not read hangs nobody.
"""

import contextlib
import errno
import os
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from forks_core.claude.framing import Framer
from forks_core.system.files import PRIVATE_FILE, sync_folder
from forks_core.system.processes import identify_child

_CHUNK = 1 << 16


@frozen(kw_only=True)
class Chunk:
    """What came at once: the lines that it completed, and when."""

    lines: tuple[bytes, ...]
    at: datetime


class ClientProcess:
    """A client that was started in a session of its own.

    Args:
        argv: The command line.
        cwd: Where it runs.
        prompt: What it reads from its standard input.
        raw: File for its standard output; nothing may be in it yet.
        stderr: File for its standard error.
        env: Its environment, or None for ours.

    Raises:
        OSError: It could not be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str,
        prompt: bytes,
        raw: Path,
        stderr: Path,
        *,
        env: Mapping[str, str] | None = None,
    ) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        if raw.is_file() and raw.stat().st_size:
            # What another client printed is evidence, and is never written into.
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(raw))
        self._raw = os.open(raw, flags, PRIVATE_FILE)
        errors = os.open(stderr, flags, PRIVATE_FILE)
        sync_folder(raw.parent)
        try:
            self._child = subprocess.Popen(
                argv,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                bufsize=0,
            )
        finally:
            os.close(errors)
        # Not reaped yet, so it is still there to be identified, even if it has exited.
        self.process = identify_child(self._child.pid)
        self.exit_code: int | None = None
        self._prompt = prompt
        self._chunks: queue.SimpleQueue[Chunk | None] = queue.SimpleQueue()
        self.drained = False
        self._broken: OSError | None = None
        threading.Thread(target=self._feed, daemon=True).start()
        self._pumping = threading.Thread(target=self._pump, daemon=True)
        self._pumping.start()

    def chunks(self, wait_s: float) -> list[Chunk]:
        """Take what has come, waiting at most ``wait_s`` seconds for the first of it.

        Raises:
            OSError: It could not be kept.
        """
        if self._broken:
            raise self._broken
        taken: list[Chunk] = []
        with contextlib.suppress(queue.Empty):
            chunk = self._chunks.get(timeout=wait_s)
            while True:
                if chunk is None:
                    self.drained = True
                    break
                taken.append(chunk)
                chunk = self._chunks.get_nowait()
        return taken

    def sync(self) -> None:
        """Make durable what it has printed so far."""
        os.fdatasync(self._raw)

    def poll(self) -> bool:
        """Tell whether it has exited, and reap what it left to us and is dead already."""
        if self.exit_code is None:
            self.exit_code = self._child.poll()
        _reap_adopted(self._child.pid)
        return self.exit_code is not None

    def wait(self) -> int:
        """Wait for its exit, after it was ended."""
        self.exit_code = self._child.wait()
        _reap_adopted(self._child.pid)
        return self.exit_code

    def join(self, within_s: float) -> None:
        """Wait until its output is kept to the end, at most so long."""
        self._pumping.join(within_s)

    def close(self, within_s: float) -> None:
        """Let go of its files, as soon as its output is kept to the end, at most after so long."""
        self.join(within_s)
        if self._child.stdout is not None and not self._pumping.is_alive():
            self._child.stdout.close()
            os.close(self._raw)

    def _feed(self) -> None:
        stdin = self._child.stdin
        assert stdin is not None  # noqa: S101 - it is a pipe
        # A client that does not read its prompt to the end has its reasons.
        with contextlib.suppress(OSError):
            view = memoryview(self._prompt)
            while view:
                view = view[stdin.write(view) or 0 :]
        with contextlib.suppress(OSError):
            stdin.close()

    def _pump(self) -> None:
        stdout = self._child.stdout
        assert stdout is not None  # noqa: S101 - it is a pipe
        framer = Framer()
        try:
            while data := stdout.read(_CHUNK):
                _write(self._raw, data)
                self._chunks.put(Chunk(lines=tuple(framer.feed(data)), at=datetime.now(UTC)))
            self._chunks.put(Chunk(lines=tuple(framer.close()), at=datetime.now(UTC)))
        except OSError as error:
            self._broken = error
        finally:
            self._chunks.put(None)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _reap_adopted(client: int) -> None:
    """Reap the dead that were handed to us as the nearest subreaper; the client is not among them."""
    with contextlib.suppress(ChildProcessError):
        while dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if dead.si_pid == client:
                return
            os.waitpid(dead.si_pid, os.WNOHANG)
