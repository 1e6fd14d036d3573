"""A driver for forks: a repository, a stand-in for the client, and an environment of their own.

`Run.forks` runs the command as a caller does, in a process; `Run.ask` answers in this process,
where a real one proves nothing more. Supervisors and clients are real processes in both.
"""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from forks_cli.main import answer
from forks_core.decider.jobs import RequestKill
from forks_core.decider.train import Train
from forks_core.system.calls import Request, prepare
from forks_core.system.launching import launch
from forks_core.system.open_run import OpenRun, open_configured
from forks_core.system.standin.install import install
from forks_core.transact import transact
from forks_events.words import Reason
from tests.log_view import Line, LogView
from tests.processes import close_files_named, marked, until

MODEL = "claude-opus-4-5"
# Quick to look, slow to give up: what a test is about it sets itself.
TIMINGS = {"tick_s": 0.05, "orphan_check_s": 0.1, "wait_poll_s": 0.2}


class Said(NamedTuple):
    """What one call of the command answered."""

    code: int
    content: Line
    err: str

    @property
    def error(self) -> str:
        """The sentence of a refusal."""
        assert self.code == 2, self
        return str(self.content["error"])


class Run(LogView):
    """A run log beside a git repository, with nothing of the user's in its environment.

    Args:
        folder: A folder of its own.
        timings: Seconds by name, over the quick ones.
    """

    def __init__(self, folder: Path, **timings: float) -> None:
        super().__init__(folder / "run-forks")
        self.folder = folder
        self.repository = folder / "repository"
        self.path = folder / "run.md"
        self.standin_home = folder / "sessions"
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        for made in (self.repository, self.home, self.temporary):
            made.mkdir(parents=True)
        self.client = install(folder / "client")
        self.mark = f"mark-{uuid.uuid4()}"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "FORKS_ACCOUNT": str(folder / "account"),
            "FORKS_STANDIN_HOME": str(self.standin_home),
            "FORKS_TEST_MARK": self.mark,
            "FORKS_TIMINGS": json.dumps(TIMINGS | timings),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        self._briefs = 0
        self._make_repository()

    def _make_repository(self) -> None:
        (self.repository / "README.md").write_text("# A small project\n", encoding="utf-8")
        self.git("init", "--quiet")
        self.git("add", "README.md")
        self.commit("Begin")

    def git(self, *words: str) -> str:
        """Run git in the repository."""
        done = subprocess.run(
            ["git", *words], cwd=self.repository, env=self.env, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def commit(self, message: str) -> str:
        """Commit what is staged, and return the commit."""
        who = ("-c", "user.name=test", "-c", "user.email=test@localhost")
        self.git(*who, "commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def words(self, verb: str, *words: str) -> list[str]:
        """The words of a call on this run."""
        return [verb, "--run", str(self.path), *words]

    def start(self, *words: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start the command as a process; ``env`` is added to the run's."""
        env = self.env | more.pop("env", {})
        pipe = subprocess.PIPE
        given: Line = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe} | more
        argv = [sys.executable, "-P", "-m", "forks_cli", *words]
        cwd = given.pop("cwd", self.repository)
        process: Any = subprocess.Popen(argv, cwd=cwd, env=env, **given)
        return cast("subprocess.Popen[bytes]", process)

    def call(self, *words: str, **more: Any) -> Said:
        """Run the command with these words: it must print one object, whatever happens."""
        with self.start(*words, **more) as process:
            out, err = process.communicate(timeout=60)
        return Said(process.returncode, one_object(out), err.decode())

    def forks(self, verb: str, *words: str, **more: Any) -> Said:
        """Run a verb on this run, in a process."""
        return self.call(*self.words(verb, *words), **more)

    def ask(self, verb: str, *words: str, env: dict[str, str] | None = None) -> Said:
        """Answer a verb on this run, in this process."""
        return self.ask_words(*self.words(verb, *words), env=env)

    def ask_words(self, *words: str, env: dict[str, str] | None = None) -> Said:
        """Answer these words, in this process; diagnostics are kept apart."""
        err = io.StringIO()
        with self._here(env or {}), contextlib.redirect_stderr(err):
            said = answer(words)
        content: Line = json.loads(json.dumps(said.content))
        return Said(int(said.code), content, err.getvalue())

    @contextlib.contextmanager
    def _here(self, env: dict[str, str]) -> Iterator[None]:
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.env | env)
        try:
            with contextlib.chdir(self.repository):
                yield
        finally:
            close_files_named("events.jsonl")
            os.environ.clear()
            os.environ.update(before)

    def init(self, *words: str, env: dict[str, str] | None = None) -> Line:
        """Initialise the run with the stand-in as its client."""
        given = ("--model", MODEL, "--binary", str(self.client), "--lab", "--stagger-s", "0")
        return ok(self.ask("init", *given, *words, env=env))

    def brief(self, *steps: Line, text: str = "Do this.", **options: Any) -> str:
        """Write a brief that holds a script for the stand-in, and return its path."""
        script = json.dumps({"steps": list(steps)} | options)
        return self.brief_of(f"{text}\n\n```standin\n{script}\n```\n")

    def brief_of(self, text: str) -> str:
        """Write a brief and return its path."""
        self._briefs += 1
        path = self.folder / f"brief-{self._briefs}.md"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def train(self, *steps: Line, base: str = "base", **options: Any) -> str:
        """Start the training of a base, and return its job."""
        brief = self.brief(*steps, **options)
        return str(ok(self.ask("train", "--base", base, "--brief", brief))["job"])

    def fork(self, *steps: Line, block: str = "block", words: Any = (), **options: Any) -> str:
        """Start a fork, and return its job."""
        brief = self.brief(*steps, **options)
        given = ("--base", "base", "--block", block, "--brief", brief, *words)
        return str(ok(self.ask("fork", *given))["job"])

    def trained(self, *steps: Line, **options: Any) -> str:
        """Train the base to its end, which must be ok; return the job."""
        job = self.train(*steps, **options)
        assert self.end_of(job)["status"] == "ok", self.supervisor_log(job)
        return job

    def result(self, job: str) -> Line:
        """An ended job's result, as ``show`` has it."""
        self.end_of(job)
        result: Line = ok(self.ask("show", job))["result"]
        return result

    @contextlib.contextmanager
    def opened(self) -> Iterator[OpenRun]:
        """The run, opened in this process by somebody else than a verb."""
        with self._here({}):
            opened = open_configured(str(self.path), "test")
            yield opened

    def create(self, base: str = "base") -> str:
        """Create a train job as the verb does, but let nobody start its supervisor."""
        brief = Path(self.brief_of("Do this."))
        with self.opened() as opened:
            request = Request(brief=brief, block=None, phase=None)
            call = prepare(opened, opened.default_launch, request, "Do this.")
            return launch(opened, Train(base=base, call=call), lambda *_: None).job

    def want_killed(self, job: str) -> None:
        """Write the wish that a job be killed, and do nothing about it."""
        with self.opened() as opened:
            transact(opened.live, RequestKill(job=job, reason=Reason.KILL))

    def living(self) -> list[int]:
        """The living processes that carry this driver's mark."""
        return marked(f"FORKS_TEST_MARK={self.mark}")

    def close(self) -> None:
        """End what a test left going, then prove that nothing is left; end only what is ours."""
        started = {line["data"]["job"] for line in self.readable() if line["type"] == "JobCreated"}
        ended = {line["data"]["job"] for line in self.readable() if line["type"] == "JobEnded"}
        for job in sorted(started - ended):
            self.ask("kill", "--job", job)
        left: list[int] = []
        try:
            until(lambda: not self.living(), 5.0)
        except AssertionError:
            left = self.living()
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        assert left == [], "processes are left"


def ok(said: Said) -> Line:
    """The content of an answer that must not be a refusal."""
    assert said.code == 0, said
    return said.content


def one_object(out: bytes) -> Line:
    """The one JSON object on one line that a call printed, and nothing else."""
    assert out.endswith(b"\n"), out
    assert out.count(b"\n") == 1, out
    content: Line = json.loads(out)
    assert isinstance(content, dict)
    return content
