"""``where``: what forks runs on."""

import sys

from tests.driver import Run, ok


class TestWhere:
    """It tells what the next command would find, and writes nothing."""

    def test_all_is_well(self, run: Run) -> None:
        """Everything is named, with versions; the client with how it was found."""
        content = ok(run.call("where", "--binary", str(run.client)))
        assert content["ok"] is True
        assert set(content) == {
            *("script", "python", "uv", "binary", "git", "spawn", "scrub", "platform", "ok")
        }
        binary = content["binary"]
        assert (binary["path"], binary["how"]) == (str(run.client), "--binary")
        assert binary["version"]
        assert binary["size"] == run.client.stat().st_size
        assert binary["mtime"] == run.client.stat().st_mtime
        assert content["python"]["supervisor_interpreter"] == sys.executable
        assert content["git"]["version"].startswith("git version")
        assert content["spawn"] == "setsid"
        assert not run.state.exists()

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

    def test_no_client(self, run: Run) -> None:
        """Without a client, or with one that does not answer, it is not ok, and says why."""
        cases = {
            ("--binary", "/gone"): "claude binary not found",
            ("--binary", "/bin/false"): "claude binary did not report a version",
        }
        for words, reason in cases.items():
            said = run.ask_words("where", *words)
            assert (said.code, said.error, said.content["reason"]) == (2, reason, reason)
            assert said.content["ok"] is False
            assert said.content["binary"]["error"] == reason
        said = run.ask_words("where", env={"PATH": "/usr/bin:/bin"})
        assert "no claude binary" in said.error

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
