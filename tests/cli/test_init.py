"""``init``: fixing how the client is launched, and the run's limits."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.driver import MODEL, Run, ok

DEFAULTS = {
    "effort": "high",
    "permission_mode": "dontAsk",
    "tools": ["Bash", "Read", "Edit", "Write", "Glob", "Grep", "Skill"],
    "allowed_tools": ["Bash", "Read", "Edit", "Write", "Glob", "Grep", "Skill"],
    "disallowed_tools": [
        "Bash(git push:*)",
        "Bash(git rebase:*)",
        "Bash(git reset --hard:*)",
        "Bash(claude:*)",
    ],
    "agent": None,
    "settings": None,
    "max_turns": None,
    "keep_env": [],
}
SETTINGS = {
    "parallel_cap": 2,
    "orphan_after": 1200,
    "pings": True,
    "ttl_s": 3600,
    "max_minutes": 90,
    "stall_after_s": 900,
    "no_output_s": 120,
    "stagger_s": 20,
    "thresholds": {
        "rebase_commits": 6,
        "rebase_lines": 1500,
        "rebase_delta_tokens": 12000,
        "max_base_tokens": 250000,
        "max_rebases": 4,
    },
}


class TestFirst:
    """The first init makes the state folder and records the launch."""

    @pytest.mark.rule(
        "D13", "B13.1", "B13.6", "B13.8", "B13.9", "B13.10", "B13.12", "B13.13", "B27.2"
    )
    def test_defaults(self, run: Run) -> None:
        """What is not told is as documented; the working directory is the top of the git tree."""
        content = ok(run.forks("init", "--model", MODEL, "--binary", str(run.client)))
        assert (content["ok"], content["created"], content["changed"]) == (True, True, False)
        assert content["changed_fields"] == []
        assert (content["state"], content["registry"]) == (str(run.state), str(run.log_file))
        config = content["config"]
        launch = config["launch"]
        assert {name: launch[name] for name in DEFAULTS} == DEFAULTS
        assert {name: config[name] for name in SETTINGS} == SETTINGS
        assert (launch["model"], launch["cwd"]) == (MODEL, str(run.repository))
        assert launch["mcp"] == {"strict": True, "config": str(run.state / "mcp-empty.json")}
        assert launch["append_system_prompt"]["path"] == str(run.state / "preamble.md")
        assert set(launch["binary"]) == {"path", "version", "size"}
        assert launch["env"] == {
            "CLAUDE_CODE_PROMPT_CACHE_TTL": "1h",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
        }
        assert config["binary_resolved_by"] == "--binary"
        assert config["model_admission"] == "no availableModels list"
        assert [line["type"] for line in run.log()] == [
            "RunOpened",
            "LaunchFixed",
            "RunConfigured",
        ]
        assert run.events("RunOpened")[0]["lab"] is False

    @pytest.mark.rule("B3.1", "B3.2")
    def test_the_folder(self, inited: Run) -> None:
        """It holds what it should, and nobody else may look into it."""
        names = {path.name for path in inited.state.iterdir()}
        folders = {"briefs", "raw", "notes", "logs", "cache"}
        files = {"events.jsonl", "events.lock", "preamble.md", "mcp-empty.json", ".gitignore"}
        assert names == folders | files
        for path in inited.state.iterdir():
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path
        ignored = (inited.state / ".gitignore").read_text(encoding="utf-8").split()
        assert ignored == ["raw/", "cache/", "copies/", "*.lock"]
        assert json.loads((inited.state / "mcp-empty.json").read_bytes()) == {"mcpServers": {}}

    @pytest.mark.rule("B13.1", "B13.5", "D15")
    def test_every_option(self, run: Run) -> None:
        """Each option ends up where it belongs."""
        settings = run.folder / "settings.json"
        settings.write_text("{}", encoding="utf-8")
        agents = run.folder / "elsewhere" / ".claude" / "agents"
        agents.mkdir(parents=True)
        (agents / "a.b:c.md").write_text("agent", encoding="utf-8")
        content = run.init(
            *("--effort", "max", "--permission-mode", "acceptEdits"),
            *("--tools", " Bash, Read,,Task(a, b) ,"),
            *("--allowed-tools", "Bash(ls:*),Read", "Edit", "--allowed-tools", "Glob)"),
            *("--disallowed-tools", "Write"),
            *("--agent", "a.b:c", "--cwd", str(run.folder / "elsewhere")),
            *("--settings", str(settings), "--max-turns", "7", "--env", "B", "A", "--env", "B"),
            *("--git-instructions", "on", "--parallel-cap", "3", "--orphan-after", "4"),
            *("--pings", "off", "--ttl-s", "5", "--max-minutes", "0.5", "--stall-after-s", "6"),
            *("--no-output-s", "7", "--stagger-s", "8", "--rebase-commits", "9"),
            *("--rebase-lines", "10", "--rebase-delta-tokens", "11"),
            *("--max-base-tokens", "12", "--max-rebases", "13"),
        )
        config = content["config"]
        launch = config["launch"]
        assert (launch["effort"], launch["permission_mode"]) == ("max", "acceptEdits")
        assert launch["tools"] == ["Bash", "Read", "Task(a, b)"]
        assert launch["allowed_tools"] == ["Bash(ls:*)", "Read", "Edit", "Glob)"]
        assert launch["disallowed_tools"] == ["Write"]
        assert launch["agent"]["name"] == "a.b:c"
        assert launch["settings"]["path"] == str(settings)
        assert (launch["max_turns"], launch["keep_env"]) == (7, ["A", "B"])
        assert "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS" not in launch["env"]
        values = {name: config[name] for name in SETTINGS}
        thresholds = values.pop("thresholds")
        assert list(values.values()) == [3, 4, False, 5, 0.5, 6, 7, 8]
        assert list(thresholds.values()) == [9, 10, 11, 12, 13]
        assert run.events("RunOpened")[0]["lab"] is True


class TestVariables:
    """Variables that the scrub spares are named; what they hold is written nowhere."""

    @pytest.mark.rule("D15")
    @pytest.mark.parametrize("word", ["TOKEN=hunter2", "=hunter2", ""])
    def test_no_values(self, run: Run, word: str) -> None:
        """A value beside a name is refused before anything is recorded, and not told again."""
        given = ("--model", MODEL, "--binary", str(run.client))
        said = run.ask("init", *given, "--env", "HOME", word)
        assert (said.code, said.content["name"]) == (2, word.partition("=")[0])
        assert "names of variables" in said.error
        assert "hunter2" not in json.dumps(said.content) + said.err
        assert not run.path.with_name("run-forks").exists()


class TestAdmission:
    """A model that the client's settings do not list would be replaced: it is refused before."""

    @pytest.mark.rule("B11.1", "B11.3")
    def test_lists(self, run: Run) -> None:
        """The exact id, the id without [1m] and the family admit, in any of the files."""
        mine = run.home / ".claude" / "settings.json"
        project = run.repository / ".claude" / "settings.local.json"
        for path in (mine, project):
            path.parent.mkdir()
        mine.write_text('{"availableModels": ["claude-haiku-4-5"]}', encoding="utf-8")
        said = run.ask("init", "--model", MODEL, "--binary", str(run.client))
        assert said.content["files"] == [str(mine)]
        assert said.content["model"] == MODEL
        for number, (listed, model) in enumerate(
            ((MODEL, MODEL), (MODEL, f"{MODEL}[1m]"), ("opus", MODEL))
        ):
            project.write_text(json.dumps({"availableModels": [listed]}), encoding="utf-8")
            words = ("--run", str(run.folder / f"{number}.md"), "--binary", str(run.client))
            content = ok(run.ask_words("init", *words, "--model", model))
            assert str(project) in content["config"]["model_admission"]

    @pytest.mark.rule("B11.1")
    def test_what_cannot_be_read(self, run: Run) -> None:
        """A corrupt file is told of and ignored; settings are never written."""
        path = run.home / ".claude" / "settings.json"
        path.parent.mkdir()
        path.write_bytes(b"{\xff")
        said = run.ask("init", "--model", MODEL, "--binary", str(run.client))
        assert said.code == 0
        assert said.err.startswith(f"forks: ignored: {path}")
        assert path.read_bytes() == b"{\xff"


