"""Paths as callers write them, on both platforms."""

import ntpath
import posixpath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.errors import Refused
from forks_core.rules.paths import Platform, normalise, state_folder, study_folder
from tests.projections.builders import reached

WINDOWS = Platform.WINDOWS
PARTS = st.lists(st.sampled_from(["a", "B", "..", ".", "", "x y", "ü.md"]), max_size=6)
POSIX_PATHS = PARTS.map("/".join).filter(str.strip)
STARTS = ["c:/", "D:\\", "/g/", "\\\\s\\sh\\", ""]
WINDOWS_PATHS = st.tuples(st.sampled_from(STARTS), PARTS).map(
    lambda drawn: drawn[0] + "\\".join(filter(None, drawn[1])) or "x"
)


class TestNoPath:
    """A path is text that is not blank, and that a file system and a log can hold."""

    @pytest.mark.rule("B2.1")
    @pytest.mark.parametrize("platform", Platform)
    @pytest.mark.parametrize("text", ["", " ", "\t\n", None, 7, b"/x", ["/x"]])
    def test_empty(self, text: object, platform: Platform) -> None:
        """Nothing, blanks and what is no text are refused as empty."""
        with pytest.raises(Refused, match=r"^empty path$"):
            normalise(text, "/repo", platform)

    @pytest.mark.parametrize("platform", Platform)
    @pytest.mark.parametrize("text", ["/a\0b", "/a\udc80", "\ud800"])
    def test_not_unicode(self, text: str, platform: Platform) -> None:
        """NUL and lone surrogates are refused, and told in ASCII."""
        with pytest.raises(Refused, match="Unicode") as refused:
            normalise(text, "/repo", platform)
        assert refused.value.fields["path"].isascii()


@pytest.mark.rule("B2.2")
class TestPosix:
    """A path is trimmed, joined to the working directory and made plain; links stay unresolved."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("/etc/x", "/etc/x"),
            ("work.md", "/repo/sub/work.md"),
            ("./work.md", "/repo/sub/work.md"),
            ("../work.md", "/repo/work.md"),
            ("../../../../x", "/x"),
            ("/a/./b//c/../d/", "/a/b/d"),
            (".", "/repo/sub"),
            ("  a b \n", "/repo/sub/a b"),
            ("~/x", "/repo/sub/~/x"),
            ("C:\\x", "/repo/sub/C:\\x"),
            ("/g/x", "/g/x"),
            ("ü/😀", "/repo/sub/ü/😀"),
        ],
    )
    def test_told(self, text: str, expected: str) -> None:
        """The table of cases; nothing of Windows has a meaning here."""
        assert normalise(text, "/repo/sub") == expected

    @settings(deadline=None)
    @given(POSIX_PATHS)
    def test_law_idempotence(self, text: str) -> None:
        """What is normal is absolute, and stays as it is wherever one stands."""
        path = normalise(text, "/repo")
        assert posixpath.isabs(path)
        assert ".." not in path.split("/")
        assert normalise(path, "/elsewhere") == path

    def test_reachability(self) -> None:
        """The law looks at paths that climb, and at absolute ones."""
        assert reached(POSIX_PATHS, lambda text: text.startswith("../"))
        assert reached(POSIX_PATHS, lambda text: text.startswith("/"))


@pytest.mark.rule("B2.3", "D22")
class TestWindows:
    """Git Bash's drives become drives, slashes backslashes; the end has a drive or is a share."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("/g/x/y", "G:\\x\\y"),
            ("/G/X", "G:\\X"),
            ("/g", "G:\\"),
            ("/g/", "G:\\"),
            ("/g/x/../y", "G:\\y"),
            ("c:/a/b", "C:\\a\\b"),
            ("c:\\A\\.\\b\\", "C:\\A\\b"),
            ("D:\\", "D:\\"),
            ("/tmp/x", "E:\\tmp\\x"),
            ("\\tmp", "E:\\tmp"),
            ("/gg/x", "E:\\gg\\x"),
            ("work.md", "E:\\repo\\work.md"),
            ("sub/work.md", "E:\\repo\\sub\\work.md"),
            ("..\\work.md", "E:\\work.md"),
            ("..\\..\\..", "E:\\"),
            ("e:work.md", "E:\\repo\\work.md"),
            (" x ", "E:\\repo\\x"),
            ("\\\\server\\share\\x", "\\\\server\\share\\x"),
            ("//server/share/a/../b", "\\\\server\\share\\b"),
            ("\\\\server\\share", "\\\\server\\share"),
        ],
    )
    def test_told(self, text: str, expected: str) -> None:
        """The table of cases, in a working directory whose drive is written small."""
        assert normalise(text, "e:\\repo", WINDOWS) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("x", "\\\\s\\sh\\repo\\x"),
            ("\\x", "\\\\s\\sh\\x"),
            ("..\\..\\..", "\\\\s\\sh\\"),
            ("/c/x", "C:\\x"),
        ],
    )
    def test_on_a_share(self, text: str, expected: str) -> None:
        """A working directory on a share lends its share as it would its drive."""
        assert normalise(text, "\\\\s\\sh\\repo", WINDOWS) == expected

    @pytest.mark.parametrize(
        ("text", "cwd"),
        [("x", "repo"), ("\\x", "repo"), ("d:x", "E:\\repo"), ("\\\\server", "E:\\repo")],
    )
    def test_no_drive(self, text: str, cwd: str) -> None:
        """What has no drive in the end, or only a foreign drive's unknown place, is refused."""
        with pytest.raises(Refused, match="cannot normalise path") as refused:
            normalise(text, cwd, WINDOWS)
        assert refused.value.fields == {"path": text}

    @settings(deadline=None)
    @given(WINDOWS_PATHS)
    def test_law_idempotence(self, text: str) -> None:
        """What is normal has its drive in capitals, and stays as it is wherever one stands."""
        path = normalise(text, "c:\\repo", WINDOWS)
        drive, _ = ntpath.splitdrive(path)
        assert drive.startswith("\\\\") or drive in {"C:", "D:", "G:"}
        assert "/" not in path
        assert normalise(path, "Z:\\elsewhere", WINDOWS) == path

    @pytest.mark.parametrize("start", [*STARTS, ".."])
    def test_reachability(self, start: str) -> None:
        """The law looks at paths of each kind, and at relative ones."""
        assert reached(WINDOWS_PATHS, lambda text: text.startswith(start))


