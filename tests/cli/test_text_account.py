"""Answers about an account, as people read them."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from rich.cells import cell_len

from forks_cli.text import render
from forks_events.words import Kind
from tests.cli.terminal import on_a_terminal
from tests.driver import Run
from tests.log_view import Line
from tests.study_driver import reading, spend, tell

WIDTHS = (20, 40, 80, 200)
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen that is wide, and no terminal."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)


def shown(run: Run, *words: str) -> list[str]:
    """The lines of an answer as text."""
    return lines_of(words, run.ask_words(*words).content)


def lines_of(words: Sequence[str], content: Line) -> list[str]:
    """The lines of an answer as text."""
    return render(words, content, terminal=False).splitlines()


def clock(at: datetime) -> str:
    """A time as people read it here, perhaps behind its date."""
    return f"{at.astimezone():%H:%M:%S}"


class TestGate:
    """One sentence: whether, why, and when to come back."""

    def test_sentences(self, run: Run) -> None:
        """Each answer begins with its word."""
        (line,) = shown(run, "gate")
        assert line.startswith("unknown: no reading of the seven_day window")
        tell(run, reading(NOW, seven=0.5, seven_in_s=3600))
        assert shown(run, "gate") == ["go: seven_day utilization 0.500 < 0.95"]
        tell(run, reading(NOW, seven=0.97, seven_in_s=3600))
        (line,) = shown(run, "gate")
        assert line.startswith("gated: seven_day utilization 0.970 >= 0.95")
        assert re.search(rf"; come back at (\S+ )?{clock(NOW + timedelta(hours=1))}$", line)

    def test_until_nobody_knows_when(self, run: Run) -> None:
        """Without a reset nobody says when to come back."""
        tell(run, reading(NOW, seven=0.97))
        (line,) = shown(run, "gate")
        assert "come back" not in line

    @pytest.mark.parametrize(("action", "code"), [("go", "32"), ("unknown", "33"), ("gated", "31")])
    def test_colours(self, monkeypatch: pytest.MonkeyPatch, action: str, code: str) -> None:
        """Green goes, yellow is not known, red is closed."""
        monkeypatch.setenv("TERM", "xterm")
        text = render(["gate"], {"action": action, "reason": "why"}, terminal=True)
        assert text == f"\x1b[{code}m{action}\x1b[0m: why\n"


class TestQuota:
    """A table of windows, and what they permit."""

    def test_nothing(self, run: Run) -> None:
        """Nothing read is a sentence, not an empty table."""
        lines = shown(run, "quota", "--account", "team")
        assert lines == ["Nothing was read of the account team yet.", "", "go: no quota data yet"]

    def test_windows(self, run: Run) -> None:
        """Share, age and reset of each; one that has lapsed says so."""
        earlier = NOW - timedelta(hours=2)
        tell(run, reading(earlier, five=0.421, five_in_s=60, seven=0.5, seven_in_s=10**6))
        tell(run, reading(NOW, seven=1.0, seven_in_s=10**6))
        heading, five, seven, empty, gate = shown(run, "quota")
        assert heading.split() == ["window", "used", "age", "resets"]
        assert re.match(r"five_hour +42\.1%  2h 0\dm  .*\d\d:\d\d:\d\d  +lapsed$", five)
        assert re.match(r"seven_day +100\.0% .* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", seven)
        assert (empty, gate) == ("", "stop: seven_day utilization 1.000 >= 0.95")

    def test_wait(self, run: Run) -> None:
        """A wait says until when; a share that was not told is a dash."""
        ahead = NOW + timedelta(minutes=10)
        tell(run, reading(NOW, five_in_s=600, status="rejected", kind="five_hour"))
        lines = shown(run, "quota")
        assert lines[1].split()[:2] == ["five_hour", "-"]
        assert lines[-1].startswith("wait: five_hour window rejected; come back at ")
        assert lines[-1].endswith(clock(ahead))


class TestSpend:
    """A sum, and three tables."""

    def test_nothing(self, run: Run) -> None:
        """Nothing spent is a sentence."""
        assert shown(run, "spend") == ["Nothing was booked to the account default."]

    def test_tables(self, run: Run) -> None:
        """What is unknown is counted beside the sum."""
        tell(run, spend(0.125, purpose=Kind.TRAIN), spend(1000.0), spend(None, run="run-2"))
        lines = shown(run, "spend")
        text = "$1,000.1250 by the account default in 3 calls, 1 of them of unknown cost"
        assert lines[0] == text
        tables = "\n".join(lines[1:]).split("\n\n")
        assert [table.split()[0] for table in tables] == ["who", "run", "day"]
        assert re.search(r"^forks +fork +\$1,000\.0000 +2 +1 ", tables[0], re.MULTILINE)
        assert re.search(r"^forks +train +\$0\.1250 +1  ", tables[0], re.MULTILINE)
        assert re.search(r"^run-2 +/run-forks +\$0\.0000 +1 +1 ", tables[1], re.MULTILINE)
        assert re.search(r"^2026-11-30 +\$1,000\.1250 +3 +1 ", tables[2], re.MULTILINE)

    def test_estimates(self, run: Run) -> None:
        """What is estimated stands beside what is known, marked, and is no part of it."""
        tell(run, spend(0.5), spend(None, estimate_usd=0.25, run="run-2"), spend(None))
        lines = shown(run, "spend")
        assert lines[0] == (
            "$0.5000 by the account default in 3 calls, 1 of them of unknown cost, "
            "and at least $0.2500 more by estimate"
        )
        assert any(
            re.search(r"^run-2 +/run-forks +\$0\.0000 +~\$0\.2500 +1 ", line) for line in lines
        )

    def test_one(self, run: Run) -> None:
        """One call is one; where all is known nobody speaks of the unknown."""
        tell(run, spend(0.5))
        lines = shown(run, "spend")
        assert lines[0] == "$0.5000 by the account default in 1 call"
        assert "unknown" not in "\n".join(lines)


VERBS = ("gate", "quota", "spend")


class TestAll:
    """Whatever stands in an answer, and however narrow the screen is."""

    @pytest.mark.parametrize("columns", WIDTHS)
    @pytest.mark.parametrize("verb", VERBS)
    def test_widths(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, verb: str, columns: int
    ) -> None:
        """No line is wider than the screen, and nothing is lost."""
        monkeypatch.setenv("COLUMNS", str(columns))
        name = "study:" + "n" * 60
        tell(run, reading(NOW, seven=0.97, seven_in_s=3600), spend(0.125, who=name))
        lines = shown(run, verb)
        assert [line for line in lines if cell_len(line) > columns] == []
        told = "".join(lines)
        if verb == "spend":
            assert told.count("n") >= 60
            assert "$0.1250" in told
        assert verb == "spend" or "seven_day" in told

    @pytest.mark.parametrize("verb", VERBS)
    def test_harmless(self, run: Run, verb: str) -> None:
        """No text of an answer steers the terminal."""
        evil = "\x1b[2J\x07\n"
        tell(run, spend(0.125, who=evil, run=evil, source=evil))
        tell(run, reading(NOW, seven=0.97, seven_in_s=60))
        content = run.ask_words(verb).content
        for name in ("reason", "account"):
            content = content | {name: evil} if name in content else content
        text = "\n".join(lines_of([verb], content))
        assert not set(text) & {"\x1b", "\x07"}

    def test_on_a_terminal(self, run: Run) -> None:
        """In a real terminal the same is there."""
        tell(run, reading(NOW, seven=0.97, seven_in_s=3600))
        assert on_a_terminal(run, "gate", columns=80).text.startswith("gated: seven_day")

    def test_refusals(self, run: Run) -> None:
        """What goes wrong is told as everywhere."""
        assert shown(run, "gate", "--stop", "2")[0] == "argument --stop: must be at most 1: 2"
