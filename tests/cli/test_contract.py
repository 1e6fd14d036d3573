"""The process contract: one JSON object on standard output, whatever happens."""

import os
import signal
import subprocess
import sys

import pytest

from forks_cli.verbs import SUMMARIES
from tests.driver import Run, ok, one_object
from tests.processes import until

ON_A_RUN = ("init", "train", "fork", "wait", "list", "kill", "show", "replay")


@pytest.mark.rule("B1.1")
class TestOneObject:
    """Every call prints one object and a newline; diagnostics go to standard error."""

    @pytest.mark.rule("B1.2", "B1.3")
    def test_in_a_process(self, inited: Run) -> None:
        """An answer, a refusal and a usage error: one object each, and nothing else anywhere."""
        said = inited.forks("list")
        assert (said.code, said.err) == (0, "")
        said = inited.forks("show", "j0001")
        assert (said.code, said.error, said.err) == (2, "unknown job or base", "")
        said = inited.call("train")
        assert (said.code, said.error, said.err) == (2, "usage", "")

    @pytest.mark.rule("B1.3", "B1.14")
    def test_an_internal_error(self, inited: Run) -> None:
        """Our own bugs are told as such: type and detail, the traceback on standard error."""
        job = inited.create()
        (inited.state / "raw" / f"{job}.jsonl").mkdir()
        said = inited.forks("show", job)
        assert (said.error, said.content["type"]) == ("internal error", "IsADirectoryError")
        assert set(said.content) == {"error", "type", "detail"}
        assert said.err.startswith("Traceback")

    def test_standard_output_is_closed(self, inited: Run) -> None:
        """Nobody can read the answer: exit 2, a word on standard error, and no traceback."""
        for redirection in (">&-", "> /dev/full", "<&- >&-"):
            done = self._shell(inited, redirection)
            assert done.returncode == 2, redirection
            assert done.stdout == b""
            assert done.stderr.startswith(b"forks: cannot write the answer")
            assert b"Traceback" not in done.stderr
        assert [line["seq"] for line in inited.log()] == list(range(1, len(inited.log()) + 1))

    def test_standard_error_is_closed(self, inited: Run) -> None:
        """Nobody listens to diagnostics: the answer is the same."""
        done = self._shell(inited, "2>&-")
        assert done.returncode == 0
        assert one_object(done.stdout)["jobs"] == []

    def test_no_file_of_ours_is_a_standard_stream(self, inited: Run) -> None:
        """What the caller has closed is nobody's: never the log, never the lock."""
        job = inited.train({"sleep": 60})
        words = " ".join(inited.words("wait", job))
        forks = f"exec '{sys.executable}' -P -m forks_cli {words} <&- >&- 2>&-"
        with subprocess.Popen(
            ["/bin/sh", "-c", forks], env=inited.env, cwd=inited.repository
        ) as process:
            try:
                until(lambda: _waits(process.pid))
                streams = {os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)}  # noqa: PTH115
            finally:
                process.kill()
        assert streams == {"/dev/null"}

    def _shell(self, run: Run, redirection: str) -> subprocess.CompletedProcess[bytes]:
        forks = f"'{sys.executable}' -P -m forks_cli list --run '{run.path}' {redirection}"
        return subprocess.run(
            ["/bin/sh", "-c", forks],
            env=run.env,
            cwd=run.repository,
            capture_output=True,
            check=False,
        )

    def test_a_reader_that_left(self, inited: Run) -> None:
        """A broken pipe is no traceback."""
        reading, writing = os.pipe()
        os.close(reading)
        with inited.start("list", "--run", str(inited.path), stdout=writing) as process:
            _, err = process.communicate()
        os.close(writing)
        assert process.returncode == 2
        assert err.startswith(b"forks: cannot write the answer")

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_interrupted(self, inited: Run, number: signal.Signals) -> None:
        """Being told to end is answered too, and the job that was waited for goes on."""
        go = inited.folder / "go"
        job = inited.train({"wait_for": str(go)})
        inited.started(job)
        seen = len(inited.log())
        with inited.start(*inited.words("wait", job)) as process:
            until(lambda: _waits(process.pid))
            process.send_signal(number)
            out, _ = process.communicate(timeout=20)
        assert (process.returncode, one_object(out)) == (2, {"error": "interrupted"})
        assert inited.events("JobEnded") == []
        assert all(line["type"] != "JobDelivered" for line in inited.log()[seen:])
        go.touch()
        assert inited.end_of(job)["status"] == "ok"


def _waits(pid: int) -> bool:
    """Whether a process has the log open, and sleeps."""
    try:
        names = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]  # noqa: PTH115, PTH208
    except OSError:
        return False
    return any(name.endswith("events.jsonl") for name in names)


