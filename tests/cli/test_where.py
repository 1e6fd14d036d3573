"""``where``: what forks runs on, and what would make the next command fail."""

import subprocess
import sys

import pytest

from tests.driver import Run, Said, ok, one_object
from tests.log_view import Line

# With git, and nothing else that where would ask for its version.
BARE = {"PATH": "/usr/bin:/bin"}
FIELDS = {
    *("script", "python", "uv", "binary", "git", "spawn", "scrub", "platform", "problems", "ok"),
}


class TestWhere:
    """It tells what the next command would find, and writes nothing."""

    @pytest.mark.rule("B12.1", "B12.2")
    def test_all_is_well(self, run: Run) -> None:
        """Everything is named, with versions; the client with how it was found."""
        content = ok(run.call("where", "--binary", str(run.client)))
        assert content["ok"] is True
        assert content["problems"] == []
        assert set(content) == FIELDS
        binary = content["binary"]
        assert (binary["path"], binary["how"]) == (str(run.client), "--binary")
        assert binary["version"]
        assert binary["size"] == run.client.stat().st_size
        assert binary["mtime"] == run.client.stat().st_mtime
        assert content["python"]["supervisor_interpreter"] == sys.executable
        assert content["git"]["version"].startswith("git version")
        assert content["spawn"] == "setsid"
        assert content["script"].startswith("/")
        assert not run.state.exists()
        assert list(run.home.iterdir()) == []

    @pytest.mark.rule("B10.1")
    def test_how_the_client_is_found(self, run: Run) -> None:
        """First the option, then the variable, then PATH."""
        variable = {"CLAUDE_CODE_EXECPATH": str(run.client)}
        said = ok(run.ask_words("where", env=variable))["binary"]
        assert (said["path"], said["how"]) == (str(run.client), "CLAUDE_CODE_EXECPATH")
        claude = run.client.with_name("claude")
        claude.symlink_to(run.client)
        path = {"PATH": f"{claude.parent}:{run.env['PATH']}"}
        said = ok(run.ask_words("where", env=path))["binary"]
        assert (said["path"], said["how"]) == (str(claude), "PATH")
        both = ok(run.ask_words("where", "--binary", str(run.client), env=path | variable))
        assert both["binary"]["how"] == "--binary"

    @pytest.mark.rule("B9.1")
    def test_the_scrub(self, run: Run) -> None:
        """What would be dropped, kept and unknown is told by names, never by values."""
        given = {"ANTHROPIC_API_KEY": "sk-1", "CLAUDE_NEW_THING": "v-1", "CLAUDECODE": "1"}
        given |= {"UV_X": "v-2", "VIRTUAL_ENV": "/v", "PATH": f"/v/bin:/v:/vv:{run.env['PATH']}"}
        said = run.ask_words("where", "--binary", str(run.client), env=given)
        scrub = ok(said)["scrub"]
        assert scrub["drop"] == ["ANTHROPIC_API_KEY", "UV_X", "VIRTUAL_ENV"]
        assert scrub["drop_path_entries"][:2] == ["/v/bin", "/v"]
        assert "/vv" not in scrub["drop_path_entries"]
        assert scrub["unknown"] == ["CLAUDE_NEW_THING"]
        assert "CLAUDECODE" in scrub["keep"]
        assert {"SPIRE_FORKS_CHILD", "FORKS_JOB", "DISABLE_AUTOUPDATER"} <= set(scrub["pinned"])
        assert not any(value in str(scrub) for value in ("sk-1", "v-1", "v-2"))


def problem(said: Said, *, fatal: bool) -> Line:
    """The one problem of an answer, which is refused for it only when it is fatal."""
    (found,) = said.content["problems"]
    assert set(found) == {"what", "remedy", "fatal"}
    assert found["remedy"]
    assert found["fatal"] is fatal
    assert said.content["ok"] is not fatal
    if fatal:
        assert said.code == 2
        assert said.content["reason"] == said.error == found["what"]
    else:
        assert said.code == 0
        assert {"reason", "error"}.isdisjoint(said.content)
    row: Line = found
    return row


class TestTheClient:
    """Without a client that can do the work nothing goes, and where says so."""

    @pytest.mark.rule("B10.2", "B12.2")
    @pytest.mark.parametrize("way", ["--binary", "CLAUDE_CODE_EXECPATH"])
    def test_it_is_not_there(self, run: Run, way: str) -> None:
        """A path with nothing, or a folder, at it; the remedy fits the way it was named."""
        for path in ("/gone", str(run.folder)):
            words, env = (("--binary", path), {}) if way == "--binary" else ((), {way: path})
            said = run.ask_words("where", *words, env=BARE | env)
            found = problem(said, fatal=True)
            assert found["what"] == "claude binary not found"
            assert ("unset CLAUDE_CODE_EXECPATH" in found["remedy"]) == (way != "--binary")
            assert said.content["binary"]["error"] == found["what"]
            assert said.content["binary"]["path"] == path

    @pytest.mark.rule("B10.2", "B12.2")
    def test_it_is_mute(self, run: Run) -> None:
        """One that fails, one that says nothing, one that cannot be run."""
        silent = run.folder / "silent"
        silent.write_text("#!/bin/sh\n", encoding="utf-8")
        said = run.ask_words("where", "--binary", str(silent), env=BARE)
        assert "Permission denied" in problem(said, fatal=True)["remedy"]
        silent.chmod(0o755)
        for path in ("/bin/false", str(silent)):
            said = run.ask_words("where", "--binary", path, env=BARE)
            assert problem(said, fatal=True)["what"] == "claude binary did not report a version"

    @pytest.mark.rule("B10.1", "B12.2")
    def test_none_is_named(self, run: Run) -> None:
        """Neither an option nor the variable nor PATH leads to one."""
        said = run.ask_words("where", env=BARE)
        assert problem(said, fatal=True)["what"].startswith("no claude binary")
        assert said.content["binary"]["path"] is None

    @pytest.mark.parametrize(
        ("version", "old"),
        [
            *(("1.0.128", True), ("0.2.9 (Claude Code)", True), ("1.99.0", True)),
            *(("2.0.0", False), ("2.0.76", False), ("10.0.1", False), ("nightly", False)),
        ],
    )
    def test_it_is_too_old(self, run: Run, version: str, *, old: bool) -> None:
        """Below 2.0 it cannot fork under an id of its own; what is no number is not judged."""
        run.client.write_text(f"#!/bin/sh\necho '{version}'\n", encoding="utf-8")
        said = run.ask_words("where", "--binary", str(run.client), env=BARE)
        if old:
            assert version.split(maxsplit=1)[0] in problem(said, fatal=True)["what"]
            assert said.content["binary"]["version"] == version.split(maxsplit=1)[0]
        else:
            assert ok(said)["problems"] == []