@pytest.mark.rule("B2.4")
class TestStateFolder:
    """A run's state lies beside its run log: its path without ``.md``, and ``-forks``."""

    @pytest.mark.parametrize(
        ("run", "expected"),
        [
            ("/w/work.md", "/w/work-forks"),
            ("/w/WORK.MD", "/w/WORK-forks"),
            ("/w/a.b.md", "/w/a.b-forks"),
            ("/w/a.md.md", "/w/a.md-forks"),
            ("/w.md/a.Md", "/w.md/a-forks"),
            ("G:\\w\\work.md", "G:\\w\\work-forks"),
        ],
    )
    def test_told(self, run: str, expected: str) -> None:
        """The suffix goes in whatever case, and only the last one."""
        assert state_folder(run) == expected

    @pytest.mark.parametrize("run", ["/w/work", "/w/work.txt", "/w/md", "/w/.md", "G:\\.md", "/"])
    def test_refused(self, run: str) -> None:
        """Whatever names no Markdown file names no run."""
        with pytest.raises(Refused, match=r"^--run must name the run log \.md file$") as refused:
            state_folder(run)
        assert refused.value.fields == {"run": run}


@pytest.mark.rule("E10")
class TestStudyFolder:
    """A study is a run: its state folder is its file's path without ``.toml``, and ``-forks``."""

    @pytest.mark.parametrize(
        ("file", "expected"),
        [("/w/s.toml", "/w/s-forks"), ("/w/S.TOML", "/w/S-forks"), ("/w/a.b.toml", "/w/a.b-forks")],
    )
    def test_told(self, file: str, expected: str) -> None:
        """In whatever case, and by whichever name of the two it is asked for."""
        assert study_folder(file) == state_folder(file) == expected

    @pytest.mark.parametrize("file", ["/w/s.md", "/w/.toml", "/w/s.toml.bak", "/w/stoml"])
    def test_refused(self, file: str) -> None:
        """Any other name is refused."""
        with pytest.raises(Refused, match=r"^a study is a \.toml file$") as told:
            study_folder(file)
        assert told.value.fields == {"file": file}

    def test_a_run_is_no_study(self) -> None:
        """A file that has no name before its suffix is none for a run either."""
        with pytest.raises(Refused, match=r"^a study is a \.toml file$"):
            state_folder("/w/.toml")
