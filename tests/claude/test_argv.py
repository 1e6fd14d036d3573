"""The client's command line."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.claude.argv import argv
from forks_events.values import Agent, FileDigest, Launch, Mcp
from tests.histories import LAUNCH
from tests.projections.builders import SESSION, fork, reached, train
from tests.strategies import values

LISTS = evolve(
    LAUNCH,
    tools=("Read", "Edit"),
    allowed_tools=("Read", "Bash(git *)"),
    disallowed_tools=("Bash(git push:*)", "Bash(claude:*)"),
)
HEAD = (LAUNCH.binary.path, "-p", "--output-format", "stream-json", "--verbose")
LAUNCHED = (
    *HEAD,
    *("--model", "claude-opus-4-5"),
    *("--effort", "high"),
    *("--permission-mode", "dontAsk"),
    *("--tools", "Read,Edit"),
    *("--allowedTools", "Read", "Bash(git *)"),
    *("--disallowedTools", "Bash(git push:*)", "Bash(claude:*)"),
    "--strict-mcp-config",
    *("--mcp-config", "/run-forks/mcp-empty.json"),
    *("--append-system-prompt-file", "/run-forks/preamble.md"),
)
FRESH = ("--session-id", SESSION)
FORKED = ("--resume", SESSION, "--fork-session", "--session-id", "s-j0001")
LAUNCHES: st.SearchStrategy[Launch] = values(Launch)


def after(flag: str, words: tuple[str, ...]) -> str:
    """The word after a flag."""
    return words[words.index(flag) + 1]


@pytest.mark.rule("B14.3")
class TestWhole:
    """Every call has all of the launch on it, in one order, and then what the call is."""

    def test_train(self) -> None:
        """A training is a fresh session under the id that we chose."""
        assert argv(LISTS, train()) == (*LAUNCHED, *FRESH)

    def test_fork(self) -> None:
        """A fork resumes its base's session and forks it into one of its own."""
        assert argv(LISTS, fork()) == (*LAUNCHED, *FORKED)

    def test_everything(self) -> None:
        """Agent, settings file and turns follow the launch, the budget the session."""
        launch = evolve(
            LISTS,
            agent=Agent(name="reviewer", path="/a.md", sha256="a" * 64),
            settings=FileDigest(path="/s.json", sha256="b" * 64),
            max_turns=30,
        )
        expected = (
            *LAUNCHED,
            *("--agent", "reviewer"),
            *("--settings", "/s.json"),
            *("--max-turns", "30"),
            *FORKED,
            *("--max-budget-usd", "2.5"),
        )
        assert argv(launch, fork(max_budget_usd=2.5)) == expected

    def test_empty_lists(self) -> None:
        """Rules that nobody gave leave no flag behind, which would swallow the next word."""
        words = argv(evolve(LISTS, allowed_tools=(), disallowed_tools=()), train())
        assert "--allowedTools" not in words
        assert "--disallowedTools" not in words

    def test_servers_allowed(self) -> None:
        """Only a strict launch shuts other MCP servers out."""
        launch = evolve(LISTS, mcp=Mcp(strict=False, config="/mcp.json"))
        words = argv(launch, train())
        assert "--strict-mcp-config" not in words
        assert after("--mcp-config", words) == "/mcp.json"

    def test_tools_are_one_word(self) -> None:
        """Tools are joined by commas; rules are a word each, since they may hold commas."""
        launch = evolve(LISTS, allowed_tools=("Bash(a, b)", "Read"))
        words = argv(launch, train())
        assert after("--tools", words) == "Read,Edit"
        place = words.index("--allowedTools")
        assert words[place + 1 : place + 4] == ("Bash(a, b)", "Read", "--disallowedTools")


@pytest.mark.rule("B16.6")
class TestBudget:
    """The budget is written as short as it can be, and not at all where there is none."""

    @pytest.mark.parametrize(
        ("usd", "expected"),
        [
            (5.0, "5"),
            (0.5, "0.5"),
            (12.25, "12.25"),
            (0.1, "0.1"),
            (100.0, "100"),
            (1e6, "1000000"),
        ],
    )
    def test_shortest(self, usd: float, expected: str) -> None:
        """No zeros behind the point, and no point without a need."""
        assert after("--max-budget-usd", argv(LAUNCH, fork(max_budget_usd=usd))) == expected

    def test_none(self) -> None:
        """Without a budget there is no flag."""
        assert "--max-budget-usd" not in argv(LAUNCH, fork())


@pytest.mark.rule("B14.3")
class TestPrefix:
    """What a base's prefix is made of is on every one of its calls to the letter."""

    @settings(max_examples=50, deadline=None)
    @given(LAUNCHES, st.none() | st.floats(0.01, 99))
    def test_law_forks_repeat_their_base(self, launch: Launch, budget: float | None) -> None:
        """Training and fork begin alike, and only the session's words come after."""
        base = argv(launch, train())
        assert argv(launch, fork(max_budget_usd=budget))[: len(base) - 2] == base[:-2]
        assert base[-2:] == FRESH

    @settings(max_examples=50, deadline=None)
    @given(LAUNCHES)
    def test_law_no_prompt(self, launch: Launch) -> None:
        """The brief is not among the words: it goes through standard input."""
        job: Any = fork()
        words = argv(launch, job)
        assert job.brief.sha256 not in words
        assert job.brief_source not in words

    @pytest.mark.parametrize("name", ["agent", "settings", "max_turns"])
    def test_reachability(self, name: str) -> None:
        """The laws look at launches with and without each optional part."""
        assert reached(LAUNCHES, lambda launch: getattr(launch, name) is None)
        assert reached(LAUNCHES, lambda launch: getattr(launch, name) is not None)
