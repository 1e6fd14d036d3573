"""The client program, and its settings, as they lie in the file system."""

import os
from pathlib import Path

import pytest

from forks_core.errors import Refused
from forks_core.system.client import inspect, resolve, settings_files


def program(path: Path, body: str) -> str:
    """Make a shell script."""
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.rule("B10.2")
class TestInspect:
    """A client is a file that says its version."""

    def test_first_word(self, tmp_path: Path) -> None:
        """The version is the first word that it says, and its size goes along."""
        path = program(tmp_path / "c", 'echo; echo "  2.1.332 (Claude Code)"; echo more')
        found = inspect(path)
        assert (found.path, found.version) == (path, "2.1.332")
        assert found.size == os.stat(path).st_size  # noqa: PTH116 - as a text it was given

    @pytest.mark.parametrize(
        ("body", "detail"),
        [
            ("exit 3", "exit code 3"),
            ("echo 1.0; exit 1", "exit code 1"),
            ("", "it printed nothing"),
        ],
    )
    def test_mute(self, tmp_path: Path, body: str, detail: str) -> None:
        """What fails, or says nothing, told no version."""
        with pytest.raises(Refused, match="did not report a version") as refused:
            inspect(program(tmp_path / "c", body))
        assert refused.value.fields["detail"] == detail

    def test_no_file(self, tmp_path: Path) -> None:
        """A folder is no client, and neither is nothing."""
        for path in (tmp_path, tmp_path / "gone"):
            with pytest.raises(Refused, match="claude binary not found"):
                inspect(str(path))


@pytest.mark.rule("B10.1")
def test_none(tmp_path: Path) -> None:
    """Where nothing names a client there is none; an empty variable names none."""
    assert resolve(None, {"PATH": str(tmp_path), "CLAUDE_CODE_EXECPATH": ""}) is None


@pytest.mark.rule("B11.1")
class TestSettingsFiles:
    """The user's settings, then the project's, then the project's local ones."""

    def test_order(self, tmp_path: Path) -> None:
        """All that can be read, in this order; what is missing is passed over."""
        home, cwd = tmp_path / "home", tmp_path / "cwd"
        for folder in (home, cwd):
            (folder / ".claude").mkdir(parents=True)
        paths = [
            cwd / ".claude" / "settings.local.json",
            home / ".claude" / "settings.json",
            cwd / ".claude" / "settings.json",
        ]
        found: list[list[str]] = []
        for path in paths:
            path.write_text("{}", encoding="utf-8")
            files, complaints = settings_files(home, cwd)
            assert complaints == []
            found.append([file.path for file in files])
        local, user, project = map(str, paths)
        assert found == [[local], [user, local], [user, project, local]]

    def test_corrupt(self, tmp_path: Path) -> None:
        """What is no JSON is complained of, by its path, and passed over."""
        (tmp_path / ".claude").mkdir()
        path = tmp_path / ".claude" / "settings.json"
        path.write_text("{", encoding="utf-8")
        files, complaints = settings_files(tmp_path, tmp_path / "cwd")
        assert files == []
        assert [complaint.startswith(f"{path}: ") for complaint in complaints] == [True]
        assert path.read_text(encoding="utf-8") == "{"
