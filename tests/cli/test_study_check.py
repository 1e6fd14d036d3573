"""``study check``: what a study file means, before anything of it is run."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forks_cli.verbs import SUMMARIES
from tests.driver import MODEL, Run, ok
from tests.shell_client import use_shell
from tests.study_driver import TWELVE, Study

Change = Callable[[Study], Any]
ORDER = ["CDB-S01", *(f"MB-{number:02}" for number in range(1, 12))]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """An environment for many studies, and a client that only tells its version, at once."""
    made = Run(tmp_path_factory.mktemp("bench"))
    use_shell(made, "exit 1")
    yield made
    made.close()


@pytest.fixture
def study(bench: Run) -> Study:
    """A study of two tasks and two arms."""
    return Study(bench)


class TestMeaning:
    """It tells in numbers what will be run, in what order, and what tells the arms apart."""

    @pytest.mark.rule("A4.6", "A2.4")
    def test_twelve_tasks(self, bench: Run) -> None:
        """12 tasks, 2 arms, 3 and 2 runs: 24 blocks, 72 and 48 trials; CDB first, MB by number."""
        said = ok(Study(bench, *TWELVE).check())
        assert (said["blocks"], said["trials"]) == (24, 120)
        assert said["trials_by_phase"] == {"1": 72, "2": 48}
        assert said["order"] == ORDER
        assert [arm["goes_first"] for arm in said["arms"]] == [30, 30]
        assert (said["scheduled_at"], said["changed"]) == (None, [])

    def test_explicit_order(self, study: Study) -> None:
        """An order that is asked for stands."""
        study.says("study", order=["MB-01", "CDB-S01"])
        assert ok(study.check())["order"] == ["MB-01", "CDB-S01"]

    def test_differences(self, study: Study) -> None:
        """Where arms differ, by dotted paths, with the value of each arm."""
        study.says("arm", 1, effort="low", base="trained", git_instructions="on")
        study.has(arm=[*study.data["arm"], {"name": "third"}])
        said = ok(study.check())["differences"]
        skill = said["append_system_prompt"]
        assert skill["with-skill"]["path"] == str(study.folder / "skill.md")
        assert (skill["plain"], skill["third"]) == (None, None)
        assert said["effort"] == {"plain": "high", "with-skill": "low", "third": "high"}
        assert said["base"] == {"plain": None, "with-skill": "trained", "third": None}
        off = "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS"
        assert said[f"env.{off}"] == {"plain": "1", "with-skill": None, "third": "1"}
        assert set(said) == {"append_system_prompt", "effort", "base", f"env.{off}"}

    def test_arms_that_are_the_same(self, study: Study) -> None:
        """Two names of one launch do not differ, and have one fingerprint."""
        study.says("arm", 1, append_system_prompt=None)
        said = ok(study.check())
        assert said["differences"] == {}
        assert len({arm["fingerprint"] for arm in said["arms"]}) == 1

    def test_at_most(self, study: Study) -> None:
        """20 trials of 1800 and 120 s, 6 USD each; five attempts, and the waits between them."""
        most = ok(study.check())["at_most"]
        assert (most["seconds"], most["usd"]) == (20 * 1920, 20 * 6)
        assert most["attempts_of_a_trial"] == 5
        waits = 60 + 120 + 240 + 30
        assert most["seconds_with_retries"] == 20 * (5 * 1920 + waits)
        assert most["usd_with_retries"] == 5 * 20 * 6
        study.says("study", budget_cap_usd=200.0, concurrency=2)
        most = ok(study.check())["at_most"]
        # Of 3 pairs two run at once, of 2 both: 3 rounds of 2 arms for each of 2 tasks.
        assert most["seconds"] == 2 * 3 * 2 * 1920
        assert (most["usd"], most["usd_with_retries"]) == (120, 200)

    def test_the_rest(self, study: Study) -> None:
        """Cutoff in UTC, pins and limits are told as they hold."""
        study.has(pins={"client_version": "2.1.332"})
        study.says("study", cutoff="2026-12-05T06:00:00+09:00", overage="go")
        said = ok(study.check())
        assert said["cutoff"] == "2026-12-04T21:00:00.000000+00:00"
        assert said["pins"] == {"client_version": "2.1.332"}
        assert (said["overage"], said["concurrency"], said["seven_day_stop"]) == ("go", 1, 0.95)
        assert said["state"] == str(study.state)

    def test_nothing_is_written(self, study: Study) -> None:
        """It leaves no state folder, and nothing else, behind."""
        before = sorted(study.folder.rglob("*"))
        assert study.check().code == 0
        assert sorted(study.folder.rglob("*")) == before

    def test_from_anywhere(self, study: Study, tmp_path: Path) -> None:
        """Paths are relative to the file, whatever the working directory is."""
        name = os.path.relpath(study.path, tmp_path)
        said = study.run.call("study", "check", name, cwd=tmp_path)
        assert (said.code, said.content) == (0, study.check().content)


def _piped(study: Study) -> None:
    os.mkfifo(study.folder / "pipe")
    study.says("task", 0, prompt="pipe")


def _fifo(study: Study) -> None:
    os.mkfifo(study.workdir("MB-01") / "pipe")


def _meet(study: Study) -> None:
    study.says("task", 1, id="CDB-S01-r1")
    study.says("arm", 1, name="r2-plain")


def _not_admitted(study: Study) -> None:
    place = study.folder / ".claude"
    place.mkdir()
    (place / "settings.json").write_text('{"availableModels": ["claude-haiku-4-5"]}', "utf-8")


TROUBLE: list[tuple[str, Change, str]] = [
    ("cannot read prompt", lambda it: it.prompt("MB-01").unlink(), "task[1].prompt"),
    (
        "cannot read prompt",
        lambda it: it.prompt("MB-01").write_bytes(b"\xff"),
        "task[1].prompt",
    ),
    ("empty path", lambda it: it.says("task", 0, prompt=" "), "task[0].prompt"),
    ("not a folder", lambda it: it.says("task", 1, workdir="tasks/MB-01.md"), "task[1].workdir"),
    ("not a folder", lambda it: it.says("task", 1, workdir="none"), "task[1].workdir"),
    ("cannot read the folder", _fifo, "task[1].workdir"),
    ("cannot read prompt", lambda it: it.says("task", 0, prompt="/dev/zero"), "task[0].prompt"),
    ("cannot read prompt", _piped, "task[0].prompt"),
    (
        "the prompt is empty",
        lambda it: it.prompt("MB-01").write_text(" \n", encoding="utf-8"),
        "task[",
    ),
    (
        "cannot read append_system_prompt",
        lambda it: it.says("arm", 1, append_system_prompt="/dev/zero"),
        "arm[1].append_system_prompt",
    ),
    ("settings file", lambda it: it.says("launch", settings="/dev/zero"), "launch.settings"),
    ("own state", lambda it: it.says("task", 0, workdir="."), "task[0].workdir"),
    ("own state", lambda it: it.says("task", 0, workdir="tasks/../.."), "task[0].workdir"),
    (
        "cannot read append_system_prompt",
        lambda it: (it.folder / "skill.md").unlink(),
        "arm[1].append_system_prompt",
    ),
    ("no model", lambda it: it.says("launch", model=None), "arm[0].model"),
    ("not an alias", lambda it: it.says("launch", model="opus"), "launch.model"),
    ("not an alias", lambda it: it.says("arm", 1, model="opus"), "arm[1].model"),
    ("do not admit this model", _not_admitted, "launch.model"),
    ("unknown effort", lambda it: it.says("launch", effort="extreme"), "launch.effort"),
    ("unknown effort", lambda it: it.says("arm", 1, effort=""), "arm[1].effort"),
    ("plan cannot work", lambda it: it.says("arm", 0, permission_mode="plan"), "arm[0].per"),
    ("permission mode", lambda it: it.says("launch", permission_mode=""), "launch.permission_mode"),
    ("empty", lambda it: it.says("arm", 1, tools=[]), "arm[1].tools"),
    ("on or off", lambda it: it.says("launch", git_instructions="no"), "launch.git_instructions"),
    ("max_turns is 1", lambda it: it.says("launch", max_turns=0), "launch.max_turns"),
    ("max_turns is 1", lambda it: it.says("arm", 0, max_turns=10**30), "arm[0].max_turns"),
    ("binary not found", lambda it: it.says("launch", binary="none"), "launch.binary"),
    ("empty path", lambda it: it.says("arm", 1, binary=""), "arm[1].binary"),
    ("agent file not found", lambda it: it.says("arm", 1, agent="coder"), "arm[1].agent"),
    ("settings file", lambda it: it.says("arm", 1, settings="none.json"), "arm[1].settings"),
    ("names of variables", lambda it: it.says("arm", 1, env=["HOME", "A=hunter2"]), "arm[1].env"),
    ("one id", _meet, "task"),
    ("not as it must be", lambda it: it.says("study", phase1_runs="3"), "study.phase1_runs"),
]


@pytest.mark.rule("R1.1")
class TestRefused:
    """What cannot be is refused with its place in the file, and nothing is recorded."""

    @pytest.mark.parametrize(("message", "change", "key"), TROUBLE)
    def test_with_its_key(self, study: Study, message: str, change: Change, key: str) -> None:
        """By both verbs, in the same words."""
        change(study)
        said = study.check()
        assert message in said.error
        assert said.content["key"].startswith(key)
        assert study.schedule("--lab") == said
        assert not study.state.exists()

    def test_the_file_itself(self, study: Study) -> None:
        """It must be there, be UTF-8, be TOML, and be called so."""
        run, other = study.run, study.folder / "study.txt"
        assert run.ask_words("study", "check", str(other)).error == "a study is a .toml file"
        study.path.write_text("[study\n", encoding="utf-8")
        assert study.check().error == "the study file is not TOML"
        study.path.write_bytes(b"\xff")
        assert study.check().error == "cannot read study"
        study.path.unlink()
        assert study.check().error == "cannot read study"
        os.mkfifo(study.path)
        assert study.check().content["detail"] == "not a file"
        assert not study.state.exists()

    @pytest.mark.parametrize(
        ("text", "detail"),
        [
            (f"a = {'[' * 3000}{']' * 3000}\n", "nested too deep"),
            ("\ufeff[study]\n", "it begins with a byte order mark: save it without one"),
        ],
    )
    def test_no_toml(self, study: Study, text: str, detail: str) -> None:
        """What no parser can read is refused like what is none, and why is told."""
        study.path.write_text(text, encoding="utf-8")
        said = study.check()
        assert (said.error, said.content["detail"]) == ("the study file is not TOML", detail)

    def test_which_words(self, study: Study) -> None:
        """Where a word is one of few, a wrong one is refused with them."""
        study.says("study", overage="maybe")
        assert study.check().content["detail"] == "'maybe' is none of: stop, go"
        study.says("study", overage="go")
        study.says("arm", 0, permission_mode="maybe")
        assert "dontAsk" in study.check().content["allowed"]
        study.says("arm", 0, effort="maybe", permission_mode=None)
        assert "xhigh" in study.check().content["allowed"]
        study.says("arm", 0, effort=None)
        study.says("launch", git_instructions="maybe")
        assert study.check().error == "git_instructions is on or off"
        study.says("launch", git_instructions=None, tools=[])
        said = study.check()
        assert said.error == "it is empty: name at least one tool"
        assert said.content["key"] == "launch.tools"

    def test_no_client(self, study: Study) -> None:
        """Without a binary the environment must name a client, and the arm is told."""
        study.says("launch", binary=None)
        said = study.run.ask_words("study", "check", str(study.path), env={"PATH": "/none"})
        assert said.error.startswith("no claude binary")
        assert said.content["key"] == "arm[0].binary"
        env = {"CLAUDE_CODE_EXECPATH": str(study.run.client)}
        assert study.run.ask_words("study", "check", str(study.path), env=env).code == 0

    def test_another_client(self, study: Study) -> None:
        """The client is asked anew each time, also by one process."""
        before = ok(study.check())["arms"][0]["fingerprint"]
        client = study.folder / "client"
        client.write_bytes(study.run.client.read_bytes())
        client.chmod(0o755)
        study.says("launch", binary="client")
        fingerprints = {before, ok(study.check())["arms"][0]["fingerprint"]}
        client.write_text(client.read_text("utf-8") + "# longer\n", encoding="utf-8")
        fingerprints.add(ok(study.check())["arms"][0]["fingerprint"])
        assert len(fingerprints) == 3


class TestWords:
    """``study`` is the first of two words."""

    def test_group(self, bench: Run) -> None:
        """Alone it is a usage error, its help names what may follow, and nothing else may."""
        said = bench.ask_words("study")
        assert (said.error, said.content["detail"]) == ("usage", "a command is required")
        said = bench.ask_words("study", "nonsense")
        assert (said.error, said.content["detail"]) == ("usage", "unknown command: nonsense")
        assert said.content["usage"].startswith("usage: forks study")
        for help_ in ("--help", "-h"):
            text = ok(bench.ask_words("study", help_))["help"]
            names = [
                line.split("  ")[1] for line in text.splitlines() if line.startswith("  study")
            ]
            assert names == [name for name in SUMMARIES if name.startswith("study ")]

    def test_help(self, study: Study) -> None:
        """Each has its own help, and wants a file."""
        for verb in ("check", "schedule"):
            said = study.run.ask_words("study", verb, "--bogus", "--help")
            assert said.content["help"].startswith(f"usage: forks study {verb} ")
            said = study.run.ask_words("study", verb)
            assert said.error == "usage"
            assert "FILE.toml" in said.content["detail"]
            said = study.run.ask_words("study", verb, str(study.path), "--run", "r.md")
            assert said.content["detail"] == "unrecognized arguments: --run r.md"

    def test_text(self, study: Study) -> None:
        """With --text, or a piece of it, people read the same: numbers, arms, differences."""
        with study.run.start("study", "check", str(study.path), "--te") as process:
            out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, b"")
        text = out.decode()
        assert text.startswith(
            "skill-or-not: 20 trials in 4 blocks (12 in phase 1, 8 in phase 2)\n"
        )
        for part in ("plain", MODEL, "CDB-S01, MB-01", "$120.0000; with retries $600.0000"):
            assert part in text
        assert "arms differ in append_system_prompt" in text
        assert f"{study.folder / 'skill.md'}, " in text.replace("\n", "").replace("  ", " ")
        assert "{" not in text
