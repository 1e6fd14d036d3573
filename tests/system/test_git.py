"""Git: asked without touching anything, and never needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from forks_core.system.git import git, head, toplevel
from tests.driver import Run, ok

# A git that tells how it was called, and whether there was anything to read.
TOLD = '#!/bin/sh\necho "$@"\necho "$(cat)." \necho complaint >&2\nexit 3\n'


@pytest.mark.rule("B8.1")
def test_how_it_is_called(tmp_path: Path) -> None:
    """It takes no locks, reads nothing of ours, and what it says is told, not printed."""
    shim = tmp_path / "git"
    shim.write_text(TOLD.replace("exit 3", "exit 0"), encoding="utf-8")
    shim.chmod(0o755)
    program = (
        "from forks_core.system.git import git; from pathlib import Path;"
        "assert git(Path('.'), 'log', '-1') == (True, '--no-optional-locks log -1\\n.')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        input=b"not for git",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.rule("B8.2")
class TestWithoutAnAnswer:
    """Where git knows nothing, nothing is known, and nothing fails."""

    def test_outside(self, tmp_path: Path) -> None:
        """Outside git there is neither a top nor a HEAD; what git complains of is told."""
        assert (toplevel(tmp_path), head(tmp_path)) == (None, None)
        done, text = git(tmp_path, "status")
        assert not done
        assert "not a git repository" in text

    def test_before_the_first_commit(self, tmp_path: Path) -> None:
        """A repository without a commit has a top, and no HEAD."""
        subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
        assert toplevel(tmp_path) == tmp_path
        assert head(tmp_path) is None

    def test_a_folder_that_is_gone(self, tmp_path: Path) -> None:
        """Where git cannot even be started, that is told."""
        assert git(tmp_path / "gone", "status")[0] is False
        assert head(tmp_path / "gone") is None

    def test_no_git(self, ready: Run) -> None:
        """Without git a fork starts all the same, and is told that git is not there."""
        tools = ready.folder / "tools"
        tools.mkdir()
        ready.env["PATH"] = str(tools)
        job = ready.fork()
        assert ready.events("JobCreated", job)[0]["head"] is None
        digest = ready.events("JobCreated", job)[0]["brief"]["sha256"]
        prompt = (ready.state / "briefs" / f"{digest}.md").read_text(encoding="utf-8")
        assert prompt.count("No such file or directory: 'git'") == 2
        ready.end_of(job)
        assert ok(ready.ask("list"))["running"] == []
