"""The state folder: made once, and only what is missing of it."""

import shutil
from pathlib import Path

import pytest

from forks_core.system.state_folder import StateFolder
from forks_templates import FORK, PREAMBLE, TRAIN
from tests.driver import MODEL, Run

FIXED = (".gitignore", "mcp-empty.json", "preamble.md")


@pytest.mark.rule("B3.1")
class TestCreate:
    """What is there stays as it is; what is missing is made."""

    def test_twice(self, tmp_path: Path) -> None:
        """Files that somebody has changed are not written again, those that are gone are."""
        folder = StateFolder(tmp_path / "run-forks")
        folder.create(b"preamble\n")
        for name in FIXED[:2]:
            (folder.path / name).write_bytes(b"changed")
        (folder.path / FIXED[2]).unlink()
        (folder.path / "notes").rmdir()
        (folder.path / "raw" / "kept").touch()
        folder.create(b"another\n")
        assert [(folder.path / name).read_bytes() for name in FIXED] == [
            b"changed",
            b"changed",
            b"another\n",
        ]
        assert folder.notes.is_dir()
        assert (folder.path / "raw" / "kept").exists()

    @pytest.mark.rule("B3.3")
    def test_ends_of_files(self, tmp_path: Path) -> None:
        """Each file that is written ends in a newline, as the preamble that is given does."""
        folder = StateFolder(tmp_path)
        folder.create(PREAMBLE.read_bytes())
        assert [(folder.path / name).read_bytes()[-1:] for name in FIXED] == [b"\n"] * len(FIXED)


@pytest.mark.rule("B3.2")
def test_what_a_job_leaves(ready: Run) -> None:
    """Its output, its standard error, its supervisor's diagnostics and its prompt: no more."""
    prompt = ready.events("JobCreated", "j0001")[0]["brief"]["sha256"]
    files = {name for name, data in ready.snapshot().items() if data is not None}
    assert files - {*FIXED, "events.jsonl"} == {
        "raw/j0001.jsonl",
        "raw/j0001.err",
        "raw/j0001.sup.log",
        f"briefs/{prompt}.md",
    } | {name for name in files if name.startswith("cache/")}


@pytest.mark.rule("D3", "B13.7")
class TestMissingTemplates:
    """A template that is not there is refused before anything is recorded."""

    @pytest.mark.parametrize(
        ("template", "words", "sentence"),
        [
            (PREAMBLE, ("init", "--model", MODEL), "cannot read preamble"),
            (TRAIN, ("train", "--base", "b"), "cannot read template"),
            (FORK, ("fork", "--base", "base", "--block", "b"), "cannot read template"),
        ],
    )
    def test_refused(
        self, ready: Run, template: Path, words: tuple[str, ...], sentence: str
    ) -> None:
        """An installation without one of its files says which."""
        shutil.copytree(template.parent, ready.folder / "lib" / template.parent.name)
        missing = ready.folder / "lib" / template.parent.name / template.name
        missing.unlink()
        before = ready.snapshot()
        brief = () if words[0] == "init" else ("--brief", ready.brief())
        said = ready.forks(*words, *brief, env={"PYTHONPATH": str(ready.folder / "lib")})
        assert said.error == sentence
        assert str(missing) in said.content.values()
        assert ready.snapshot() == before
