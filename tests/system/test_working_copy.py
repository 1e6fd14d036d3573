"""A working copy: fresh, whole or not there; and what was changed in it, as git would tell it."""

import contextlib
import hashlib
import os
import resource
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

import pytest

from forks_core.errors import Refused, StorageFailed
from forks_core.system.staging import Staging
from forks_core.system.tree import tree_sha256
from forks_core.system.working_copy import make_copy, write_diff

NOBODY = 65534


@contextlib.contextmanager
def a_full_disk(size: int = 0) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def somebody() -> Iterator[Path]:
    """A folder of somebody who may not read everything, and we are that for a while."""
    me = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if me == 0:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(me)
            (folder / "copy" / "empty").chmod(0o700)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A task's folder with a bit of everything that it may hold."""
    folder = tmp_path / "task"
    (folder / "src" / "empty").mkdir(parents=True)
    (folder / "src" / "code.py").write_bytes(b"one\ntwo\nthree\n")
    (folder / "src" / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    (folder / "data").write_bytes(bytes(range(256)) * 40)
    (folder / "gone").write_bytes(b"soon\n")
    (folder / "kind").write_bytes(b"a file\n")
    (folder / "run").write_bytes(b"#!/bin/sh\nexit 0\n")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("./src//code.py")
    (folder / "broken").symlink_to("/nowhere/at all")
    (folder / os.fsdecode(b"\xff\nname")).write_bytes(b"odd\n")
    return folder


@pytest.fixture
def copy(source: Path, tmp_path: Path) -> Path:
    """A working copy of it."""
    make_copy(source, tmp_path / "state" / "copy")
    return tmp_path / "state" / "copy"


Diff = Callable[[], str]


@pytest.fixture
def diff(source: Path, copy: Path) -> Diff:
    """Writes the diff, holds its digest against the file, and reads it; empty when there is none."""

    def written() -> str:
        target = copy.with_name("copy.diff")
        kept = write_diff(source, copy, target)
        if kept is None:
            return ""
        data = target.read_bytes()
        assert (kept.bytes, kept.sha256) == (len(data), hashlib.sha256(data).hexdigest())
        assert not any(name.startswith(".") for name in os.listdir(copy.parent))  # noqa: PTH208
        return data.decode(errors="surrogateescape")

    return written


class TestCopy:
    """A copy is the same as its source, and apart from it."""

    def test_the_same(self, source: Path, copy: Path) -> None:
        """Names, contents, links and what can be run are the same, and times of files too."""
        assert tree_sha256(copy) == tree_sha256(source)
        assert os.readlink(copy / "link") == "./src//code.py"  # noqa: PTH115
        for name in ("run", "data", "src/code.py"):
            here, there = (source / name).stat(), (copy / name).stat()
            assert (here.st_mtime_ns, here.st_mode) == (there.st_mtime_ns, there.st_mode)
            assert here.st_ino != there.st_ino

    def test_private(self, source: Path, copy: Path) -> None:
        """Nobody else may look into it, and its owner may write all of it."""
        assert stat.S_IMODE(copy.stat().st_mode) == 0o700
        for name in ("data", "src"):
            (source / name).chmod(0o555)
        again = copy.with_name("again")
        make_copy(source, again)
        assert [stat.S_IMODE((again / name).stat().st_mode) for name in ("data", "src")] == [
            0o755,
            0o700,
        ]

    def test_the_source_stays(self, source: Path, copy: Path) -> None:
        """What is done to the copy is not done to the source."""
        before = tree_sha256(source)
        (copy / "data").write_bytes(b"changed")
        (copy / "gone").unlink()
        (copy / "run").chmod(0o600)
        assert tree_sha256(source) == before

    def test_an_empty_one(self, tmp_path: Path) -> None:
        """Without a task's folder the copy is an empty one."""
        make_copy(None, tmp_path / "copy")
        assert list((tmp_path / "copy").iterdir()) == []
        assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700

    @pytest.mark.parametrize("there", ["folder", "file", "broken link"])
    def test_again(self, source: Path, tmp_path: Path, there: str) -> None:
        """What is there already is left as it is, whatever it is."""
        target = tmp_path / "copy"
        if there == "folder":
            target.mkdir()
        elif there == "file":
            target.write_bytes(b"")
        else:
            target.symlink_to("nowhere")
        before = target.lstat()
        make_copy(source, target)
        make_copy(tmp_path / "no source", target)
        after = target.lstat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


class TestWholeOrNot:
    """A copy that could not be finished is not there."""

    @pytest.mark.parametrize("left", ["half copy", "link", "file"])
    def test_after_a_crash(self, source: Path, tmp_path: Path, left: str) -> None:
        """What a crash left is replaced, and where a link leads is not touched."""
        half, other = tmp_path / ".copy.half", tmp_path / "other"
        other.mkdir()
        (other / "mine").touch()
        if left == "half copy":
            (half / "src").mkdir(parents=True)
            (half / "src" / "code.py").write_bytes(b"on")
            (half / "more").touch()
        elif left == "link":
            half.symlink_to(other)
        else:
            half.touch()
        make_copy(source, tmp_path / "copy")
        assert tree_sha256(tmp_path / "copy") == tree_sha256(source)
        assert not os.path.lexists(half)
        assert (other / "mine").exists()

    def test_killed(self, source: Path, tmp_path: Path) -> None:
        """One that is killed while it copies leaves no copy, and the next one makes it."""
        program = (
            "import sys, os; from pathlib import Path; from forks_core.system import working_copy\n"
            "inner = working_copy.copy_leaf\n"
            "def stopped(*args, **rest):\n"
            "    inner(*args, **rest); os.kill(os.getpid(), 9)\n"
            "working_copy.copy_leaf = stopped\n"
            "working_copy.make_copy(Path(sys.argv[1]), Path(sys.argv[2]))"
        )
        target = tmp_path / "copy"
        argv = [sys.executable, "-c", program, str(source), str(target)]
        assert subprocess.run(argv, check=False).returncode == -9
        assert not target.exists()
        assert (tmp_path / ".copy.half").exists()
        make_copy(source, target)
        assert tree_sha256(target) == tree_sha256(source)

    def test_a_full_disk(self, source: Path, tmp_path: Path) -> None:
        """What does not fit is said, and neither the copy nor a part of it stays."""
        with a_full_disk(5000), pytest.raises(StorageFailed, match="File too large"):
            make_copy(source, tmp_path / "copy")
        assert [path.name for path in tmp_path.iterdir()] == ["task"]


class TestNoCopy:
    """What cannot be copied is refused, with its path."""

    def test_gone(self, tmp_path: Path) -> None:
        """A folder that vanished, or became a file, is gone."""
        (tmp_path / "file").touch()
        for name in ("nothing", "file"):
            with pytest.raises(Refused, match="the task's folder is gone") as refused:
                make_copy(tmp_path / name, tmp_path / "copy")
            assert refused.value.fields["path"] == str(tmp_path / name)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    @pytest.mark.parametrize("kind", ["pipe", "socket"])
    def test_neither(self, source: Path, tmp_path: Path, kind: str) -> None:
        """A pipe or a socket in it is refused, not waited for."""
        odd = source / "src" / "odd"
        if kind == "pipe":
            os.mkfifo(odd)
        else:
            with contextlib.chdir(odd.parent), socket.socket(socket.AF_UNIX) as listener:
                listener.bind("odd")
        with pytest.raises(Refused, match="neither file, folder nor link") as refused:
            make_copy(source, tmp_path / "copy")
        assert refused.value.fields["path"] == str(odd)
        assert not (tmp_path / "copy").exists()

    def test_within_itself(self, source: Path) -> None:
        """A copy that would lie in its own source is refused, and not copied for ever."""
        with pytest.raises(Refused, match="within the task's folder"):
            make_copy(source, source / "state" / "copy")

    def test_too_deep(self, tmp_path: Path) -> None:
        """A folder without end is refused, not a crash."""
        (tmp_path / "task").joinpath(*["d"] * 300).mkdir(parents=True)
        with pytest.raises(Refused, match="too deep"):
            make_copy(tmp_path / "task", tmp_path / "copy")


def change(copy: Path) -> None:
    """Do to a working copy what an agent does."""
    (copy / "src" / "code.py").write_bytes(b"one\n2\nthree")
    (copy / "src" / "dos.txt").write_bytes(b"one\ntwo\n")
    (copy / "data").write_bytes(bytes(range(255, -1, -1)) * 40)
    (copy / "gone").unlink()
    (copy / "run").chmod(0o644)
    (copy / "link").unlink()
    (copy / "link").symlink_to("/etc/passwd")
    (copy / "kind").unlink()
    (copy / "kind" / "now a folder").mkdir(parents=True)
    (copy / "kind" / "now a folder" / "new").write_bytes(b"new\n")
    (copy / "nothing in it").touch()
    (copy / os.fsdecode(b"\xff\nname")).write_bytes("ä\n".encode("latin-1"))


@pytest.mark.rule("E8")
class TestDiff:
    """What differs is kept: git makes the working copy out of the task's folder and it."""

    def test_nothing(self, diff: Diff, copy: Path) -> None:
        """A copy in which nothing was changed has none, whatever became of times and modes."""
        (copy / "data").chmod(0o400)
        os.utime(copy / "data", (1, 1))
        assert diff() == ""
        assert [path.name for path in copy.parent.iterdir()] == ["copy"]

    def test_law_it_can_be_applied(self, diff: Diff, copy: Path, source: Path) -> None:
        """Applied to a fresh copy it makes the same tree, of every kind of change."""
        change(copy)
        assert diff().startswith("diff --git a/data b/data\n")
        fresh = copy.with_name("fresh")
        make_copy(source, fresh)
        apply = ["git", "apply", "--whitespace=nowarn", str(copy.with_name("copy.diff"))]
        subprocess.run(apply, cwd=fresh, check=True, env={**os.environ, "GIT_DIR": os.devnull})
        assert tree_sha256(fresh) == tree_sha256(copy)

    def test_it_is_of_the_copy_alone(self, diff: Diff, copy: Path, tmp_path: Path) -> None:
        """No path of this machine is in it, and it is the same each time."""
        change(copy)
        text = diff()
        assert str(tmp_path) not in text
        assert diff() == text
        assert stat.S_IMODE(copy.with_name("copy.diff").stat().st_mode) == 0o600

    def test_from_nothing(self, tmp_path: Path) -> None:
        """Without a task's folder all is new."""
        make_copy(None, tmp_path / "copy")
        assert write_diff(None, tmp_path / "copy", tmp_path / "diff") is None
        (tmp_path / "copy" / "new").write_bytes(b"new\n")
        assert write_diff(None, tmp_path / "copy", tmp_path / "diff")
        text = (tmp_path / "diff").read_text(encoding="utf-8")
        assert "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n" in text

    def test_a_source_that_is_gone(self, copy: Path, tmp_path: Path) -> None:
        """Without what it was made of, nothing can be told."""
        with pytest.raises(Refused, match="the task's folder is gone"):
            write_diff(tmp_path / "nothing", copy, tmp_path / "diff")
        assert not (tmp_path / "diff").exists()


@pytest.mark.rule("E8")
class TestWhatGitCannotShow:
    """An agent may leave anything behind: what git cannot show has a line, and the rest is shown."""

    def test_odd_things(self, diff: Diff, copy: Path, source: Path) -> None:
        """A pipe, a file without end, folders that are empty, gone, or too deep for git."""
        change(copy)
        for folder in (copy, source):
            os.mkfifo(folder / "both")
        os.mkfifo(copy / "pipe")
        with (copy / "huge").open("wb") as file:
            file.truncate(1 << 40)
        (copy / "void\n").mkdir()
        (copy / "src" / "empty").rmdir()
        (copy / "deep").joinpath(*["d"] * 400).mkdir(parents=True)
        notes, _, shown = diff().partition("diff --git")
        deep = "/".join(["deep", *["d"] * 200])
        assert sorted(notes.splitlines()) == [
            "# forks: not shown: both: neither file, folder nor link",
            f"# forks: not shown: {deep}: too deep",
            "# forks: not shown: huge: a file of 1099511627776 bytes",
            "# forks: not shown: pipe: neither file, folder nor link",
            "# forks: not shown: src/empty: an empty folder that is gone",
            "# forks: not shown: void\\n: an empty folder that is new",
        ]
        assert "+2\n" in shown

    def test_not_to_be_read(self, somebody: Path) -> None:
        """What the agent locked is named; the rest is shown."""
        source, copy, target = somebody / "task", somebody / "copy", somebody / "diff"
        (source / "empty").mkdir(parents=True)
        for name in ("code", "data", "same"):
            (source / name).write_bytes(b"old\n")
        make_copy(source, copy)
        for name in ("code", "data", "new"):
            (copy / name).write_bytes(b"new\n")
        for name in ("data", "same", "empty"):
            (copy / name).chmod(0)
        assert write_diff(source, copy, target)
        notes, _, shown = target.read_text(encoding="utf-8").partition("diff --git")
        assert sorted(notes.splitlines()) == [
            "# forks: not shown: data: Permission denied",
            "# forks: not shown: empty: Permission denied",
            "# forks: not shown: same: Permission denied",
        ]
        assert shown.count("+new\n") == 2
        (source / "code").chmod(0)
        with pytest.raises(StorageFailed, match="Permission denied"):
            make_copy(source, somebody / "again")
        assert not (somebody / "again").exists()

    @pytest.mark.parametrize("instead", ["nothing", "link", "file"])
    def test_the_copy_is_gone(self, diff: Diff, copy: Path, source: Path, instead: str) -> None:
        """A working copy that was removed counts as empty; where a link leads is not looked at."""
        copy.rename(copy.with_name("elsewhere"))
        if instead == "link":
            copy.symlink_to(source)
        elif instead == "file":
            copy.touch()
        text = diff()
        assert text.startswith("# forks: not shown: .: the working copy is gone\n")
        assert text.count("deleted file mode") == sum(
            path.is_symlink() or path.is_file() for path in source.rglob("*")
        )

    def test_a_repository(self, diff: Diff, copy: Path) -> None:
        """A repository that the agent made is named; its files are shown, its own are not."""
        made = copy / "lib"
        made.mkdir()
        (made / "code").write_bytes(b"new\n")
        as_agent = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
            subprocess.run([*as_agent, *words], cwd=made, check=True)
        notes, _, shown = diff().partition("diff --git")
        assert notes == "# forks: not shown: lib/.git: a repository's own files\n"
        assert "b/lib/code\n" in shown
        assert ".git/" not in shown


@pytest.mark.rule("E8")
class TestHostile:
    """Nothing that the agent left steers git, or is run by it."""

    def test_nothing_is_run(
        self, diff: Diff, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Drivers, filters, hooks and pagers, from the copy, from home or from our variables."""
        change(copy)
        expected = diff()
        proof, evil = tmp_path / "proof", tmp_path / "evil"
        evil.write_text(f"#!/bin/sh\ntouch {proof}\n", encoding="utf-8")
        evil.chmod(0o755)
        config = (
            f"[core]\n\tfsmonitor = {evil}\n\tpager = {evil}\n\tattributesFile = {tmp_path}/attr\n"
            f"\tquotePath = false\n[diff]\n\texternal = {evil}\n\tcontext = 0\n"
            f"[color]\n\tui = always\n"
            f'[diff "evil"]\n\tcommand = {evil}\n\ttextconv = {evil}\n'
            f'[filter "evil"]\n\tclean = {evil}\n'
        )
        attributes = "* diff=evil filter=evil -text working-tree-encoding=UTF-16\n"
        (tmp_path / "attr").write_text(attributes, encoding="utf-8")
        (tmp_path / ".gitconfig").write_text(config, encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(copy)], check=True)
        subprocess.run(["git", "init", "-q", str(copy.parent)], check=True)
        for folder in (copy, copy.parent):
            (folder / ".git" / "config").write_text(config, encoding="utf-8")
            (folder / ".gitattributes").write_text(attributes, encoding="utf-8")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(evil))
        monkeypatch.setenv("GIT_PAGER", str(evil))
        monkeypatch.setenv("GIT_DIR", str(copy / ".git"))
        target = copy.with_name("copy.diff")
        assert write_diff(tmp_path / "task", copy, target)
        text = target.read_bytes().decode(errors="surrogateescape")
        assert not proof.exists()
        note = "# forks: not shown: .git: a repository's own files\n"
        assert text.startswith(note)
        mine = text.removeprefix(note).partition(f"+{attributes}")
        assert mine[0].startswith("diff --git b/.gitattributes b/.gitattributes\nnew file")
        assert mine[2] == expected

    def test_without_git(
        self, source: Path, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where git is not there, that is said, and no half diff stays."""
        change(copy)
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        with pytest.raises(StorageFailed, match="git is needed"):
            write_diff(source, copy, tmp_path / "diff")
        assert not (tmp_path / "diff").exists()

    def test_a_git_that_fails(
        self, source: Path, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What git complains of is told; a git that was killed leaves a diff that says so."""
        change(copy)
        shim = tmp_path / "bin" / "git"
        shim.parent.mkdir()
        monkeypatch.setenv("PATH", str(shim.parent))
        shim.write_text("#!/bin/sh\necho oh no >&2\nexit 128\n", encoding="utf-8")
        shim.chmod(0o755)
        with pytest.raises(StorageFailed, match="git cannot tell") as failed:
            write_diff(source, copy, tmp_path / "diff")
        assert failed.value.fields == {"detail": "oh no"}
        shim.write_text("#!/bin/sh\necho half\nkill -9 $$\n", encoding="utf-8")
        assert write_diff(source, copy, tmp_path / "diff")
        text = (tmp_path / "diff").read_text(encoding="utf-8")
        assert text == "half\n\n# forks: cut here: git was ended before it was done\n"


@pytest.mark.rule("E8")
class TestLarge:
    """A diff has a limit, and its file is whole or as it was before."""

    @pytest.mark.parametrize("limit", [0, 10, 5000])
    def test_cut(self, source: Path, copy: Path, tmp_path: Path, limit: int) -> None:
        """As much as the limit is kept, then a line that says so; it is digested with it."""
        (copy / "src" / "code.py").write_bytes(b"line\n" * 200)
        (copy / "src" / "more").write_bytes(b"more\n" * 600_000)
        assert write_diff(source, copy, tmp_path / "whole")
        kept = write_diff(source, copy, tmp_path / "diff", limit)
        last = b"\n# forks: cut here: there is more than %d bytes of it\n" % limit
        text = (tmp_path / "diff").read_bytes()
        if limit == 5000:
            assert text == (tmp_path / "whole").read_bytes()[:limit] + last
        assert (text[limit:], len(text)) == (last, limit + len(last))
        assert kept
        assert (kept.sha256, kept.bytes) == (hashlib.sha256(text).hexdigest(), len(text))

    def test_room(self, tmp_path: Path) -> None:
        """What is laid out for git is bounded; a file that does not fit keeps no other one out."""
        notes: list[tuple[PurePath, str]] = []
        (tmp_path / "copy").mkdir()
        for name, size in (("a", 60), ("b", 50), ("c", 40), ("d", 1)):
            (tmp_path / "copy" / name).write_bytes(b"x" * size)
        (tmp_path / "stage").mkdir()
        staging = Staging(
            None, tmp_path / "copy", tmp_path / "stage", 100, lambda *note: notes.append(note)
        )
        assert staging.compare()
        assert notes == [
            (PurePath("b"), "a file of 50 bytes"),
            (PurePath("d"), "a file of 1 bytes"),
        ]
        assert sorted(path.name for path in (tmp_path / "stage" / "b").iterdir()) == ["a", "c"]

    def test_exactly(self, source: Path, copy: Path, tmp_path: Path) -> None:
        """One that is as long as the limit is whole."""
        change(copy)
        whole = write_diff(source, copy, tmp_path / "whole")
        assert whole
        assert write_diff(source, copy, tmp_path / "again", whole.bytes) == whole

    def test_a_full_disk(self, source: Path, copy: Path, tmp_path: Path) -> None:
        """What cannot be kept is said; the diff of before stays, and nothing beside it."""
        change(copy)
        assert write_diff(source, copy, tmp_path / "diff")
        before = (tmp_path / "diff").read_bytes()
        (copy / "more").write_bytes(b"more\n" * 2000)
        with a_full_disk(5000), pytest.raises(StorageFailed, match="File too large"):
            write_diff(source, copy, tmp_path / "diff")
        assert (tmp_path / "diff").read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["diff", "state", "task"]
