"""The prompts: templates filled in, what changed, who commits."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.prompt import Delta, commit_rule, delta_header, render
from forks_events.words import Mode
from forks_templates import FORK, PREAMBLE, TRAIN

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TRAIN_NAMES = {"base", "run", "state_dir", "notes_dir", "logs_dir", "brief"}
FORK_NAMES = {
    "base",
    "run",
    "state_dir",
    "block",
    "phase",
    "mode",
    "delta",
    "commit_rule",
    "note_path",
    "logs_dir",
    "brief",
}


@pytest.mark.rule("B19.1")
class TestRender:
    """``$name`` is filled in; unknown names stay; what is filled in is not looked at again."""

    @pytest.mark.parametrize(
        ("template", "expected"),
        [
            ("base $base.", "base api."),
            ("${base}s", "apis"),
            ("$unknown and $base", "$unknown and api"),
            ("$basement", "$basement"),
            ("costs 5 $, or $5", "costs 5 $, or $5"),
            ("$brief", "do $base"),
            ("$brief $base", "do $base api"),
        ],
    )
    def test_told(self, template: str, expected: str) -> None:
        """A brief may hold dollars: it arrives as it was written."""
        assert render(template, {"base": "api", "brief": "do $base"}) == expected

    @settings(deadline=None)
    @given(st.text(alphabet="$ab{}{ \n"))
    def test_law_a_brief_arrives_whole(self, brief: str) -> None:
        """Whatever a brief says, it is in the prompt to the letter."""
        assert render("<$brief>", {"brief": brief, "a": "?", "b": "?"}) == f"<{brief}>"

    @pytest.mark.rule("B19.2")
    @pytest.mark.parametrize(("path", "names"), [(TRAIN, TRAIN_NAMES), (FORK, FORK_NAMES)])
    def test_our_templates(self, path: Path, names: set[str]) -> None:
        """Our templates use every name that they are given, and no other."""
        filled = render(path.read_text(encoding="utf-8"), {name: f"<{name}>" for name in names})
        assert "$" not in filled
        assert {name for name in names if f"<{name}>" not in filled} == set()

    def test_preamble(self) -> None:
        """What is appended to every system prompt is the same for all: it holds no names."""
        assert "$" not in PREAMBLE.read_text(encoding="utf-8")


class TestDelta:
    """A fork is told its base's commit, the commits since, and how the tree differs from it."""

    @pytest.mark.rule("B18.1")
    def test_no_commit(self) -> None:
        """Without a commit everything may have changed, and nothing is fenced."""
        text = delta_header(None)
        assert "treat everything on disk as possibly changed" in text
        assert "```" not in text

    @pytest.mark.rule("B18.2")
    def test_changes(self) -> None:
        """Each part stands in a block of its own; titles have the first 12 digits."""
        text = delta_header(Delta(commit=COMMIT, log="abc one\ndef two", stat="1 file changed"))
        assert text.startswith(f"The base was trained on commit {COMMIT}.\n\n")
        assert "Commits 0123456789ab..HEAD:\n\n```\nabc one\ndef two\n```" in text
        assert "Working tree against 0123456789ab:\n\n```\n1 file changed\n```" in text

    @pytest.mark.rule("B18.2")
    def test_nothing_changed(self) -> None:
        """That nothing changed is said, not left blank."""
        text = delta_header(Delta(commit=COMMIT, log="", stat=""))
        assert "```\n(none)\n```" in text
        assert "```\n(no changes)\n```" in text

    @pytest.mark.rule("B18.2")
    def test_git_fails(self) -> None:
        """What git complains of stands where its answer would."""
        complaint = "fatal: bad object 0123"
        text = delta_header(Delta(commit=COMMIT, log=complaint, stat=complaint))
        assert text.count(f"```\n{complaint}\n```") == 2


@pytest.mark.rule("B19.3")
class TestCommitRule:
    """A parallel fork commits nothing and keeps to its paths; a lone one commits by name."""

    def test_parallel(self) -> None:
        """No commit, no staging, only these paths; the orchestrator commits after its gate."""
        rule = commit_rule(Mode.PARALLEL, ["src/a.py", "docs"])
        assert "Do not commit and do not stage" in rule
        assert "only these paths: `src/a.py`, `docs`." in rule
        assert "The orchestrator commits after its gate." in rule

    @pytest.mark.parametrize("paths", [None, []])
    def test_sequential(self, paths: list[str] | None) -> None:
        """It commits after its gate, by explicit paths, and never everything at once."""
        rule = commit_rule(Mode.SEQUENTIAL, paths)
        assert "your gate passes, commit" in rule
        assert "every path explicitly" in rule
        assert "never add everything" in rule
        assert "Expected paths" not in rule

    def test_sequential_with_paths(self) -> None:
        """The paths that are expected come after the rule."""
        rule = commit_rule(Mode.SEQUENTIAL, ["a", "b"])
        assert rule == f"{commit_rule(Mode.SEQUENTIAL, None)} Expected paths: `a`, `b`."
