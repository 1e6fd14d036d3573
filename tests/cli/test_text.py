"""Answers as text, for people."""

import json
import re
import shlex
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from rich.cells import cell_len

from forks_cli.main import answer, as_text, wants_text
from forks_cli.text import render
from forks_cli.verbs import GROUPS, SUMMARIES
from tests.cli.terminal import on_a_terminal
from tests.driver import Run, ok
from tests.log_view import Line
from tests.processes import until

BLOCK = "日本語 🎉 \x1b[2J\x1b]0;title\x07 a\nb \u202eevil"
ANSWER = "Done.\x1b[31m\x1b]52;c;aGk=\x07\r\x9b2J\n\n~~~\n\tcode 日本語\n~~~\n"
FORK = "j0002"
BARE = {"PATH": "/usr/bin:/bin"}
WIDTHS = (40, 80, 200)
# All that moves a terminal: controls but for line ends and tabs, and marks of direction.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def told(shared: Run) -> Run:
    """A run whose fork has a name and an answer that would steer a terminal."""
    fork = shared.fork({"stderr": "\x1b[1mbad\x1b[0m\n"}, {"say": ANSWER}, block=BLOCK)
    assert fork == FORK
    assert shared.end_of(fork)["status"] == "ok"
    return shared


class Desk:
    """Somebody who reads, at a screen of some width."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        patch.delenv("NO_COLOR", raising=False)

    def shows(self, run: Run, *words: str, columns: int = 80) -> str:
        """Answer the words on this run as text."""
        given = run.words(words[0], *words[1:])
        return self.renders(given, run.ask_words(*given).content, columns=columns)

    def renders(self, words: list[str], content: Line, columns: int = 80) -> str:
        """Show an answer as text."""
        self._patch.setenv("COLUMNS", str(columns))
        return render(words, content, terminal=False)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A screen that is no terminal."""
    return Desk(monkeypatch)


def assert_fits(text: str, columns: int) -> None:
    """No line is wider than the screen."""
    wide = [line for line in text.splitlines() if cell_len(line) > columns]
    assert wide == []


def assert_holds(text: str, name: str) -> None:
    """Every letter of a name is there, though it may go on in another line."""
    missing = Counter(name.replace(" ", "")) - Counter(text)
    assert not missing, (name, missing)


@pytest.mark.rule("D15")
class TestWhoReads:
    """A program gets JSON; a terminal, and who says --text, gets text; a fork always gets JSON."""

    def test_a_terminal(self, told: Run) -> None:
        """On a terminal it is text, and in a fork it is JSON there too."""
        words = told.words("list")
        shown = on_a_terminal(told, *words, columns=80)
        assert shown.code == 0
        assert str(told.state) in shown.text.replace("\n", "")
        assert FORK in shown.text
        shown = on_a_terminal(told, *words, columns=80, env={"SPIRE_FORKS_CHILD": "1"})
        assert json.loads(shown.raw)["jobs"][1]["job"] == FORK

    def test_a_pipe(self, told: Run) -> None:
        """In a pipe it is JSON, and with --text it is text without a single code."""
        with told.start(*told.words("list", "--text")) as process:
            out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, b"")
        assert FORK in out.decode()
        assert b"\x1b" not in out

    @pytest.mark.parametrize(
        ("words", "child", "text"),
        [
            (["list"], "", False),
            (["list", "--text"], "", True),
            (["list", "--te"], "", True),
            (["list", "--text"], "1", False),
            (["list", "--text", "--json"], "", False),
            (["list", "--js", "--text"], "", False),
            (["show", "--run", "r.md", "--", "--text"], "", False),
            (["fork", "--block=--text"], "", False),
        ],
    )
    def test_which_words(
        self, monkeypatch: pytest.MonkeyPatch, words: list[str], child: str, *, text: bool
    ) -> None:
        """The options may be cut short like any other, and what is none of them asks for nothing."""
        monkeypatch.setenv("SPIRE_FORKS_CHILD", child)
        assert wants_text(words) is text

    def test_not_both(self, run: Run) -> None:
        """To ask for both is a usage error."""
        assert run.ask("list", "--json", "--text").error == "usage"


