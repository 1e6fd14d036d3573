"""A working copy as its agent left it."""

import os
import socket
from pathlib import Path

import pytest

from forks_core.system.as_left import all_kept, beside, keep_as_left, let_go, put_back
from tests.study_world import snapshot


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A working copy with a file, a program, a folder and a link."""
    copy = tmp_path / "copies" / "T-1-r1-plain" / "a1"
    (copy / "src").mkdir(parents=True)
    (copy / "src" / "code.py").write_text("x = 1\n", encoding="utf-8")
    (copy / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (copy / "run").chmod(0o755)
    (copy / "link").symlink_to("src/code.py")
    return copy


def test_put_back(copy: Path) -> None:
    """Whatever a check adds, changes or removes is undone, as often as it is made anew."""
    before = snapshot(copy)
    keep_as_left(copy)
    for _ in range(2):
        (copy / "made").touch()
        (copy / "src" / "code.py").write_text("x = 2\n", encoding="utf-8")
        (copy / "link").unlink()
        assert put_back(copy)
        assert snapshot(copy) == before
        assert (copy / "link").is_symlink()
        assert os.access(copy / "run", os.X_OK)
    assert [*all_kept(copy.parent.parent)] == [("T-1-r1-plain", 1)]


def test_nothing_kept(copy: Path) -> None:
    """Before it is kept, and when it was let go, there is nothing to put back."""
    assert not put_back(copy)
    keep_as_left(copy)
    let_go(copy)
    let_go(copy)
    assert not put_back(copy)
    assert [*all_kept(copy.parent.parent)] == []
    assert {path.name for path in copy.parent.iterdir()} == {"a1"}


def test_a_crash_while_it_is_put_back(copy: Path) -> None:
    """A copy that was removed to be put back is put back by whoever comes next."""
    before = snapshot(copy)
    keep_as_left(copy)
    copy.rename(copy.with_name(".a1.half"))
    assert put_back(copy)
    assert snapshot(copy) == before


def test_sockets_and_pipes(copy: Path) -> None:
    """What no copy can hold is passed over."""
    before = snapshot(copy)
    os.mkfifo(copy / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(copy)
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
    keep_as_left(copy)
    assert snapshot(beside(copy)) == before


def test_what_cannot_be_kept(tmp_path: Path) -> None:
    """A copy that is not there is not kept, and nothing half is left of it."""
    keep_as_left(tmp_path / "a1")
    assert [*tmp_path.iterdir()] == []
