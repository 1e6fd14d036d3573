"""A run that is asked by real processes, and whose processes, log and cache can be broken."""

import contextlib
import json
import os
import select
import signal
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, NoReturn

from forks_cli.main import main
from forks_core.reducer import fold
from forks_core.registry import Job, Launched, Registry, Running
from forks_core.rules.supervision import last_sign
from forks_core.system.lock import locked
from forks_core.system.processes import identify, send
from forks_core.transact import known_events
from forks_events import Event
from forks_events.chain import link, scan
from forks_events.envelope import EMPTY, Author
from forks_events.run import OrchestratorSeen
from forks_events.values import Process
from tests.driver import Run, Said, one_object
from tests.log_view import Line
from tests.machine import laws
from tests.processes import until

# Where a command can be told to die, by what Python's audit calls it: after its commit, or not.
PLACES = {"locking": "fcntl.flock", "spawning": "os.posix_spawn", "killing": "os.killpg"}
# How often each step was done and each outcome seen, over all machines of this process.
DONE: Counter[str] = Counter()
CAP = 2
LOST_AFTER_S = 1.0
BOUND_S = 60.0
_BY = Author(verb="torn", host="nowhere", pid=1)


class Started(NamedTuple):
    """A command that runs: its process, what it prints, and its words."""

    pid: int
    out: int
    words: Sequence[str]