class TestHarmless:
    """Nothing that a model, a file or a caller has written may steer the terminal that shows it."""

    def test_on_a_terminal(self, told: Run) -> None:
        """Of all codes only those of colour arrive; escapes in names and answers are spelled out."""
        shown = on_a_terminal(told, *told.words("show", FORK), columns=80)
        assert shown.raw != shown.text
        assert STEERING.search(shown.text) is None
        assert "\\x1b]52;c;" in shown.text

    def test_spelled_out(self, told: Run, desk: Desk) -> None:
        """Names stay on their line; an answer keeps its lines, its tabs and all its letters."""
        text = desk.shows(told, "show", FORK, columns=200)
        assert "日本語 🎉 \\x1b[2J\\x1b]0;title\\x07 a\\nb \\u202eevil\n" in text
        spelled = "Done.\\x1b[31m\\x1b]52;c;aGk=\\x07\\r\\x9b2J\n\n~~~\n\tcode 日本語\n~~~\n"
        assert f"answer\n{spelled}" in text
        assert "standard error\n\\x1b[1mbad\\x1b[0m\n" in text

    @pytest.mark.parametrize("verb", ["list", "wait", "show", "kill", "fork", "replay", "expire"])
    def test_law_of_every_view(self, told: Run, desk: Desk, verb: str) -> None:
        """Whatever text stands wherever in an answer, nothing of it comes through raw."""
        words = {"show": [FORK], "wait": [FORK], "kill": ["--job", FORK]}
        evil = "\x1b[2J\x07\x9b\ud800\u2066\r"
        made: dict[str, Line] = {
            "fork": {"job": evil, "base": evil, "base_state": evil, "warm_until": None},
            "expire": {"retired": [evil], "bases": [evil], "killed": [], "ok": True},
        }
        said = made.get(verb) or told.ask(verb, *words.get(verb, [])).content
        content = poisoned(said, evil)
        text = desk.renders([verb, "--run", f"{evil}.md"], content)
        assert STEERING.search(text) is None
        text.encode()
        refusal = desk.renders([verb], {"error": evil, evil: {evil: [evil]}})
        assert STEERING.search(refusal) is None

    def test_a_screen_that_knows_few_letters(self, told: Run) -> None:
        """Where the output cannot hold a letter its number stands, and it is no internal error."""
        env = {"PYTHONIOENCODING": "ascii"}
        with told.start(*told.words("show", FORK, "--text"), env=env) as process:
            out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, b"")
        assert b"\\u65e5" in out


def poisoned(value: Any, evil: str, name: str = "") -> Any:
    """The same answer with something evil behind each of its texts, but for times."""
    if isinstance(value, dict):
        return {key: poisoned(item, evil, key) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, evil) for item in value]
    is_time = name in {"at", "last_hit", "warm_until"} or name.endswith("_at")
    return value + evil if isinstance(value, str) and not is_time else value


