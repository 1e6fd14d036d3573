"""``--run``: which run is meant, and that it had its init."""

import json
import subprocess
import sys

import pytest

from tests.driver import Run, ok, one_object


@pytest.mark.rule("B14.1")
class TestWithoutAnInit:
    """Every verb on a run needs its init first, and leaves nothing behind."""

    @pytest.mark.parametrize(
        "words",
        [
            ("train", "--base", "b", "--brief", "f"),
            ("fork", "--base", "b", "--block", "k", "--brief", "f"),
            ("wait", "--all"),
            ("list",),
            ("show", "j0001"),
            ("kill", "--job", "j0001"),
            ("replay",),
        ],
    )
    def test_refused(self, run: Run, words: tuple[str, ...]) -> None:
        """It says so, names the folder, and makes no file."""
        said = run.ask(*words)
        wanted = "there is no log" if words == ("replay",) else "no launch config for this run"
        assert wanted in said.error
        assert str(run.state) in json.dumps(said.content)
        assert not run.state.exists()


@pytest.mark.rule("B2.4")
class TestRunPath:
    """The run log names the state folder; it need not exist itself."""

    @pytest.mark.parametrize("path", ["run", "run.txt", "run.md/", ".md", "x/.MD", "run.md.bak"])
    def test_not_a_run_log(self, run: Run, path: str) -> None:
        """A path that does not end in .md is refused."""
        said = run.ask_words("list", "--run", path)
        if path.endswith("/"):
            assert "no launch config" in said.error, "a trailing slash is no part of a path"
        else:
            assert said.error == "--run must name the run log .md file"
            assert said.content["run"].endswith(path)

    @pytest.mark.rule("B2.1")
    @pytest.mark.parametrize("path", ["", "  "])
    def test_empty(self, run: Run, path: str) -> None:
        """Nothing is no path."""
        assert run.ask_words("list", "--run", path).error == "empty path"

    @pytest.mark.rule("B2.2")
    def test_relative(self, inited: Run) -> None:
        """A relative path is relative to the working directory; upper case and dots are fine."""
        content = ok(inited.ask_words("list", "--run", "../repository/.././run.md"))
        assert content["state"] == str(inited.state)

    def test_a_working_directory_that_is_gone(self, inited: Run) -> None:
        """It is told as such."""
        gone = inited.folder / "gone"
        gone.mkdir()
        program = (
            f"import os, sys; os.rmdir({str(gone)!r}); sys.argv = ['forks', 'list', '--run', 'x.md'];"
            "from forks_cli.main import main; sys.exit(main())"
        )
        done = subprocess.run(
            [sys.executable, "-P", "-c", program],
            cwd=gone,
            env=inited.env,
            capture_output=True,
            check=False,
        )
        assert one_object(done.stdout)["error"] == "the working directory is gone"
