"""A study on the real client: the sample run twice, once interrupted; a base; a closed window."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forks_cli import demo_study
from forks_cli.stage import Stage, _work
from forks_core.system.client import EXECPATH
from forks_core.system.loopback import Answer, Request, reject
from tests.client.install import VERSION
from tests.client.theatre import FORKS, Row, Theatre
from tests.client.world import until
from tests.toml_text import Table, toml_of

pytestmark = [pytest.mark.client, pytest.mark.long]
LONG_S = 240
_SAME = ("trial_id", "attempt", "attempts", "final", "status", "passed", "score", "checks")


class Studies(Theatre):
    """A theatre whose API does what the prompt of a trial says, or first what it is told."""

    def __init__(self, folder: Path, client: Path) -> None:
        """Set it up."""
        self.first: list[Answer] = []
        super().__init__(folder, client)

    def _choose(self, request: Request) -> Answer:
        self._answered.append(self.first.pop(0) if self.first else _work(request))
        return self._answered[-1]

    def sample(self, name: str) -> "Played":
        """Copy the sample study, with its script."""
        scene = Stage(
            repository=self.folder / name / "repository", run=self.run, client=self.client
        )
        with pytest.MonkeyPatch.context() as before:
            before.setenv(EXECPATH, "what is put back")
            return Played(self, demo_study.set_up(scene))

    def small(self, arms: list[Table], agent: str | None = None, **study: object) -> "Played":
        """Write a study of one task, and perhaps an agent's definition beside it."""
        folder = self.folder / f"small-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        if agent is not None:
            place = folder / ".claude" / "agents" / "reviewer.md"
            place.parent.mkdir(parents=True)
            place.write_text(f"---\nname: reviewer\ndescription: reviews\n---\n{agent}\n")
        (folder / "prompt.md").write_text("Do $trial.\n", encoding="utf-8")
        told = {"id": "small", "phase1_runs": 1, "phase2_runs": 0, "max_budget_usd": 5.0}
        launch = {"model": "claude-opus-4-5", "effort": "high", "binary": str(self.client)}
        task = {"id": "MB-01", "prompt": "prompt.md", "check": ["true"]}
        data = {"study": told | study, "launch": launch, "arm": arms, "task": [task]}
        (folder / "study.toml").write_text(toml_of(data), encoding="utf-8")
        return Played(self, folder / "study.toml")


class Played:
    """One study in a theatre; it is scheduled when it is made.

    Args:
        theatre: Where.
        file: Its file.
    """

    def __init__(self, theatre: Studies, file: Path) -> None:
        self.theatre = theatre
        self.file = file
        self.state = file.with_name("study-forks")
        self.ok("study", "schedule", str(file), "--lab")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command."""
        return subprocess.Popen(
            [*FORKS, *words],
            cwd=self.file.parent,
            env=self.theatre.env | {EXECPATH: str(self.theatre.client)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def run(self) -> subprocess.Popen[bytes]:
        """Start a runner."""
        return self.start("study", "run", str(self.file))

    def ok(self, *words: str) -> Row:
        """Run a command that must succeed."""
        code, content = answered(self.start(*words))
        assert code == 0, content
        return content

    def rows(self) -> list[Row]:
        """Its attempts."""
        return list(self.ok("study", "rows", str(self.file))["rows"])

    def events(self, kind: str) -> list[Row]:
        """The data of the log's events of a type."""
        lines = (self.state / "events.jsonl").read_bytes().split(b"\n")[:-1]
        return [line["data"] for line in map(json.loads, lines) if line["type"] == kind]


def answered(process: subprocess.Popen[bytes]) -> tuple[int, Row]:
    """Wait for a command's end: its exit code, and its one object."""
    with process:
        out, _ = process.communicate(timeout=LONG_S)
    return process.returncode, dict(json.loads(out))


@pytest.fixture(scope="module")
def studies(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studies]:
    """One theatre for all of them."""
    theatre = Studies(tmp_path_factory.mktemp("studies"), client)
    with theatre.api:
        try:
            yield theatre
        finally:
            theatre.close()