class TestWidths:
    """Whatever the width, no line is wider and nothing is lost; job ids are never cut."""

    @pytest.mark.parametrize("columns", WIDTHS)
    def test_list(self, told: Run, desk: Desk, columns: int) -> None:
        """Every job and every name is there."""
        text = desk.shows(told, "list", columns=columns)
        assert_fits(text, columns)
        for name in ("j0001", FORK):
            assert re.search(rf"\b{name}\b", text)
        assert_holds(text, "日本語🎉\\x1b[2J\\x1b]0;title\\x07a\\nb\\u202eevil")

    def test_what_went_wrong_is_wrapped(self, told: Run, desk: Desk) -> None:
        """A job that ended badly keeps the table on 80 columns: its words go on below each other."""
        content = ok(told.ask("list"))
        bad = {"status": "failed", "reason": "is_error", "error_kind": "rate_limit"}
        more = {"base": "api", "block": "parser", "flags": ["needs_attention", "cold_start"]}
        jobs = [content["jobs"][1] | bad | more | {"cost_delta_usd": 0.1525}]
        text = desk.renders(["list"], content | {"jobs": jobs}, 80)
        assert_fits(text, 80)
        (line,) = [line for line in text.splitlines() if line.startswith(FORK)]
        for word in ("fork", "api", "parser", "failed", "$0.1525"):
            assert word in line.split()
        for word in ("rate_limit)", "needs_attention", "cold_start"):
            assert word in text.split()

    @pytest.mark.parametrize("columns", WIDTHS)
    @pytest.mark.parametrize("name", [FORK, "base"])
    def test_show(self, told: Run, desk: Desk, columns: int, name: str) -> None:
        """Sessions, paths and digests go on in the next line where they must."""
        content = ok(told.ask("show", name))
        text = desk.shows(told, "show", name, columns=columns)
        assert_fits(text.partition("answer\n")[0], columns)
        row = content.get("job") or content["base"]
        assert_holds(text, row["session"])
        whole = re.sub(r"\s", "", text)
        assert (content.get("brief") or row["cwd"]) in whole

    @pytest.mark.parametrize("columns", [1, 40, 200])
    def test_two_hundred_jobs(self, told: Run, desk: Desk, columns: int) -> None:
        """Two hundred jobs with long names are two hundred jobs, also on the narrowest of screens."""
        content = ok(told.ask("list"))
        row = content["jobs"][1]
        names = [f"j{number:05}" for number in range(9900, 10100)]
        rows = [row | {"job": name, "block": f"{name}-" + "x" * 150} for name in names]
        text = desk.renders(["list"], content | {"jobs": rows}, columns)
        assert_fits(text, max(columns, 20))
        found = re.findall(r"^(j\d{5})\b", text, re.MULTILINE)
        assert found == names
        assert text.count("x") >= 200 * 150

    @pytest.mark.parametrize("columns", WIDTHS)
    def test_the_others(self, told: Run, desk: Desk, columns: int) -> None:
        """Results, waits, refusals, registries."""
        ok(told.ask("list"))
        result = ok(told.ask("show", FORK))["result"]
        waited = {"done": [result], "running": [], "pings": [], "met": True}
        for verb, content, name in (
            ("wait", waited, FORK),
            ("replay", told.ask("replay").content, result["session"]),
            ("show", told.ask("show", "j" * 300).content, "j" * 300),
            ("where", told.ask_words("where", "--binary", "/n" * 99, env=BARE).content, "/n" * 99),
        ):
            text = desk.renders([verb], content, columns)
            assert_fits(text, columns)
            assert name in re.sub(r"\s", "", text)

    def test_the_screen_tells_its_width(self, told: Run) -> None:
        """The terminal's own width counts, also when it can do nothing else."""
        for term in ("xterm", "dumb"):
            shown = on_a_terminal(told, *told.words("list"), columns=40, env={"TERM": term})
            assert_fits(shown.text, 40)
            assert re.search(rf"^{FORK}$", shown.text, re.MULTILINE)

    def test_very_long_texts(self, told: Run, desk: Desk) -> None:
        """A long answer is whole, as it was said, and there at once."""
        content = ok(told.ask("show", FORK))
        long = "\n".join(["word " * 30] * 8000 + ["x" * 100_000])
        text = desk.renders(["show"], content | {"text": long}, columns=80)
        assert text.count("word") == 240_000
        assert "x" * 100_000 in text