class TestSurroundings:
    """What else would make a command fail is named with its remedy; what would not, is a warning."""

    def where(self, run: Run, env: dict[str, str]) -> Said:
        """Ask, with a client that is well."""
        return run.ask_words("where", "--binary", str(run.client), env=BARE | env)

    @pytest.mark.rule("B12.2")
    def test_no_git(self, run: Run) -> None:
        """Without git it goes, but forks are not told what changed; so it is with a broken git."""
        tools = run.folder / "tools"
        tools.mkdir()
        found = problem(self.where(run, {"PATH": str(tools)}), fatal=False)
        assert found["what"] == "there is no git"
        git = tools / "git"
        git.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        git.chmod(0o755)
        found = problem(self.where(run, {"PATH": f"{tools}:/bin"}), fatal=False)
        assert str(git) in found["what"]

    @pytest.mark.parametrize("text", ["{", "[]", '{"tick_s": "soon"}', '{"no_such_s": 1}', "1"])
    def test_timings(self, run: Run, text: str) -> None:
        """Timings that cannot be read make every command on a run fail, as where foretells."""
        found = problem(self.where(run, {"FORKS_TIMINGS": text}), fatal=True)
        assert "FORKS_TIMINGS" in found["what"]
        assert "FORKS_TIMINGS" in found["remedy"]
        said = run.ask("list", env={"FORKS_TIMINGS": text})
        assert found["what"].startswith(said.error)

    @pytest.mark.parametrize("text", [None, "[", "as_of = 7\n"])
    def test_prices(self, run: Run, text: str | None) -> None:
        """A price table that is none makes every call fail, as where foretells."""
        path = run.folder / "prices.toml"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        env = {"FORKS_PRICES": str(path)}
        found = problem(self.where(run, env), fatal=True)
        assert found["what"].startswith(f"FORKS_PRICES names no price table: {path}: ")
        assert "FORKS_PRICES" in found["remedy"]
        assert ok(self.where(run, {"FORKS_PRICES": ""}))["problems"] == []

    def test_inside_a_fork(self, run: Run) -> None:
        """Most commands work there, so it is a warning; it names the variable."""
        found = problem(self.where(run, {"SPIRE_FORKS_CHILD": "1"}), fatal=False)
        assert "SPIRE_FORKS_CHILD" in found["what"]
        assert ok(self.where(run, {"SPIRE_FORKS_CHILD": ""}))["problems"] == []

    def test_the_directory_is_gone(self, run: Run) -> None:
        """Where no path can be told any more, where still answers, once."""
        gone = run.folder / "gone"
        shell = f"mkdir '{gone}'; cd '{gone}'; rmdir '{gone}'; exec \"$@\""
        where = [sys.executable, "-P", "-m", "forks_cli", "where"]
        for words in ([], ["--binary", str(run.client)]):
            done = subprocess.run(
                ["sh", "-c", shell, "sh", *where, *words],
                env=run.env,
                capture_output=True,
                check=False,
            )
            content = one_object(done.stdout)
            assert (done.returncode, done.stderr) == (2, b"")
            assert set(content) == FIELDS | {"reason", "error"}
            what = [row["what"] for row in content["problems"]]
            assert what.count("the working directory is gone") == 1

    @pytest.mark.parametrize("variable", ["HOME", "CLAUDE_CONFIG_DIR"])
    def test_sessions_cannot_be_kept(self, run: Run, variable: str) -> None:
        """The client keeps its sessions in the home, or where it is told to."""
        for path in (str(run.client), f"{run.client}/below"):
            found = problem(self.where(run, {variable: path}), fatal=False)
            assert path in found["what"]
            assert "CLAUDE_CONFIG_DIR" in found["remedy"]
        fine = str(run.folder / "to" / "be" / "made")
        assert ok(self.where(run, {variable: fine}))["problems"] == []

    @pytest.mark.rule("B12.2")
    def test_all_at_once(self, run: Run) -> None:
        """Every problem is told; only what is fatal is in the reason, joined."""
        env = {"FORKS_TIMINGS": "x", "SPIRE_FORKS_CHILD": "1", "PATH": str(run.folder)}
        said = run.ask_words("where", env=env)
        found = said.content["problems"]
        assert [row["fatal"] for row in found] == [True, True, False, False]
        fatal = "; ".join(row["what"] for row in found if row["fatal"])
        assert (said.code, said.error, said.content["reason"]) == (2, fatal, fatal)