@pytest.mark.rule("B13.11")
class TestAgain:
    """Init again: the same says nothing; a difference counts until a base exists."""

    @pytest.mark.rule("B3.1", "B13.12")
    def test_the_same(self, inited: Run) -> None:
        """Nothing is written, and nothing is changed."""
        before = inited.snapshot()
        content = inited.init()
        assert (content["created"], content["changed"]) == (False, False)
        assert inited.snapshot() == before

    @pytest.mark.rule("D5")
    def test_touched(self, inited: Run) -> None:
        """Neither the client's time nor how it was found is a difference."""
        os.utime(inited.client, (1, 1))
        before = inited.snapshot()
        words = ("--model", MODEL, "--lab", "--stagger-s", "0")
        content = ok(inited.ask("init", *words, env={"CLAUDE_CODE_EXECPATH": str(inited.client)}))
        assert (content["changed"], inited.snapshot()) == (False, before)

    def test_a_difference(self, inited: Run) -> None:
        """Before there is a base the new values count, and the changed ones are named."""
        content = inited.init("--effort", "low", "--max-rebases", "9")
        assert (content["created"], content["changed"]) == (False, True)
        assert content["changed_fields"] == ["launch.effort", "thresholds.max_rebases"]
        assert content["config"]["launch"]["effort"] == "low"
        assert len(inited.events("RunOpened")) == 1

    def test_with_a_base(self, inited: Run) -> None:
        """Whatever became of the base: a difference is refused, the same values are fine."""
        use = Path(inited.client).read_text(encoding="utf-8")
        inited.end_of(inited.train({"crash": 3}))
        before = inited.snapshot()
        words = ("--model", MODEL, "--binary", str(inited.client), "--stagger-s", "0")
        said = inited.ask("init", *words, "--effort", "low")
        assert said.error.startswith("init values differ and a base exists")
        assert said.content["fields"] == ["launch.effort"]
        assert (said.content["bases"], said.content["state"]) == (["base"], str(inited.state))
        assert inited.init()["changed"] is False
        assert inited.snapshot() == before
        assert Path(inited.client).read_text(encoding="utf-8") == use

    @pytest.mark.rule("D13")
    def test_at_the_same_time(self, run: Run) -> None:
        """Several first inits at once: all succeed, and one of them opens the run."""
        words = run.words("init", "--model", MODEL, "--binary", str(run.client))
        calls = [run.start(*words) for _ in range(4)]
        outs = [call.communicate()[0] for call in calls]
        assert [call.returncode for call in calls] == [0] * 4, outs
        assert [line["type"] for line in run.log()] == [
            "RunOpened",
            "LaunchFixed",
            "RunConfigured",
        ]
