"""What ``init`` refuses: in a fixed order, and nothing is written."""

from typing import Any

import pytest

from tests.driver import MODEL, Run, ok


def plain(run: Run, *words: str, model: str = MODEL) -> Any:
    """Ask for an init with nothing but a model, a client, and these words."""
    given = ("--model", model, "--binary", str(run.client), *words)
    return run.ask("init", *given)


class TestRefused:
    """What is wrong is named, in a fixed order, and nothing is written."""

    @pytest.mark.rule("B11.3", "B13.2", "B13.3", "B13.4", "B13.5", "B13.6", "B13.7")
    def test_order(self, run: Run) -> None:
        """Each check comes before the next: mend one, and the next one speaks."""
        gone = str(run.folder / "gone")
        claude = run.home / ".claude"
        claude.mkdir()
        settings = claude / "settings.json"
        settings.write_text('{"availableModels": []}', encoding="utf-8")
        words = {
            "--run": "run.txt",
            "--model": "opus",
            "--permission-mode": "plan",
            "--tools": " , ",
            "--cwd": gone,
            "--binary": gone,
            "--agent": "a/b",
            "--settings": gone,
        }
        mended = {
            "--run": (str(run.path), "--run must name the run log .md file"),
            "--model": (MODEL, "model must be a full id, not an alias"),
            "--permission-mode": ("auto", "permission mode plan cannot work"),
            "--tools": ("Bash", "--tools is empty"),
            "--cwd": (str(run.repository), "--cwd is not a directory"),
            "availableModels": ("", "the client's settings do not admit this model"),
            "--binary": (str(run.client), "claude binary not found"),
            "--agent": ("", "bad agent name"),
            "--settings": ("", "cannot read the settings file"),
        }
        for name, (better, sentence) in mended.items():
            said = run.ask_words("init", *[word for pair in words.items() for word in pair])
            assert said.error.startswith(sentence)
            assert not run.state.exists()
            if name == "availableModels":
                settings.unlink()
            elif better:
                words[name] = better
            else:
                del words[name]
        ok(run.ask_words("init", *[word for pair in words.items() for word in pair]))

    @pytest.mark.rule("B13.3")
    @pytest.mark.parametrize("model", ["opus", "claude-", "claude-Opus", "claude-opus[2m]", ""])
    def test_an_alias(self, run: Run, model: str) -> None:
        """Only a full id is a model."""
        said = plain(run, model=model)
        assert said.error == "model must be a full id, not an alias"
        assert said.content["model"] == model

    @pytest.mark.rule("B10.2", "B13.4", "B13.6", "B13.7")
    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("--permission-mode", "yolo"), "unknown permission mode"),
            (("--agent", ".."), "bad agent name"),
            (("--agent", "nobody"), "agent file not found"),
            (("--binary", "/bin/false"), "claude binary did not report a version"),
            (("--binary", "/"), "claude binary not found"),
            (("--binary", ""), "empty path"),
            (("--cwd", "/etc/passwd"), "--cwd is not a directory"),
        ],
    )
    def test_values(self, run: Run, words: tuple[str, ...], sentence: str) -> None:
        """Each with its own sentence."""
        assert plain(run, *words).error == sentence
        assert not run.state.exists()

    @pytest.mark.rule("B1.13", "B13.1")
    @pytest.mark.parametrize(
        "words",
        [
            ("--effort", "huge"),
            ("--pings", "maybe"),
            ("--parallel-cap", "0"),
            ("--ttl-s", "-1"),
            ("--ttl-s", "99999999999999999999"),
            ("--max-minutes", "0"),
            ("--max-minutes", "nan"),
            ("--stagger-s", "-1"),
            ("--max-turns", "1.5"),
        ],
    )
    def test_usage(self, run: Run, words: tuple[str, ...]) -> None:
        """Numbers must be over 0, choices among the choices."""
        said = plain(run, *words)
        assert said.error == "usage"
        assert words[0] in said.content["detail"]
        assert not run.state.exists()

    @pytest.mark.rule("B8.2", "B13.6")
    def test_no_git_and_no_cwd(self, run: Run) -> None:
        """Outside git the working directory must be named."""
        words = run.words("init", "--model", MODEL, "--binary", str(run.client))
        said = run.call(*words, cwd=run.folder, env={"GIT_CEILING_DIRECTORIES": str(run.folder)})
        assert said.error.startswith("not in a git repository")
        assert not run.state.exists()

    def test_a_path_under_a_file(self, run: Run) -> None:
        """A state folder that cannot be made: the system's word, with the path."""
        (run.folder / "file").write_text("", encoding="utf-8")
        path = str(run.folder / "file" / "run.md")
        words = ("--model", MODEL, "--binary", str(run.client))
        said = run.ask_words("init", "--run", path, *words)
        assert said.error == "cannot use the state folder: Not a directory"
        assert said.content["path"].startswith(str(run.folder / "file"))

    def test_no_client(self, run: Run) -> None:
        """Without any client there is nothing to launch."""
        said = run.ask("init", "--model", MODEL, env={"PATH": "/usr/bin:/bin"})
        assert "no claude binary" in said.error

    def test_a_folder_that_is_not_there(self, run: Run) -> None:
        """A slip in the path makes no folders."""
        path = str(run.folder / "slip" / "run.md")
        words = ("--model", MODEL, "--binary", str(run.client))
        said = run.ask_words("init", "--run", path, *words)
        assert said.error == "the run log's folder is not there"
        assert not (run.folder / "slip").exists()

    def test_work_without_its_log(self, run: Run) -> None:
        """Where earlier work lies and its log is gone, no new run is mixed with it."""
        run.init()
        run.trained()
        raw = (run.state / "raw" / "j0001.jsonl").read_bytes()
        (run.state / "events.jsonl").write_bytes(b"")
        said = run.ask("init", "--model", MODEL, "--binary", str(run.client))
        assert said.error.startswith("the log is missing or empty")
        assert (run.state / "events.jsonl").read_bytes() == b""
        assert (run.state / "raw" / "j0001.jsonl").read_bytes() == raw

    def test_without_git(self, run: Run) -> None:
        """It is told that git is missing, not that there is no repository."""
        words = ("--model", MODEL, "--binary", str(run.client))
        said = run.ask("init", *words, env={"PATH": str(run.folder)})
        assert said.error.startswith("git is not on PATH")
