"""A study's check: what it says is read, what it prints is kept, and nothing of it outlives it."""

import contextlib
import hashlib
import json
import os
import resource
import signal
import stat
import sys
import time
import tracemalloc
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.errors import StorageFailed
from forks_core.system.checker import KEPT, CheckRun, run_check, spoken, verdict
from forks_core.system.processes import SystemProcesses
from tests.processes import a_nap, environment, is_alive, marked, napping, until

LONG_S = 60.0
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open("up", "w") as file:
            print(os.getpid(), file=file)
        os.execvp("sleep", ["sleep", sys.argv[1]])
    os._exit(0)
os.wait()
"""


class Checks:
    """Runs checks in a working copy of their own.

    Args:
        folder: Where the copy and the files lie.
    """

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "copy"
        self.cwd.mkdir()
        self.output = folder / "check.out"
        self.errors = folder / "check.err"
        self.marker = f"{uuid.uuid4()}/j0001/check"

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        timeout_s: float = LONG_S,
        unwanted: Callable[[], bool] = lambda: False,
    ) -> CheckRun:
        """Run one; whatever it was, nothing of it runs afterwards."""
        ran = run_check(
            argv,
            self.cwd,
            env=env or {},
            timeout_s=timeout_s,
            output=self.output,
            errors=self.errors,
            processes=SystemProcesses(),
            marker=self.marker,
            unwanted=unwanted,
        )
        assert marked(f"FORKS_JOB={self.marker}") == []
        return ran

    def shell(self, script: str, **rest: Any) -> CheckRun:
        """Run a line of shell."""
        return self.run(["sh", "-c", script], **rest)

    def python(self, program: str, *words: str, **rest: Any) -> CheckRun:
        """Run a program of Python."""
        return self.run([sys.executable, "-c", program, *words], **rest)


@pytest.fixture
def checks(tmp_path: Path) -> Checks:
    """A place to run them."""
    return Checks(tmp_path)


@pytest.fixture
def nap() -> Iterator[str]:
    """The name of a process that nobody else has; it is ended at last."""
    name = a_nap()
    yield name
    for pid in napping(name):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.rule("R4.1")
class TestWhereItRuns:
    """It runs in the working copy, with little of the caller's environment."""

    def test_in_the_copy(self, checks: Checks) -> None:
        """A program of the copy is found by its relative path, and can write there."""
        program = checks.cwd / "check.sh"
        program.write_text("#!/bin/sh\npwd -P\ntouch seen\n", encoding="utf-8")
        program.chmod(0o755)
        assert checks.run(["./check.sh"]).exit_code == 0
        assert checks.output.read_text(encoding="utf-8") == f"{checks.cwd.resolve()}\n"
        assert (checks.cwd / "seen").exists()

    def test_its_environment(self, checks: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
        """Four variables are inherited where they are set, the given ones and the mark are added."""
        for name in ("ANTHROPIC_API_KEY", "GIT_DIR", "FORKS_JOB"):
            monkeypatch.setenv(name, "ours")
        monkeypatch.setenv("TMPDIR", "/var/tmp")
        monkeypatch.setenv("LANG", "C.UTF-8")
        monkeypatch.delenv("HOME", raising=False)
        given = {"FORKS_TRIAL": "t-r1-a", "LANG": "de", "FORKS_JOB": "theirs"}
        checks.shell("exec env", env=given)
        lines = checks.output.read_text(encoding="utf-8").splitlines()
        assert set(lines) - {"PWD=" + str(checks.cwd)} == {
            f"PATH={os.environ['PATH']}",
            "TMPDIR=/var/tmp",
            "LANG=de",
            "FORKS_TRIAL=t-r1-a",
            f"FORKS_JOB={checks.marker}",
        }

    def test_a_session_of_its_own(self, checks: Checks) -> None:
        """It leads a session, and what we are given to read is not for it."""
        saved, (reading, writing) = os.dup(0), os.pipe()
        os.write(writing, b"ours")
        os.dup2(reading, 0)
        os.close(writing)
        program = "import os, sys; print(os.getsid(0) == os.getpid(), repr(sys.stdin.read()))"
        try:
            checks.python(program)
        finally:
            os.dup2(saved, 0)
            os.close(reading)
            os.close(saved)
        assert checks.output.read_bytes() == b"True ''\n"


class TestExit:
    """Its exit is told as the system tells it."""

    @pytest.mark.rule("R4.2")
    @pytest.mark.parametrize(
        ("script", "code"),
        [
            ("exit 0", 0),
            ("exit 1", 1),
            ("exit 139", 139),
            ("sh -c 'kill -SEGV $$'; exit $?", 139),
            ("kill -SEGV $$", -11),
            ("kill -TERM $$", -15),
        ],
    )
    def test_codes(self, checks: Checks, script: str, code: int) -> None:
        """A code is positive, a signal negative, and a shell's 139 stays 139."""
        ran = checks.shell(f"ulimit -c 0; {script}")
        assert (ran.exit_code, ran.timed_out) == (code, False)

    def test_time(self, checks: Checks) -> None:
        """Its time is measured, without what ending its leftovers takes."""
        ran = checks.shell("sleep 0.2")
        assert 0.2 <= ran.wall_s < 5

    @pytest.mark.rule("R4.1")
    @pytest.mark.parametrize("kind", ["missing", "on the path", "not executable", "no program"])
    def test_it_cannot_be_started(self, checks: Checks, kind: str) -> None:
        """What is not there, or cannot be run, has no exit code; the reason is kept."""
        program = checks.cwd / "check"
        if kind in {"not executable", "no program"}:
            program.write_bytes(b"\0\1\2\3")
            program.chmod(0o755 if kind == "no program" else 0o644)
        ran = checks.run([f"no-such-{uuid.uuid4()}" if kind == "on the path" else "./check"])
        assert (ran.exit_code, ran.timed_out, ran.output) == (None, False, None)
        why = {"not executable": "Permission denied", "no program": "Exec format error"}
        text = checks.errors.read_text(encoding="utf-8")
        assert text.startswith("the check could not be started: ")
        assert why.get(kind, "No such file or directory") in text
        assert checks.output.read_bytes() == b""

    @pytest.mark.rule("R4.1")
    @pytest.mark.parametrize("word", ["a\0b", "\udfff"])
    def test_words_that_no_system_takes(self, checks: Checks, word: str) -> None:
        """A word that cannot be handed over is a check that could not be started."""
        assert checks.run(["true", word]).exit_code is None
        assert checks.errors.read_bytes().startswith(b"the check could not be started: ")

    @pytest.mark.rule("R4.1")
    def test_the_copy_is_gone(self, checks: Checks) -> None:
        """Without its working copy it cannot be started."""
        checks.cwd.rmdir()
        assert checks.shell("exit 0").exit_code is None
        assert str(checks.cwd) in checks.errors.read_text(encoding="utf-8")


@pytest.mark.rule("R4.1")
class TestItsEnd:
    """It ends when it shall, and all that it started ends with it."""

    @pytest.mark.parametrize(
        "script", ["sleep {}", "trap '' TERM INT HUP; sleep {}; sleep {}", "yes & sleep {}"]
    )
    def test_it_hangs(self, checks: Checks, nap: str, script: str) -> None:
        """One that hangs, deaf or printing without end, is ended for its time."""
        ran = checks.shell(script.format(nap, nap), timeout_s=0.4)
        assert (ran.exit_code, ran.timed_out) == (None, True)
        assert 0.4 <= ran.wall_s < 5
        assert napping(nap) == []

    def test_without_output(self, checks: Checks, nap: str) -> None:
        """One that closed its output runs on until its time is up."""
        ran = checks.shell(f"exec >&- 2>&-; exec sleep {nap}", timeout_s=0.4)
        assert (ran.timed_out, ran.output) == (True, None)

    @pytest.mark.parametrize("quiet", ["< /dev/null > /dev/null 2>&1", ""])
    def test_it_leaves_a_daemon(self, checks: Checks, nap: str, quiet: str) -> None:
        """A daemon that forked twice, in a session of its own, ends; with our output in hand too."""
        script = f'"$0" -c "$1" {nap} {quiet}; until test -s up; do :; done; echo started'
        began_s = time.monotonic()
        ran = checks.run(["sh", "-c", script, sys.executable, DAEMON])
        assert ran.exit_code == 0
        assert checks.output.read_bytes() == b"started\n"
        assert napping(nap) == []
        assert time.monotonic() - began_s < 8

    def test_a_child_without_a_mark(self, checks: Checks, nap: str) -> None:
        """One that cleared its environment ends with the group that the check led."""
        hidden = f"env -i sh -c 'echo $$ > up; exec sleep {nap}' > /dev/null 2>&1 &"
        assert checks.shell(f"{hidden} until test -s up; do :; done; exit 1").exit_code == 1
        until(lambda: napping(nap) == [])

    def test_hidden_below_one_that_hangs(self, checks: Checks, nap: str) -> None:
        """While it lives, what descends from it is found without a mark and in any session."""
        ran = checks.shell(f"env -i setsid sleep {nap} & wait", unwanted=lambda: bool(napping(nap)))
        assert ran.exit_code is None
        assert napping(nap) == []

    def test_one_that_holds_the_output(self, checks: Checks, nap: str) -> None:
        """Who gets out of sight with the output in hand does not make it hang."""
        began_s = time.monotonic()
        hidden = f"env -i setsid sh -c 'echo $$ > pid; exec sleep {nap}' &"
        ran = checks.shell(f"{hidden} until test -s pid; do :; done; echo done")
        assert ran.exit_code == 0
        assert checks.output.read_bytes() == b"done\n"
        assert time.monotonic() - began_s < 8

    def test_unwanted(self, checks: Checks, nap: str) -> None:
        """One that is not wanted any more ends at once, and it is not its time that was up."""
        ran = checks.shell(f"touch up; exec sleep {nap}", unwanted=(checks.cwd / "up").exists)
        assert (ran.exit_code, ran.timed_out) == (None, False)
        assert ran.wall_s < 10
        assert napping(nap) == []

    def test_it_is_asked_now_and_then(self, checks: Checks) -> None:
        """Whether it is wanted is asked about ten times a second, however much it prints."""
        asked = iter(range(1000))
        checks.shell("exec yes", timeout_s=1.0, unwanted=lambda: next(asked) < 0)
        assert 2 <= next(asked) <= 11

    def test_the_runner_breaks(self, checks: Checks, nap: str) -> None:
        """Whatever breaks while it runs, it is ended."""

        def broken() -> bool:
            until(lambda: bool(napping(nap)))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            checks.shell(f"exec sleep {nap}", unwanted=broken)
        assert napping(nap) == []

    def test_what_an_earlier_one_left(self, checks: Checks, nap: str) -> None:
        """A check that is made up for ends the one that lost its runner first."""
        left = os.posix_spawnp(
            "sleep",
            ["sleep", nap],
            {"PATH": os.environ["PATH"], "FORKS_JOB": checks.marker},
        )
        until(lambda: bool(marked(f"FORKS_JOB={checks.marker}")))
        assert checks.shell(f"grep State: /proc/{left}/status").exit_code == 0
        assert checks.output.read_bytes() == b"State:\tZ (zombie)\n"
        os.waitpid(left, 0)

    def test_strangers(self, checks: Checks, nap: str) -> None:
        """What carries another mark goes on."""
        other = {"PATH": os.environ["PATH"], "FORKS_JOB": f"{checks.marker}2"}
        stranger = os.posix_spawnp("sleep", ["sleep", nap], other)
        checks.shell("exit 0")
        assert napping(nap) == [stranger]
        assert f"FORKS_JOB={checks.marker}2".encode() in environment(stranger)
        os.kill(stranger, signal.SIGKILL)
        os.waitpid(stranger, 0)


@pytest.mark.rule("R4.1", "E8")
class TestWhatItPrinted:
    """What it printed is kept, privately, up to a mebibyte of each stream."""

    def test_verbatim(self, checks: Checks) -> None:
        """A mebibyte is kept as it is, whatever bytes they are, with its digest."""
        program = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096)"
        ran = checks.python(f"{program}; sys.stderr.buffer.write(b'\\xff oh')")
        text = bytes(range(256)) * 4096
        assert len(text) == KEPT
        assert checks.output.read_bytes() == text
        assert checks.errors.read_bytes() == b"\xff oh"
        assert ran.output
        assert (ran.output.bytes, ran.output.sha256) == (KEPT, hashlib.sha256(text).hexdigest())
        for path in (checks.output, checks.errors):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_fifty_megabytes(self, checks: Checks) -> None:
        """Of more the beginning and the end are kept, and the verdict at the end is heard."""
        program = (
            "import sys, threading\n"
            "def flood(out):\n"
            "    out.write(b'first\\n')\n"
            "    for _ in range(50): out.write(b'x' * 1_000_000)\n"
            "other = threading.Thread(target=flood, args=[sys.stderr.buffer]); other.start()\n"
            "flood(sys.stdout.buffer); other.join()\n"
            "print('\\n{\"score\": 0.5}')"
        )
        tracemalloc.start()
        ran = checks.python(program)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (ran.exit_code, ran.score) == (0, 0.5)
        assert ran.wall_s < 10
        assert peak < 20 * KEPT
        for path, last in ((checks.output, b'x\n{"score": 0.5}\n'), (checks.errors, b"xxx")):
            text = path.read_bytes()
            assert KEPT - 200 < len(text) <= KEPT
            assert (text[:7], text[-len(last) :]) == (b"first\nx", last)
            assert text.count(b"\n[forks left out ") == 1

    def test_the_rest(self, checks: Checks) -> None:
        """What lies in a large pipe when it exits is taken to the end."""
        program = (
            "import fcntl, os, sys; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)\n"
            "sys.stdout.write('x' * 600_000 + '\\n{\"score\": 1}'); sys.stdout.flush()\n"
            "open('pid', 'w').write(f'{os.getpid()}\\n'); os._exit(0)"
        )

        def exited() -> bool:
            path = checks.cwd / "pid"
            until(lambda: path.exists() and path.read_bytes().endswith(b"\n"))
            until(lambda: not is_alive(int(path.read_bytes())))
            return False

        ran = checks.python(program, unwanted=exited)
        assert (ran.exit_code, ran.score) == (0, 1.0)
        assert checks.output.stat().st_size == 600_013

    def test_again(self, checks: Checks) -> None:
        """What an earlier check had printed is replaced."""
        checks.shell("echo long before")
        checks.shell("echo now")
        assert (checks.output.read_bytes(), checks.errors.read_bytes()) == (b"now\n", b"")

    def test_a_full_disk(self, checks: Checks, nap: str) -> None:
        """What cannot be kept is said, after all was ended, and nothing half stays."""
        with _a_full_disk(), pytest.raises(StorageFailed, match="File too large"):
            checks.shell(f"sleep {nap} & echo hello")
        assert not list(checks.output.parent.glob("*check*"))
        assert napping(nap) == []

    def test_nowhere_to_keep_it(self, checks: Checks) -> None:
        """So is a folder that vanished."""
        checks.output = checks.output.parent / "gone" / "out"
        with pytest.raises(StorageFailed, match="No such file"):
            checks.shell("echo hello")


