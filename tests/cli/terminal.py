"""A real terminal: the command runs on one, and what would be shown is kept."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import termios
from typing import NamedTuple

from tests.driver import Run

SGR = re.compile(r"\x1b\[[0-9;]*m")
"""A code that gives letters a colour or a weight, and does nothing else."""


class Shown(NamedTuple):
    """What a terminal was sent, and how the command exited."""

    raw: str
    code: int

    @property
    def text(self) -> str:
        """Without the codes of colour."""
        return SGR.sub("", self.raw)


def on_a_terminal(run: Run, *words: str, columns: int, env: dict[str, str] | None = None) -> Shown:
    """Run the command on a terminal of that many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with run.start(*words, stdout=slave, env={"TERM": "xterm-256color"} | (env or {})) as process:
        os.close(slave)
        data = b""
        # The terminal is gone, and reading fails, when the last process has closed it.
        with contextlib.suppress(OSError):
            while chunk := os.read(master, 65536):
                data += chunk
        process.communicate(timeout=30)
    os.close(master)
    return Shown(data.decode().replace("\r\n", "\n"), process.returncode)
