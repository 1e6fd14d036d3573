"""A theatre: a git repository, a home of its own, a loopback API, and forks on the real client."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from forks_core.system.loopback import Answer, LoopbackApi, Request, say
from tests.client.bill import MODEL, Bill
from tests.client.install import version_of
from tests.client.world import Seen, end, marked, sleepers

Row = dict[str, Any]
FORKS = (sys.executable, "-P", "-m", "forks_cli")
TRAINING = ""
# Clients before 2.1 ask them beside the model that does the work.
_HELPERS = frozenset({"claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929"})
_LEAVE_S, _LOOK_S = 5.0, 0.02
_BLOCK = re.compile(r"- block: `([^`]+)`")
_FOREIGN = re.compile(
    r"(ANTHROPIC|CLAUDE|FORKS|SPIRE_FORKS|XDG|GIT)_.*|CLAUDECODE|.*_proxy", re.IGNORECASE
)


class Said(NamedTuple):
    """What a command printed, and how it exited."""

    content: Row
    code: int


class Theatre:
    """Where one test plays; see `theatre_in`."""

    def __init__(self, folder: Path, client: Path) -> None:
        """Set it up: everything lies in the folder."""
        self.folder = folder
        self.client = client
        self.repository = folder / "repository"
        self.run = folder / "run.md"
        self.state = folder / "run-forks"
        self.config = folder / "home" / ".claude"
        self.api = LoopbackApi(self._choose)
        self.sleep = f"300.{uuid.uuid4().int}"
        self._scripts: dict[str, tuple[Answer, ...]] = {}
        self._answered: list[Answer] = []
        self._asked: dict[str, int] = {}
        self.env = self._environment()
        self._make_repository()

    def _environment(self) -> dict[str, str]:
        home = self.folder / "home"
        temporary = home / "tmp"
        for path in (self.config, temporary):
            path.mkdir(parents=True)
        kept = {name: text for name, text in os.environ.items() if not _FOREIGN.fullmatch(name)}
        places = {f"XDG_{name}_HOME": home / name for name in ("CONFIG", "CACHE", "DATA", "STATE")}
        return (
            kept
            | {name: str(path) for name, path in places.items()}
            | {
                "HOME": str(home),
                # Some clients tell hours of the local zone.
                "TZ": "UTC",
                "TMPDIR": str(temporary),
                "CLAUDE_CODE_TMPDIR": str(temporary),
                "CLAUDE_CONFIG_DIR": str(self.config),
                "CLAUDE_CODE_OAUTH_TOKEN": "dummy",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "ANTHROPIC_BASE_URL": self.api.url,
                "FORKS_ACCOUNT": str(self.folder / "account"),
            }
        )

    def _make_repository(self) -> None:
        self.repository.mkdir()
        (self.repository / "README.md").write_text("# A small project\n")
        self.run.write_text("# A run\n")
        for words in (
            ("init", "--quiet"),
            ("add", "README.md"),
            ("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "Begin"),
        ):
            subprocess.run(["git", *words], cwd=self.repository, env=self.env, check=True)

    # The API

    def script(self, block: str, *answers: Answer) -> None:
        """Set what a block's requests are answered in turn; the last answer is given for ever."""
        self._scripts[block] = answers

    def _choose(self, request: Request) -> Answer:
        if request.model in _HELPERS:
            self._answered.append(say("Fine."))
            return self._answered[-1]
        named = _BLOCK.search(json.dumps(request.body.get("messages")))
        block = named[1] if named else TRAINING
        number = self._asked.get(block, 0)
        self._asked[block] = number + 1
        answers = self._scripts.get(block, (say("Done."),))
        # Outputs of different lengths, so that no two can be taken for each other.
        tokens = 7 + 10 * len(self._answered)
        answer = answers[min(number, len(answers) - 1)]._replace(output_tokens=tokens)
        self._answered.append(answer)
        return answer

    def asked(self, block: str) -> int:
        """How many requests came for a block."""
        return self._asked.get(block, 0)

    def requests(self, session: str) -> list[Request]:
        """The requests of a session."""
        return [request for request in self.api.requests if request.session_id == session]

    def bill(self, session: str | None = None, since: int = 0, until: int | None = None) -> Bill:
        """What the API has answered: in a session or at all, from a request to another."""
        answers = list(zip(self.api.requests, self._answered, strict=True))[since:until]
        return Bill.total(
            Bill(
                input=seen.usage.input,
                output=given.output_tokens or 0,
                written=seen.usage.written,
                read=seen.usage.read,
            )
            for seen, given in answers
            if seen.status == 200 and session in {None, seen.session_id}
        )

    # The commands

    def forks(self, verb: str, *words: str) -> Said:
        """Run one command of the run as a program."""
        done = subprocess.run(
            self.command(verb, *words),
            cwd=self.repository,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Said(json.loads(done.stdout), done.returncode)

    def command(self, verb: str, *words: str) -> list[str]:
        """The words of a command of the run."""
        return [*FORKS, verb, "--run", str(self.run), *words]

    def ok(self, verb: str, *words: str) -> Row:
        """Run a command that must succeed."""
        said = self.forks(verb, *words)
        assert said.code == 0, said.content
        return said.content

    def init(self) -> None:
        """Fix the launch, with what the client knows."""
        given = ("--model", MODEL, "--binary", str(self.client), "--lab")
        self.ok("init", *given, *(() if self.is_modern else ("--effort", "none")))

    @property
    def is_modern(self) -> bool:
        """Whether it is a client of 2.1: older ones know no effort, and do not name their session."""
        return version_of(self.client) >= (2, 1)

    def train(self) -> Row:
        """Init, train a base, and return its result."""
        self.init()
        self.ok("train", "--base", "b", "--brief", self.brief("train"))
        (result,) = self.ok("wait", "--all")["done"]
        assert result["status"] == "ok", result
        return dict(result)

    def fork_words(self, block: str, *words: str) -> tuple[str, ...]:
        """The words of a parallel fork of the base."""
        named = ("--base", "b", "--block", block, "--brief", self.brief(block))
        return (*named, "--mode", "parallel", "--paths", f"{block}.txt", *words)

    def fork(self, block: str, *words: str) -> str:
        """Fork the base for a block, and return the job."""
        return str(self.ok("fork", *self.fork_words(block, *words))["job"])

    def carry_on(self, fork: str, *words: str) -> str:
        """Continue a fork, and return the job."""
        named = ("--job", fork, "--brief", self.brief("more"))
        return str(self.ok("continue", *named, *words)["job"])

    def told(self, job: str) -> Row:
        """The client's own result of a job, the only one."""
        lines = (self.state / "raw" / f"{job}.jsonl").read_bytes().splitlines()
        read = [json.loads(line) for line in lines]
        (result,) = [line for line in read if line.get("type") == "result"]
        return dict(result)

    def result(self, *jobs: str) -> Row:
        """Wait for one job, and return its result; the exit code must tell whether it is ok."""
        said = self.forks("wait", *(jobs or ("--all",)))
        (result,) = said.content["done"]
        assert said.code == (0 if result["status"] == "ok" else 4)
        return dict(result)

    def brief(self, name: str) -> str:
        """Write a brief."""
        path = self.folder / f"{name}.brief.md"
        path.write_text(f"Do {name}.\n")
        return str(path)

    # The records

    def events(self, kind: str, job: str | None = None) -> list[Row]:
        """The data of the log's events of a type, of one job if given."""
        lines = (self.state / "events.jsonl").read_bytes().split(b"\n")[:-1]
        read = [json.loads(line) for line in lines]
        found = [line["data"] for line in read if line["type"] == kind]
        return [data for data in found if job in {None, data.get("job")}]

    @property
    def marker(self) -> str:
        """What the environment of all the run's processes holds."""
        return f"FORKS_JOB={self.events('RunOpened')[0]['run']}/"

    def close(self) -> None:
        """Prove that nothing is left that runs; what is left nevertheless is ended."""
        self.api.close()
        until_s = time.monotonic() + _LEAVE_S
        while (left := self._left()) and time.monotonic() < until_s:
            time.sleep(_LOOK_S)
        end(left)
        assert not left, [(seen.pid, seen.argv) for seen in left]

    def _left(self) -> list[Seen]:
        return marked(str(self.folder)) + sleepers(self.sleep)


@contextlib.contextmanager
def theatre_in(folder: Path, client: Path) -> Iterator[Theatre]:
    """Open a theatre in an empty folder, and prove at the end that no process is left of it."""
    theatre = Theatre(folder, client)
    with theatre.api:
        try:
            yield theatre
        finally:
            theatre.close()