class TestColours:
    """Colours are for terminals that have them and readers that want them."""

    @pytest.mark.parametrize(
        ("variable", "value", "codes"),
        [
            *(("TERM", "xterm", True), ("NO_COLOR", "", True)),
            *(("NO_COLOR", "1", False), ("TERM", "dumb", False)),
        ],
    )
    def test_who_wants_none(
        self, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, *, codes: bool
    ) -> None:
        """NO_COLOR, and a terminal that can do nothing, get no code at all; others get colours."""
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv(variable, value)
        content = {"job": FORK, "killed": False, "status": "ok", "ok": True}
        text = render(["kill"], content, terminal=True)
        assert ("\x1b[32mok" in text) is codes
        assert ("\x1b" in text) is codes


class TestTimes:
    """Text has local times, JSON has UTC."""

    @pytest.mark.rule("D17")
    def test_both(self, told: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        """In a zone nine hours ahead the clock of the text is nine hours ahead of the JSON's."""
        content = ok(told.ask("show", FORK))
        ended = datetime.fromisoformat(content["job"]["ended_at"])
        assert ended.utcoffset() == timedelta(0)
        local = ended.astimezone(timezone(timedelta(hours=9)))
        monkeypatch.setenv("TZ", "ABC-9")
        time.tzset()
        try:
            text = desk.renders(["show"], content, columns=200)
        finally:
            monkeypatch.undo()
            time.tzset()
        assert re.search(rf"to (\d{{4}}-\d\d-\d\d )?{local:%H:%M:%S}, ", text)

    def test_names_are_no_times(self, told: Run, desk: Desk) -> None:
        """A block that is called like a time stays as it was called."""
        content = ok(told.ask("list"))
        name = "2026-01-01T00:00:00+00:00"
        content["jobs"][1]["block"] = name
        assert name in desk.renders(["list"], content, columns=200)
        assert name in desk.renders(["other"], {"block": name})


class TestViews:
    """Each answer says first what one wants to know, and nothing twice."""

    def test_a_job(self, told: Run, desk: Desk) -> None:
        """A page: what it is and how it went, tokens on a line, the answer at the end."""
        result = ok(told.ask("show", FORK))["result"]
        text = desk.shows(told, "show", FORK, columns=200)
        lines = text.splitlines()
        assert lines[0] == f"{FORK}  fork of base  ok"
        names = [line.split()[0] for line in lines[1 : lines.index("")]]
        assert len(names) == len(set(names))
        assert not re.search(r"\b(None|null)\b|  -$", text, re.MULTILINE)
        tokens = result["tokens"]
        (line,) = [line for line in lines if line.strip().startswith("tokens")]
        for name in ("input", "output", "cache_read", "cache_creation"):
            assert f"{tokens[name]:,} " in f"{line} "
        assert text.count(result["session"]) == 1
        assert text.index("answer\n") < text.index("standard error\n")

    def test_a_job_that_went_wrong(self, told: Run, desk: Desk) -> None:
        """Why, what the client exited with, which tools it was denied, until when it must wait."""
        content = ok(told.ask("show", FORK))
        more = {"reason": "is_error", "error_kind": "rate_limit", "status": "failed"}
        content["job"] |= more | {"reason_detail": "limit hit", "flags": ["needs_attention"]}
        told_more = {"resets_at": "2026-01-01T00:00:00+00:00", "exit_code": 1, "denials": 2}
        nothing = dict.fromkeys(content["result"]["tokens"])
        content["result"] |= {
            **more,
            **told_more,
            "denied_tools": ["Bash"],
            "cost_delta_usd": None,
            "tokens": nothing,
            "usage_basis": None,
        }
        text = desk.renders(["show"], content)
        assert text.startswith(f"{FORK}  fork of base  failed (is_error rate_limit)\n")
        for line in ("limit hit", "needs_attention", "Bash (2)", "unknown"):
            assert re.search(rf"^  .*  {re.escape(line)}$", text, re.MULTILINE), line
        assert re.search(r"^  exit code +1$", text, re.MULTILINE)
        assert re.search(r"^  until +(2026-01-01|2025-12-31) ", text, re.MULTILINE)
        assert "tokens" not in text

    def test_an_error_that_is_called_a_success(self, told: Run, desk: Desk) -> None:
        """The client's word for what a refused request came to would only confuse."""
        content = ok(told.ask("show", FORK))
        content["job"] |= {"status": "failed", "reason": "is_error", "reason_detail": "success"}
        assert "success" not in desk.renders(["show"], content).partition("answer")[0]

    def test_more_was_seen_than_counted(self, told: Run, desk: Desk) -> None:
        """Then what the last result told is the least that it cost."""
        content = ok(told.ask("show", FORK))
        assert "at least" not in desk.renders(["show"], content).partition("answer")[0]
        content["result"]["flags"] = ["usage_mismatch"]
        shown = desk.renders(["show"], content)
        assert re.search(
            r"^  cost +at least \$\d+\.\d{4} .*more was seen than counted$", shown, re.MULTILINE
        )

    def test_nothing_yet(self, inited: Run, desk: Desk) -> None:
        """A run without a job says so; a wait for nothing is met."""
        assert desk.shows(inited, "list").endswith("Nothing was trained yet.\n")
        assert desk.shows(inited, "wait", "--all") == "Met: nothing that is waited for runs.\n"
        assert desk.shows(inited, "expire", "--all") == "There was nothing to retire.\n"

    def test_init(self, run: Run, desk: Desk) -> None:
        """What is fixed in a few lines, and what of it is new."""
        words = ("--model", "claude-opus-4-5", "--binary", str(run.client), "--lab")
        text = desk.shows(run, "init", *words, columns=200)
        assert text.startswith("The launch is fixed.\n")
        for part in ("claude-opus-4-5, effort high", str(run.client), str(run.state), "2 at once"):
            assert part in text
        assert len(text.splitlines()) < 10
        assert desk.shows(run, "init", *words).startswith("It was fixed so before;")
        text = desk.shows(run, "init", *words, "--effort", "none", "--parallel-cap", "3")
        changed = "Fixed anew; changed: launch.effort, parallel_cap\n"
        assert sorted(text.splitlines()[0]) == sorted(changed.strip())
        assert "effort" not in text.partition("\n")[2]

    def test_launches(self, told: Run, desk: Desk) -> None:
        """A launch is a line, and a command that waits for it, which works as it stands."""
        brief = told.brief()
        words = ("--job", FORK, "--brief", brief)
        first, hint = desk.shows(told, "continue", *words, columns=200).splitlines()
        job = first.split()[0]
        assert first == f"{job} continues {FORK}"
        command = shlex.split(hint.partition(": ")[2])
        assert command[0] == "forks"
        assert [row["job"] for row in ok(told.ask_words(*command[1:]))["done"]] == [job]
        trained = {"job": "j7", "base": "a b", "session_id": "s"}
        text = desk.renders(["train", "--ru", "a b.md"], trained)
        assert text == "j7 trains a b\nwait for it: forks wait --run 'a b.md' j7\n"
        forked = {"job": "j8", "base": "b", "base_state": "cold", "warm_until": None}
        text = desk.renders(["fork", "--run=r.md"], forked)
        assert text == "j8 forks b, which is cold\nwait for it: forks wait --run r.md j8\n"

    @pytest.mark.parametrize(("status", "why"), [(529, "HTTP 529"), (None, "the network")])
    def test_retries(self, told: Run, desk: Desk, status: int | None, why: str) -> None:
        """A call that its client tries again and again is told of, where it would seem to rest."""
        retrying = {"attempt": 3, "error_status": status}
        content = ok(told.ask("show", FORK))
        content["job"] |= {"status": "running", "retrying": retrying}
        shown = desk.renders(["show"], content)
        assert re.search(rf"^  retries +attempt 3 after {why}$", shown, re.MULTILINE)

    def test_a_wait(self, told: Run, desk: Desk) -> None:
        """What was delivered, what still runs, and the verdict last."""
        go = told.folder / "go"
        job = told.fork({"wait_for": str(go)}, block="slow")
        until(lambda: bool(told.events("StreamOpened", job)))
        page = desk.shows(told, "show", job)
        assert page.startswith(f"{job}  fork of base  running\n")
        assert re.search(r"^  time +\d\d:\d\d:\d\d, \d+\.\ds$", page, re.MULTILINE)
        assert "cost" not in page
        assert re.search(rf"^{job} .*running", desk.shows(told, "list"), re.MULTILINE)
        text = desk.shows(told, "wait", job, "--timeout", "1")
        assert text.splitlines()[-1] == f"The time is up; still running: {job}"
        text = desk.shows(told, "kill", "--job", job)
        assert re.fullmatch(rf"{job} is over: killed, \d+ processes ended\n", text)
        assert desk.shows(told, "kill", "--job", job) == f"{job} was over before: killed\n"

    @pytest.mark.parametrize("columns", WIDTHS)
    def test_demo(self, told: Run, desk: Desk, columns: int) -> None:
        """A demonstration is a row for each job, and a sentence."""
        result = ok(told.ask("show", FORK))["result"]
        content = {
            "ok": True,
            "client": "2.1.332",
            "jobs": [result | {"cost_usd": result["cost_delta_usd"]}],
            "events": 41,
            "replay_equals_live": True,
            "head": {"seq": 41, "hash": "0"},
            "state": None,
        }
        text = desk.renders(["demo"], content, columns)
        assert_fits(text, columns)
        assert text.startswith("job" if columns == 200 else FORK)
        assert "All is well: client 2.1.332, 41 events" in text.replace("\n", " ")

    def test_refusals_and_usage(self, told: Run, desk: Desk) -> None:
        """First what is wrong, then what helps; an unknown word with how the verb is used."""
        text = desk.shows(told, "show", "j0999")
        assert text.startswith("unknown job or base\n")
        assert "j0001" in text
        text = desk.shows(told, "list", "--bogus")
        assert text.startswith("unrecognized arguments: --bogus\nusage: forks list ")
        content = {"error": "internal error", "type": "ValueError", "detail": "x"}
        assert desk.renders(["list"], content).split() == [
            *("internal", "error", "type", "ValueError", "detail", "x")
        ]
        assert as_text([], {"error": "usage", "detail": "d", "usage": "u"}) == "d\nu\n"

    @pytest.mark.parametrize("columns", WIDTHS)
    def test_help(self, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
        """Help is as it was laid out, fits, and tells no default that says nothing."""
        monkeypatch.setenv("COLUMNS", str(columns))
        verbs = [verb.split() for verb in (*SUMMARIES, *GROUPS)]
        for words in (["--help"], *([*verb, "--help"] for verb in verbs)):
            text = as_text(words, answer(words).content)
            assert text.startswith("usage: forks")
            assert "None" not in text
            assert "False" not in text
            # An option with all its choices is one word, which only the terminal can break.
            if columns >= 80 or words == ["--help"]:
                assert_fits(text, columns)
        listing = as_text(["--help"], answer(["--help"]).content)
        assert re.search(r"^  train +train a base$", listing, re.MULTILINE)

    def test_where(self, run: Run, desk: Desk) -> None:
        """Problems come first, each with what helps; then the verdict and what was found."""
        words = ["where", "--binary", str(run.folder / "gone")]
        said = run.ask_words(*words, env=BARE | {"SPIRE_FORKS_CHILD": "1"})
        lines = desk.renders(words, said.content, columns=200).splitlines()
        assert lines[0] == "problem: claude binary not found"
        assert lines[1].startswith("  name the client's program by --binary")
        assert lines[2].startswith("warning: inside a fork")
        assert lines[4] == "Not ready."
        assert any(line.strip().startswith("python") for line in lines[5:])
        content = run.ask_words("where", "--binary", str(run.client), env=BARE).content
        assert desk.renders(["where"], content).startswith("Ready.\n")