@pytest.mark.rule("E11", "R6.1", "R9.1")
def test_interrupted_and_resumed(studies: Studies) -> None:
    """The sample study comes out the same, whether it was run at once or interrupted and resumed."""
    whole, parts = studies.sample("whole"), studies.sample("parts")
    both = [whole.run(), parts.run()]
    until(lambda: len(parts.events("AttemptConcluded")) >= 3, LONG_S)
    both[1].send_signal(signal.SIGINT)
    code, content = answered(both[1])
    assert (code, content["reason"]) == (5, "USER")
    assert 3 <= content["done"] < 12
    code, content = answered(parts.run())
    assert (code, content["reason"], content["done"]) == (0, "DONE", 12)
    code, content = answered(both[0])
    assert (code, content["reason"], content["done"]) == (0, "DONE", 12)
    one, other = whole.rows(), parts.rows()
    assert [{name: row[name] for name in _SAME} for row in one] == [
        {name: row[name] for name in _SAME} for row in other
    ]
    assert {(row["status"], row["attempts"]) for row in one} == {("completed", 1)}
    # The second attempt at the totals goes wrong, as its script has it.
    assert [row["trial_id"] for row in one if not row["passed"]] == [
        "MB-01-r2-plain",
        "MB-01-r2-with-hint",
    ]
    assert len(parts.events("RunnerStarted")) == 2
    assert len(parts.events("JobCreated")) == 12


@pytest.mark.rule("E10", "R7.1")
def test_a_base(studies: Studies) -> None:
    """Trials of an arm with a base fork it, and read all of it from the cache; the others do not."""
    study = studies.small([{"name": "forked", "base": "trained"}, {"name": "fresh"}])
    asked = len(studies.api.requests)
    code, content = answered(study.run())
    assert (code, content["failed"]) == (2, ["base:trained"])
    # The preflight hears each arm's client out, and ends it before that asks for anything.
    assert content["arms"]["forked"]["claude_code_version"] == VERSION
    assert len(studies.api.requests) == asked
    where = ("--run", str(study.file))
    study.ok("train", *where, "--base", "trained", "--brief", studies.brief("train"))
    study.ok("wait", *where, "--all")
    code, content = answered(study.run())
    assert (code, content["reason"]) == (0, "DONE")
    forked, fresh = study.rows()
    assert (forked["base"], fresh["base"]) == ("trained", None)
    told = [study.ok("show", *where, row["job"])["result"] for row in (forked, fresh)]
    assert [result["cache"] for result in told] == ["hit", None]
    assert forked["cost_usd"] < 0.3 * fresh["cost_usd"]
    assert forked["cache_read"] > 10_000
    # The training is paid for by the study, too.
    trained = study.events("JobEnded")[0]["cost_usd"]
    both = forked["cost_usd"] + fresh["cost_usd"]
    assert content["spent_usd"] == pytest.approx(trained + both, abs=1e-6)


@pytest.mark.rule("R2.6", "R3.2")
def test_a_closed_window(client: Path, tmp_path: Path) -> None:
    """A five-hour window that the API closes makes it wait for that reset, and 30 s more."""
    theatre = Studies(tmp_path, client)
    with theatre.api:
        try:
            study = theatre.small([{"name": "plain"}])
            # The preflight asks once for the arm, and is ended before it is answered, or after.
            closed = reject("five_hour", resets_in_s=600)
            theatre.first = [closed] * 8
            process = study.run()
            until(lambda: bool(study.events("PauseBegun")), LONG_S)
            process.send_signal(signal.SIGINT)
            code, content = answered(process)
            (pause,) = study.events("PauseBegun")
            (row,) = study.rows()
        finally:
            theatre.close()
    assert (code, content["reason"], content["done"]) == (5, "USER", 0)
    assert (pause["wait"], pause["trial_id"]) == ("rate_limit", "MB-01-r1-plain")
    assert 560 < pause["planned_s"] <= 630
    assert (row["infra_kind"], row["final"]) == ("rate_limit", False)


def test_an_agent(studies: Studies) -> None:
    """A trial runs as its arm's agent, and nothing of that shows in its working copy."""
    prompt = "You are the one who reviews."
    study = studies.small([{"name": "reviewed", "agent": "reviewer"}], prompt)
    before = len(studies.api.requests)
    code, said = answered(study.run())
    assert (code, said["reason"]) == (0, "DONE")
    (row,) = study.rows()
    assert (row["status"], row["diff"]) == ("completed", None)
    asked = [json.dumps(request.body["system"]) for request in studies.api.requests[before:]]
    assert any(prompt in system for system in asked)
