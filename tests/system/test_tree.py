"""A folder's digest: what is in it counts, and nothing else."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.system.tree import tree_sha256
from tests.strategies import drawn

# A text is a file's content, bytes are a link's target, a list a program's, a map a folder.
Tree = dict[str, Any]
TREE: Tree = {
    "code.py": "x = 1\n",
    "run.sh": ["#!/bin/sh\n"],
    "docs": {"one.md": "one", "two.md": "two", "none": {}},
    "link": b"docs/one.md",
    "dangling": b"nowhere",
    "loop": b".",
    "a\nb \u00e9": "odd",
}


def build(folder: Path, tree: Tree, *, backwards: bool = False) -> Path:
    """Make a folder of a description."""
    folder.mkdir()
    names = list(tree)
    for name in reversed(names) if backwards else names:
        path, told = folder / name, tree[name]
        if isinstance(told, dict):
            build(path, told, backwards=backwards)
        elif isinstance(told, bytes):
            path.symlink_to(os.fsdecode(told))
        else:
            path.write_text(told if isinstance(told, str) else told[0], encoding="utf-8")
            path.chmod(0o755 if isinstance(told, list) else 0o644)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with some of everything."""
    return build(tmp_path / "tree", TREE)


def _swap(one: Path, other: Path) -> None:
    one.rename(one.with_name("swap"))
    other.rename(one)
    one.with_name("swap").rename(other)


def _become(path: Path, text: str) -> None:
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


def _move_behind_a_link(path: Path) -> None:
    path.rename(path.parent.parent / "moved")
    path.symlink_to(path.parent.parent / "moved")


def _copy(path: Path) -> None:
    shutil.copytree(path, path.with_name("copy"), symlinks=True)
    shutil.rmtree(path)
    path.with_name("copy").rename(path)


def _link(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file's content": lambda it: (it / "code.py").write_text("x = 2\n", "utf-8"),
    "a file's content, deep": lambda it: (it / "docs" / "one.md").write_text("", "utf-8"),
    "a file's name": lambda it: (it / "code.py").rename(it / "code2.py"),
    "a file's place": lambda it: (it / "code.py").rename(it / "docs" / "code.py"),
    "one file for another": lambda it: _swap(it / "docs" / "one.md", it / "docs" / "two.md"),
    "a file more": lambda it: (it / ".hidden").touch(),
    "a file less": lambda it: (it / "code.py").unlink(),
    "that it can be run": lambda it: (it / "code.py").chmod(0o755),
    "that it cannot": lambda it: (it / "run.sh").chmod(0o644),
    "an empty folder": lambda it: (it / "docs" / "none" / "more").mkdir(),
    "no empty folder": lambda it: (it / "docs" / "none").rmdir(),
    "an empty file for an empty folder": lambda it: _become(it / "docs" / "none", ""),
    "a link's target": lambda it: _link(it / "link", "docs/two.md"),
    "a dangling link's target": lambda it: _link(it / "dangling", "nowhere else"),
    "a link for a file of its target's content": lambda it: _become(it / "link", "one"),
    "a file that holds a link's target": lambda it: _become(it / "link", "docs/one.md"),
    "a link to a folder for the folder": lambda it: _move_behind_a_link(it / "docs"),
}
SAME: dict[str, Callable[[Path], object]] = {
    "times": lambda it: os.utime(it / "code.py", (0, 0)),
    "who else may read it": lambda it: (it / "code.py").chmod(0o600),
    "who else may run it": lambda it: (it / "run.sh").chmod(0o700),
    "a folder's mode": lambda it: (it / "docs").chmod(0o700),
    "a file that was written anew": lambda it: (it / "code.py").write_text("x = 1\n", "utf-8"),
    "a copy of all of it": _copy,
}


class TestCounts:
    """Names, contents, what can be run, links and empty folders count."""

    @pytest.mark.parametrize("name", CHANGES)
    def test_changes(self, folder: Path, name: str) -> None:
        """Another one has another digest."""
        before = tree_sha256(folder)
        CHANGES[name](folder)
        assert tree_sha256(folder) != before

    @pytest.mark.parametrize("name", SAME)
    def test_stays(self, folder: Path, name: str) -> None:
        """Times, owners, other modes and where it lies do not count."""
        before = tree_sha256(folder)
        SAME[name](folder)
        assert tree_sha256(folder) == before

    def test_owner(self, folder: Path) -> None:
        """Whose it is does not count."""
        if os.getuid() != 0:
            pytest.skip("only root gives files away")
        before = tree_sha256(folder)
        os.chown(folder / "code.py", 12345, 12345)
        assert tree_sha256(folder) == before

    def test_its_own_name(self, folder: Path) -> None:
        """The folder may be called otherwise, or be reached by a link."""
        other = folder.rename(folder.with_name("other"))
        link = folder.with_name("link")
        link.symlink_to(other)
        assert tree_sha256(link) == tree_sha256(other)
        assert len(tree_sha256(other)) == 64

    def test_names_that_are_no_text(self, folder: Path) -> None:
        """A name of any bytes counts as it is."""
        digests = set()
        for name in (b"\xff", b"\xfe"):
            path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
            path.touch()
            digests.add(tree_sha256(folder))
            path.unlink()
        assert len(digests) == 2


class TestRefused:
    """What is no file, folder or link cannot be copied, and has no digest."""

    def test_a_fifo(self, folder: Path) -> None:
        """Nobody waits for what might come through a pipe."""
        os.mkfifo(folder / "docs" / "pipe")
        with pytest.raises(OSError, match=r"neither file, folder nor link: .*/docs/pipe"):
            tree_sha256(folder)

    def test_a_socket(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nor a socket."""
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("s")
            with pytest.raises(OSError, match="neither"):
                tree_sha256(folder)

    def test_no_folder(self, folder: Path) -> None:
        """A file, and nothing at all, are no folders."""
        for path in (folder / "code.py", folder / "none"):
            with pytest.raises(OSError, match=str(path)):
                tree_sha256(path)


LEAVES = st.sampled_from(["", "x", "file"]) | st.sampled_from([[""], ["x"]])
LEAVES |= st.sampled_from([b"x", b"a", b"nowhere"])
NAMES = st.sampled_from(["a", "b", "x", "a b", "a\nfile", "\u00e9"])
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.dictionaries(NAMES, LEAVES, max_size=3),
    lambda inner: st.dictionaries(NAMES, LEAVES | inner, max_size=3),
    max_leaves=4,
)


class TestLaws:
    """One description, one digest."""

    @settings(deadline=None, max_examples=60)
    @given(TREES, TREES)
    def test_law_one_to_one(self, one: Tree, other: Tree) -> None:
        """Trees have the same digest if and only if they are the same, made in whatever order."""
        with tempfile.TemporaryDirectory() as place:
            first = tree_sha256(build(Path(place, "1"), one))
            assert tree_sha256(build(Path(place, "2"), one, backwards=True)) == first
            assert (tree_sha256(build(Path(place, "3"), other)) == first) is (one == other)

    def test_reachability(self) -> None:
        """The law meets folders in folders, links, programs, and trees of one shape."""
        found = drawn(st.tuples(TREES, TREES), 60)
        held = [value for pair in found for tree in pair for value in tree.values()]
        assert {type(value) for value in held} == {str, list, bytes, dict}
        assert any(isinstance(value, dict) and value for value in held)
        assert any(one != other and one.keys() == other.keys() for one, other in found)