class House(Run):
    """A run with a cap of two, on which silence is noticed after a second."""

    def __init__(self, folder: Path) -> None:
        quick = {"heartbeat_s": 0.2, "wait_poll_s": 0.1, "lock_wait_s": 20.0}
        super().__init__(folder, lost_after_s=LOST_AFTER_S, **quick)
        self.secret = f"secret-{uuid.uuid4()}"
        self.head = EMPTY
        self.printed: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.init("--parallel-cap", str(CAP))

    def note(self, what: str) -> None:
        """Count a step, or an outcome."""
        self.seen[what] += 1
        DONE[what] += 1

    # Commands

    def command(self, verb: str, *words: str) -> Said:
        """Run a command in a process of its own to its end."""
        return self.finish(self.begin(verb, *words))

    def begin(self, verb: str, *words: str, dies: tuple[str, int] | None = None) -> Started:
        """Start a command as a process: this one's child, which has imported all it needs.

        Args:
            verb: The verb.
            words: What follows it.
            dies: At which of the `PLACES` it is killed, and when it is there for which time.
        """
        self.note(f"command {verb}")
        given = self.words(verb, *words)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            if dies:
                _die_at(PLACES[dies[0]], dies[1])
            self._be_the_command(given, write)
        os.close(write)
        return Started(pid, read, given)

    def _be_the_command(self, words: Sequence[str], write: int) -> NoReturn:
        code = 99
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(write, 1)
            os.dup2(os.open(self.folder / "diagnostics", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            os.environ.clear()
            os.environ.update(self.env)
            os.chdir(self.repository)
            sys.argv = ["forks", *words]
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            code = main()
            sys.stdout.flush()
        finally:
            os._exit(code)

    def finish(self, started: Started) -> Said:
        """Wait for a command's end; it must keep the process contract."""
        out = _read_all(started)
        code = os.waitstatus_to_exitcode(os.waitpid(started.pid, 0)[1])
        said = Said(code, one_object(out), "")
        self._judge(started.words[0], said)
        return said

    def fresh(self, verb: str, *words: str) -> Said:
        """Run a command as a caller does: a program of its own."""
        self.note(f"program {verb}")
        said = self.forks(verb, *words)
        assert "Traceback" not in said.err, said.err
        self._judge(verb, said)
        return said

    def _judge(self, verb: str, said: Said) -> None:
        """One object was printed; now its exit code, and that no result was printed before."""
        assert said.code in ((0, 2, 3, 4) if verb == "wait" else (0, 2)), said
        assert (said.code == 2) == ("error" in said.content), said
        self.note(f"{verb} exits {said.code}")
        self._judge_content(verb, said)

    def _judge_content(self, verb: str, said: Said) -> None:
        assert said.content.get("error") not in ("internal error", "usage", "interrupted"), said
        if "error" in said.content:
            self.note(f"refused: {said.content['error']}")
        if verb == "wait":
            for row in said.content.get("done", ()):
                self.printed[row["job"]] += 1
                self.note(f"delivered {row['status']}")
            assert set(self.printed.values()) <= {1}, self.printed

    def crash(self, moment: str, n: int, verb: str, *words: str) -> None:
        """Start a command and kill it: at once, ``n`` ms later, or at one of the `PLACES`."""
        dies = (moment, 1 + n % 2 if moment == "locking" else 1) if moment in PLACES else None
        started = self.begin(verb, *words, dies=dies)
        if moment == "later":
            select.select([started.out], [], [], n / 1000)
        if moment not in PLACES:
            os.kill(started.pid, signal.SIGKILL)
        out = _read_all(started)
        code = os.waitstatus_to_exitcode(os.waitpid(started.pid, 0)[1])
        self.note(f"crash {verb} {moment}" if code == -signal.SIGKILL else "crash never came")
        if out:
            # It was killed behind its last word, if at all, and that was a whole one.
            self._judge_content(verb, Said(code, one_object(out), ""))

    # What the log says

    def events(self, kind: str, job: str | None = None) -> list[Line]:
        """The data of the events of a type in whole commits: behind them there may be anything."""
        data = self.log_file.read_bytes()
        lines = [json.loads(line) for line in data[: scan(data).length].split(b"\n")[:-1]]
        found = [line["data"] for line in lines if line["type"] == kind]
        return [data for data in found if job in (None, data.get("job"))]

    def history(self) -> list[Event]:
        """The events of whole commits."""
        return known_events(scan(self.log_file.read_bytes()).envelopes)[0]

    def registry(self) -> Registry:
        """What they fold to."""
        return fold(self.history())

    def running(self) -> list[Job]:
        """The jobs that have not ended."""
        return [job for job in self.registry().jobs.values() if not job.ended]

    # Damage

    def kill_processes(self, n: int, *, supervisor: bool, client: bool) -> None:
        """Kill a running job's supervisor, or its client, or both."""
        known = [job for job in self.running() if isinstance(job.state, Launched | Running)]
        if not known:
            return
        state = known[n % len(known)].state
        if supervisor and isinstance(state, Launched | Running):
            self._kill(state.supervisor, "supervisor")
        if client and isinstance(state, Running):
            self._kill(state.client, "client")

    def _kill(self, process: Process, who: str) -> None:
        if send(process, signal.SIGKILL):
            self.note(f"crash of a {who}")
            until(lambda: not _is_here(process))

    def tear(self, n: int, *, nul: bool) -> None:
        """Leave behind what a writer leaves that dies while it appends a commit of two events."""
        with locked(self.state / "events.lock", BOUND_S):
            data = self.log_file.read_bytes()
            found = scan(data)
            seen = OrchestratorSeen(at=datetime.now(UTC))
            tail = link(found.head, _BY, [seen, seen])[1]
            torn = tail[: 1 + n % (len(tail) - 1)] + (b"\0" * 600 if nul else b"")
            with self.log_file.open("r+b") as file:
                file.truncate(found.length)
                file.seek(found.length)
                file.write(torn)
        self.note("torn tail of NULs" if nul else "torn tail")

    def corrupt(self, n: int) -> None:
        """Damage the checkpoint, if there is one."""
        path = self.state / "cache" / "registry.json"
        data = bytearray(path.read_bytes() if path.exists() else b"")
        if not data:
            return
        first, _, rest = bytes(data).partition(b"\n")
        data[n % len(data)] ^= 1 + n % 255
        ways = [b"", bytes(data), bytes(data[: n % len(data)]), b"[]\n{}", first, b"\xff\n" + rest]
        path.write_bytes(ways[n % len(ways)])
        self.note("checkpoint corrupted")

    def let_silence_pass(self) -> None:
        """Wait until jobs whose supervisor is dead, or never came, were silent for too long."""
        jobs = self.running()
        dead = [
            job
            for job in jobs
            if not isinstance(job.state, Launched | Running) or not _is_here(job.state.supervisor)
        ]
        if not dead:
            return
        registry = self.registry()
        last = max(last_sign(registry, job) for job in dead)
        until(lambda: (datetime.now(UTC) - last).total_seconds() > LOST_AFTER_S + 0.05)
        self.note("silence")

    # The laws

    def check(self) -> None:
        """All that holds after every step."""
        data = self.log_file.read_bytes()
        found = laws.whole(data, self.head)
        self.head = found.head
        events, unknown = known_events(found.envelopes)
        assert unknown == 0
        laws.history_is_lawful(events, CAP)
        laws.folds(events)
        assert self.secret.encode() not in data
        if laws.checkpoint_agrees(self.state):
            self.note("checkpoint held")

    def leave(self) -> None:
        """Expire and reap until all has ended; then nothing of it is left that runs."""
        if len(self.registry().jobs) % 2:
            # Who has nobody to speak for it is lost before anybody expires it.
            self.let_silence_pass()
            self.command("list")
        assert self.fresh("expire", "--all").content["ok"]
        deadline = time.monotonic() + BOUND_S
        while self.command("list").content["running"]:
            assert time.monotonic() < deadline, "something never ends"
            self.let_silence_pass()
            self.command("expire", "--all")
        until(lambda: not self.living(), 5.0)
        self.command("wait", "--all")
        self.check()
        jobs = self.registry().jobs
        assert all(job.ended for job in jobs.values())
        assert sorted(event["job"] for event in self.events("JobDelivered")) == sorted(jobs)
        for end in self.events("JobEnded"):
            self.note(f"ended {end['status']} {end['reason']}")
            for flag in end["flags"]:
                self.note(f"flag {flag}")
        self.seen["tail dropped"] = len(self.events("TailDropped"))


def _die_at(place: str, times: int) -> None:
    """Let this process be killed when it does something for so many times; it is not asked."""
    left = times

    def look(event: str, _: object) -> None:
        nonlocal left
        if event == place:
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


def _read_all(started: Started) -> bytes:
    """Read what a command prints until it closes it; a command that hangs fails the test."""
    parts: list[bytes] = []
    deadline = time.monotonic() + BOUND_S
    try:
        while True:
            left_s = max(0.0, deadline - time.monotonic())
            if not select.select([started.out], [], [], left_s)[0]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started.pid, signal.SIGKILL)
                raise AssertionError(f"it hangs: {started.words}")
            part = os.read(started.out, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    finally:
        os.close(started.out)


def _is_here(process: Process) -> bool:
    """Whether a process of this machine still runs."""
    return identify(process.pid) == process
