"""What a client is given of the caller's environment, and what is kept of it."""

import json
import sys

import pytest

from tests.driver import Run, ok


@pytest.mark.rule("B9.3", "B21.3", "D15")
class TestEnvironment:
    """The client gets the caller's environment, less what is dropped, with the pins on top."""

    def test_a_tool_sees(self, run: Run) -> None:
        """Dropped names are gone, pins and mark are there, the rest is as it was."""
        given = {
            "ANTHROPIC_API_KEY": "sk-ant-never",
            "anthropic_model": "other",
            "ANTHROPIC_DEFAULT_OPUS_MODEL": "other",
            "UV_CACHE_DIR": "/nowhere",
            "VIRTUAL_ENV": "/venv",
            "PATH": f"/venv/bin:{run.env['PATH']}",
            "CLAUDE_CODE_PROMPT_CACHE_TTL": "5m",
            "FORKS_JOB": "other/j0009",
            "CLAUDE_CODE_SESSION_ID": "other",
            "CLAUDE_EFFORT": "low",
            "SPARED": "kept",
            "ANTHROPIC_AUTH_TOKEN": "spared",
        }
        run.init("--env", "ANTHROPIC_AUTH_TOKEN", env=given)
        seen = run.folder / "env.json"
        python = "import json, os; print(json.dumps(dict(os.environ)))"
        brief = run.brief({"tool": f"'{sys.executable}' -c '{python}' > {seen}"})
        ok(run.forks("train", "--base", "b", "--brief", brief, env=given))
        assert run.end_of("j0001")["status"] == "ok"
        env = json.loads(seen.read_text(encoding="utf-8"))
        dropped = {"ANTHROPIC_API_KEY", "anthropic_model", "ANTHROPIC_DEFAULT_OPUS_MODEL"}
        dropped |= {"UV_CACHE_DIR", "VIRTUAL_ENV", "CLAUDE_CODE_SESSION_ID", "CLAUDE_EFFORT"}
        assert dropped.isdisjoint(env)
        opened = run.events("RunOpened")[0]["run"]
        expected = {
            "FORKS_JOB": f"{opened}/j0001",
            "SPIRE_FORKS_CHILD": "1",
            "CLAUDE_CODE_PROMPT_CACHE_TTL": "1h",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
            "CLAUDE_CODE_EXECPATH": str(run.client),
            "SPARED": "kept",
            "ANTHROPIC_AUTH_TOKEN": "spared",
        }
        assert {name: env.get(name) for name in expected} == expected
        assert "/venv/bin" not in env["PATH"].split(":")
        for name in ("sk-ant-never", "spared"):
            assert_nowhere(run, name)


@pytest.mark.rule("B3.2", "B21.3")
class TestSecrets:
    """Secrets and texts are not in the log, and secrets are in no file of ours."""

    def test_nowhere(self, run: Run) -> None:
        """No value of the environment, no brief and no answer is in the log."""
        secrets = {"ANTHROPIC_API_KEY": "sk-ant-1234", "CLAUDE_CODE_OAUTH_TOKEN": "tok-5678"}
        run.init(env=secrets)
        brief = run.brief({"say": "the-answer-text"}, {"tool": "echo the-tool-text"}, text="wisdom")
        ok(run.ask("train", "--base", "base", "--brief", brief, env=secrets))
        run.end_of("j0001")
        ok(run.ask("fork", "--base", "base", "--block", "b", "--brief", brief, env=secrets))
        run.end_of("j0002")
        for verb in (("list",), ("show", "j0002"), ("wait", "--all"), ("kill", "--job", "j0002")):
            assert not any(value in str(run.ask(*verb, env=secrets)) for value in secrets.values())
        for value in secrets.values():
            assert_nowhere(run, value)
        log = run.log_file.read_text(encoding="utf-8")
        for text in ("the-answer-text", "the-tool-text", "wisdom"):
            assert text not in log


def assert_nowhere(run: Run, text: str) -> None:
    """Assert that a text is in no file of the state folder."""
    holders = [name for name, data in run.snapshot().items() if data and text.encode() in data]
    assert holders == []