class TestUsage:
    """Words that are off are a usage error: what is wrong, and the usage line that would help."""

    @pytest.mark.rule("B1.4", "B1.6", "B1.8")
    @pytest.mark.parametrize(
        ("words", "detail", "usage"),
        [
            ((), "a command is required", "usage: forks "),
            (("--bogus",), "unrecognized arguments: --bogus", "usage: forks "),
            (("bogus",), "unknown command: bogus", "usage: forks "),
            (("",), "unknown command: ", "usage: forks "),
            (("list",), "the following arguments are required: --run", "usage: forks list"),
            (("list", "--run"), "argument --run: expected one argument", "usage: forks list"),
            (
                ("list", "--run", "r.md", "--bogus", "x"),
                "unrecognized arguments: --bogus x",
                "usage: forks list",
            ),
            (
                ("wait", "--run", "r.md", "--timeout", "0"),
                "argument --timeout: must be greater than 0: 0",
                "usage: forks wait",
            ),
            (
                ("wait", "--run", "r.md", "--timeout", "soon"),
                "argument --timeout: not a whole number: soon",
                "usage: forks wait",
            ),
            (("show", "--run", "r.md", "\udcff"), "arguments must be Unicode text", "usage: forks"),
        ],
    )
    def test_errors(self, run: Run, words: tuple[str, ...], detail: str, usage: str) -> None:
        """The parser that failed says so."""
        said = run.ask_words(*words)
        assert (said.code, said.error, said.content["detail"]) == (2, "usage", detail)
        assert said.content["usage"].startswith(usage)
        assert set(said.content) == {"error", "detail", "usage"}

    @pytest.mark.rule("B1.7")
    @pytest.mark.parametrize("verb", ON_A_RUN)
    def test_a_run_is_required(self, run: Run, verb: str) -> None:
        """Every verb on a run needs to be told which."""
        said = run.ask_words(verb)
        assert (said.code, said.error) == (2, "usage")
        assert "--run" in said.content["detail"]

    @pytest.mark.rule("B1.13", "B16.1")
    @pytest.mark.parametrize("number", ["0", "-1", "nan", "inf", "1e400", "x", "9e99"])
    def test_numbers(self, run: Run, number: str) -> None:
        """A number must be a number over 0, and one that time can be reckoned with."""
        words = ("--base", "b", "--block", "k", "--brief", "f")
        for option in ("--max-minutes", "--max-budget-usd"):
            said = run.ask("fork", *words, f"{option}={number}")
            assert said.error == "usage"
            assert said.content["detail"].startswith(f"argument {option}: ")

    @pytest.mark.rule("B1.12")
    def test_prefixes(self, inited: Run) -> None:
        """An option may be cut short as long as it is clear which one is meant."""
        assert inited.ask("wait", "--al", "--time", "1").code == 0


class TestHelp:
    """Help is an answer like any other."""

    @pytest.mark.rule("B1.5", "B1.6")
    def test_top(self, run: Run) -> None:
        """The help names every public command."""
        for words in (("-h",), ("--help",), ("-h", "train")):
            said = run.ask_words(*words)
            assert (said.code, set(said.content)) == (0, {"help", "commands"})
            assert said.content["commands"] == list(SUMMARIES)
            assert not any(name.startswith("_") for name in said.content["commands"])
            assert all(name in said.content["help"] for name in SUMMARIES)

    @pytest.mark.rule("B1.5", "B1.9")
    @pytest.mark.parametrize("verb", SUMMARIES)
    def test_of_a_verb(self, run: Run, verb: str) -> None:
        """Each verb has a help of its own, which wins over whatever else is wrong."""
        said = run.ask_words(*verb.split(), "--bogus", "--help")
        assert said.code == 0
        assert said.content["help"].startswith(f"usage: forks {verb}")

    def test_version(self, run: Run) -> None:
        """The version is an object too."""
        assert set(ok(run.ask_words("--version"))) == {"version"}


@pytest.mark.rule("B1.10")
class TestInsideAFork:
    """Who is a fork itself must not start others; it may look."""

    CHILD = {"SPIRE_FORKS_CHILD": "1"}  # noqa: RUF012

    @pytest.mark.rule("B1.9")
    def test_refused(self, inited: Run) -> None:
        """Train and fork are refused, by the variable's name, before anything else is looked at."""
        before = inited.snapshot()
        for words in (
            ("train", "--base", "b", "--brief", "none"),
            ("fork", "--base", "b", "--block", "k", "--brief", "none", "--model", "opus"),
        ):
            said = inited.ask(*words, env=self.CHILD)
            assert "SPIRE_FORKS_CHILD" in said.error
            assert said.content["command"] == words[0]
        assert inited.snapshot() == before

    @pytest.mark.rule("B1.9")
    def test_usage_comes_first(self, inited: Run) -> None:
        """Help and unknown words are dealt with before."""
        assert inited.ask("train", "--help", env=self.CHILD).code == 0
        words = ("--base", "b", "--brief", "none", "--bogus")
        assert inited.ask("train", *words, env=self.CHILD).error == "usage"

    def test_allowed(self, inited: Run) -> None:
        """Everything else answers; an empty variable is none."""
        for words in (("list",), ("wait", "--all"), ("replay",)):
            assert inited.ask(*words, env=self.CHILD).code == 0
        assert inited.ask("kill", "--job", "j0009", env=self.CHILD).error == "unknown job"
        said = inited.ask("train", "--base", "b", "--brief", "none", env={"SPIRE_FORKS_CHILD": ""})
        assert said.error == "cannot read brief"
