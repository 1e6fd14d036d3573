"""A driver for the stand-in: installed, with a home of its own, and asked as a program."""

import contextlib
import json
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from forks_core.system.standin.install import install

Line = dict[str, Any]

COMMON = ["-p", "--output-format", "stream-json", "--verbose", "--model", "claude-opus-4-5"]
NEVER = "75248f4c-feca-4eb3-933b-197afc8dbf08"


class Answer(NamedTuple):
    """What one call printed, and how it ended."""

    code: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[Line]:
        """The lines, parsed."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> Line:
        """The last line, which must be a result."""
        last = self.lines[-1]
        assert last["type"] == "result"
        return last

    @property
    def first_usage(self) -> Line:
        """The usage of the first response."""
        usage: Line = self.of("assistant")[0]["message"]["usage"]
        return usage

    def of(self, kind: str, subtype: str | None = None) -> list[Line]:
        """The lines of one type, and of one subtype if given."""
        found = [line for line in self.lines if line["type"] == kind]
        return [line for line in found if subtype in (None, line.get("subtype"))]


class Client:
    """The installed stand-in, with a home and a working directory of its own."""

    def __init__(self, folder: Path) -> None:
        """Install below a folder."""
        self.program = install(folder / "bin with spaces")
        self.cwd = folder / "work"
        self.cwd.mkdir()
        self.env = os.environ | {"FORKS_STANDIN_HOME": str(folder / "home")}
        self.env["FORKS_TEST_MARK"] = self.mark = str(uuid.uuid4())

    def start(self, *flags: str, **env: str) -> subprocess.Popen[bytes]:
        """Start a call; its prompt is still to be given."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [str(self.program), *COMMON, *flags],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=self.cwd,
            env=self.env | env,
        )

    def ask(self, prompt: str, *flags: str, **env: str) -> Answer:
        """Run a call to its end."""
        with self.start(*flags, **env) as process:
            out, err = process.communicate(prompt.encode(), timeout=20)
        return Answer(process.returncode, out, err.decode())

    def play(self, *steps: Line, flags: tuple[str, ...] = (), **options: Any) -> Answer:
        """Run a call whose prompt holds a script."""
        return self.ask(scripted(*steps, **options), *flags)

    def survivors(self) -> list[int]:
        """Return the processes that carry this client's mark."""
        found = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self.mark.encode() in environ.read_bytes():
                    found.append(int(environ.parent.name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def end_survivors(self) -> None:
        """Kill what is left of this client's processes."""
        for pid in self.survivors():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def scripted(*steps: Line, **options: Any) -> str:
    """Return a prompt with a script in it."""
    return f"Do this.\n```standin\n{json.dumps({'steps': list(steps)} | options)}\n```\n"


def until(condition: Callable[[], bool], within_s: float = 10.0) -> None:
    """Wait for a condition; fail if it does not come true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"


def new_id() -> str:
    """Return an id for a new session."""
    return str(uuid.uuid4())


def context_of(usage: Line) -> int:
    """Return the whole prompt side of a usage."""
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(int(usage[key]) for key in keys)