@contextlib.contextmanager
def _a_full_disk() -> Iterator[None]:
    """No file of this process, and of those that it starts, may have a byte."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.rule("R4.3")
class TestVerdict:
    """An object that it prints may give a score and named parts; all else is passed over."""

    def test_heard(self, checks: Checks) -> None:
        """The whole of the output, over several lines, or the last line after others."""
        said = {"score": 0.25, "checks": {"a": True, "b": False}, "diagnostics": "kept in the file"}
        (checks.cwd / "said").write_text(json.dumps(said, indent=1), encoding="utf-8")
        whole = checks.shell("cat said; exit 1")
        assert (whole.score, whole.checks) == (0.25, Map(a=True, b=False))
        (checks.cwd / "said").write_text(json.dumps(said), encoding="utf-8")
        last = checks.shell("printf 'noise \\377\\n'; cat said; printf '\\n \\n\\n'; exit 1")
        assert evolve(last, wall_s=0, output=None) == evolve(whole, wall_s=0, output=None)
        assert spoken(checks.output.read_bytes()) == said

    @pytest.mark.parametrize(
        "said",
        [
            b"",
            b"\n\n",
            b"PASSED",
            b"[0.5]",
            b"0.5",
            b"null",
            b'"score"',
            b'{"score": NaN}',
            b'{"score": Infinity}',
            b'{"score": 1e999}',
            b'{"score": 1' + b"0" * 5000 + b"}",
            b'{"score": 123456789012345678901234567890}',
            b'{"score": 1.0000001}',
            b'{"score": -0.1}',
            b'{"score": true}',
            b'{"score": "1"}',
            b'{"score": [1]}',
            b'{"score": null, "checks": null}',
            b'{"checks": [true]}',
            b'{"checks": {"a": 1, "b": "true", "c": null, "d": {}}}',
            b'{"score": 1, "x": "\xff"}',
            b'{"checks": {"\\ud800": true}}',
            b'{"score": 1',
            b'{"score": 1}\nand so on',
            b'{"score": 1}{"score": 1}',
            b'{"x":' * 100_000,
        ],
        ids=lambda said: said[:30].decode(errors="replace"),
    )
    def test_nothing(self, said: bytes) -> None:
        """What is no such object gives nothing, and breaks nothing."""
        assert verdict(said) == (None, Map())

    @pytest.mark.parametrize(("said", "score"), [(b"0", 0.0), (b"1", 1.0), (b"0.5", 0.5)])
    def test_scores(self, said: bytes, score: float) -> None:
        """From 0 to 1, both ends too; an integer is a number."""
        assert verdict(b'{"score": %s}\r\n' % said) == (score, Map())

    def test_names(self) -> None:
        """A long name is cut; one that failed is not hidden by another of the same beginning."""
        long = "ä" * 256
        said = {"checks": {f"{long}1": True, f"{long}2": False, f"{long}3": True, "": True}}
        assert verdict(json.dumps(said).encode()) == (None, Map({long: False, "": True}))

    def test_many(self) -> None:
        """A thousand parts are kept, the first ones."""
        said = {"checks": {"none": 1, **{str(number): True for number in range(1500)}}}
        checks = verdict(json.dumps(said).encode())[1]
        assert checks == Map({str(number): True for number in range(1000)})
