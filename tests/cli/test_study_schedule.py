"""``study schedule``: a study is registered once, before anything of it is run."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from forks_cli.text import render
from tests.driver import Run, ok, one_object
from tests.log_view import Line
from tests.shell_client import use_shell
from tests.study_driver import TWELVE, Study

Change = Callable[[Study], Any]
# Trial, place of its task, place in its pair, who goes first, repeat from 0, seed (A2, A3, A5).
FIRST_TEN = (
    ("CDB-S01-r1-plain", 0, 0, "plain", 0, 271012),
    ("CDB-S01-r1-with-skill", 0, 1, "plain", 0, 271012),
    ("CDB-S01-r2-with-skill", 0, 0, "with-skill", 1, 856257),
    ("CDB-S01-r2-plain", 0, 1, "with-skill", 1, 856257),
    ("CDB-S01-r3-plain", 0, 0, "plain", 2, 6992),
    ("CDB-S01-r3-with-skill", 0, 1, "plain", 2, 6992),
    ("MB-01-r1-with-skill", 1, 0, "with-skill", 0, 876957),
    ("MB-01-r1-plain", 1, 1, "with-skill", 0, 876957),
    ("MB-01-r2-plain", 1, 0, "plain", 1, 537493),
    ("MB-01-r2-with-skill", 1, 1, "plain", 1, 537493),
)


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


def expected(number: int) -> Line:
    """One of the first ten trials, as the rules have it."""
    trial, task_pos, arm_slot, first, run_index, seed = FIRST_TEN[number]
    task, _, arm = trial.partition(f"-r{run_index + 1}-")
    return {
        "trial_id": trial,
        "phase": 1,
        "block": f"P1-{task}",
        "run_index": run_index,
        "run": run_index + 1,
        "task": task,
        "arm": arm,
        "task_pos": task_pos,
        "arm_slot": arm_slot,
        "first_arm": first,
        "schedule_seed": 20261005,
        "order_index": number,
        "seed": seed,
    }


class TestOrder:
    """The schedule is what the rules say, and is recorded as it is told."""

    @pytest.mark.rule("A2.1", "A3.1", "A3.4", "A3.5", "A3.7", "A4.4", "A4.6", "A5.2")
    def test_twelve_tasks(self, bench: Run) -> None:
        """The first ten trials by hand; 24 blocks, and 120 trials, each once."""
        study = Study(bench, *TWELVE)
        study.says("study", schedule_seed=20261005)
        trials = ok(study.schedule("--lab"))["trials"]
        assert trials[:10] == [expected(number) for number in range(10)]
        assert len({trial["trial_id"] for trial in trials}) == len(trials) == 120
        blocks = list(dict.fromkeys(trial["block"] for trial in trials))
        tasks = ["CDB-S01", *(f"MB-{number:02}" for number in range(1, 12))]
        assert blocks == [f"P{phase}-{task}" for phase in (1, 2) for task in tasks]
        (recorded,) = study.events("StudyScheduled")
        assert [entry | {"seed": 0} for entry in recorded["entries"]] == [
            trial | {"seed": 0} for trial in trials
        ]

    @pytest.mark.rule("E7", "E10")
    def test_what_is_recorded(self, study: Study) -> None:
        """A log of its own, one commit: the run, a launch an arm, the settings, the schedule."""
        said = ok(study.schedule("--lab", "--account", "team"))
        log = study.log()
        types = ["RunOpened", "LaunchFixed", "LaunchFixed", "RunConfigured", "StudyScheduled"]
        assert [line["type"] for line in log] == types
        assert {line["commit"] for line in log} == {5}
        plan = log[-1]["data"]["plan"]
        arms = [(arm["name"], arm["fingerprint"]) for arm in plan["arms"]]
        fixed = [event["fingerprint"] for event in study.events("LaunchFixed")]
        assert arms == list(zip(["plain", "with-skill"], fixed, strict=True))
        assert log[0]["data"]["lab"] is True
        assert study.events("RunConfigured")[0]["settings"]["account"] == "team"
        assert study.events("RunConfigured")[0]["settings"]["pings"] is False
        assert (said["changed"], said["head"]["seq"]) == (True, 5)
        assert said["state"] == str(study.state)

    @pytest.mark.rule("E12")
    def test_no_text_is_recorded(self, study: Study) -> None:
        """Of prompts and of what is appended the log holds digests."""
        ok(study.schedule("--lab"))
        for text in (b"Solve", b"Be brief", b"x = 1"):
            assert text not in study.log_file.read_bytes()

    def test_one_launch_for_two_arms(self, study: Study) -> None:
        """A launch that arms share is fixed once."""
        study.says("arm", 1, append_system_prompt=None)
        ok(study.schedule("--lab"))
        assert len(study.events("LaunchFixed")) == 1


CHANGES: dict[str, tuple[Change, list[str]]] = {
    "a prompt": (
        lambda it: it.prompt("MB-01").write_text("Solve it.", "utf-8"),
        ["tasks.MB-01.prompt.sha256"],
    ),
    "what is in a working copy": (
        lambda it: (it.workdir("MB-01") / "more.py").touch(),
        ["tasks.MB-01.workdir.sha256"],
    ),
    "whether it can be run": (
        lambda it: (it.workdir("MB-01") / "code.py").chmod(0o755),
        ["tasks.MB-01.workdir.sha256"],
    ),
    "what is appended": (
        lambda it: (it.folder / "skill.md").write_text("Be long.", "utf-8"),
        ["arms.with-skill.launch.append_system_prompt.sha256"],
    ),
    "an arm's launch": (
        lambda it: it.says("arm", 0, effort="low"),
        ["arms.plain.launch.effort", "file.sha256"],
    ),
    "all launches": (
        lambda it: it.says("launch", max_turns=9),
        ["arms.plain.launch.max_turns", "arms.with-skill.launch.max_turns", "file.sha256"],
    ),
    "an arm's base": (
        lambda it: it.says("arm", 0, base="trained"),
        ["arms.plain.base", "file.sha256"],
    ),
    "the order of tasks": (
        lambda it: it.says("study", order=["MB-01", "CDB-S01"]),
        ["file.sha256", "order_of_tasks"],
    ),
    "the order of arms": (
        lambda it: it.has(arm=it.data["arm"][::-1]),
        ["file.sha256", "order_of_arms"],
    ),
    "an arm more": (
        lambda it: it.has(arm=[*it.data["arm"], {"name": "third"}]),
        ["arms.third", "file.sha256", "order_of_arms"],
    ),
    "a task less": (
        lambda it: it.has(task=it.data["task"][:1]),
        ["file.sha256", "order_of_tasks", "tasks.MB-01"],
    ),
    "money": (
        lambda it: it.says("study", max_budget_usd=7.0),
        ["file.sha256", "max_budget_usd"],
    ),
    "a pin": (
        lambda it: it.has(pins={"client_version": "2"}),
        ["file.sha256", "pins.client_version"],
    ),
    "a comment": (
        lambda it: it.path.write_text(f"# Later.\n{it.path.read_text('utf-8')}", "utf-8"),
        ["file.sha256"],
    ),
}


@pytest.mark.rule("E7")
class TestOnce:
    """What was scheduled stands: the same again says nothing, another plan is refused."""

    def test_again(self, study: Study) -> None:
        """The second call finds it as it is: not a byte is written, and the head is the same."""
        first = ok(study.schedule("--lab"))
        before = study.snapshot()
        again = ok(study.schedule("--lab"))
        assert again == first | {"changed": False}
        assert study.snapshot() == before
        said = study.check()
        assert (said.code, said.content["ok"], said.content["changed"]) == (0, True, [])
        assert said.content["scheduled_at"] == first["scheduled_at"]

    def test_what_is_no_change(self, study: Study) -> None:
        """A file that was touched, and a folder that was copied to and fro, are as they were."""
        ok(study.schedule("--lab"))
        os.utime(study.prompt("MB-01"), (0, 0))
        shutil.copytree(study.workdir("MB-01"), study.folder / "copy")
        shutil.rmtree(study.workdir("MB-01"))
        (study.folder / "copy").rename(study.workdir("MB-01"))
        assert ok(study.schedule("--lab"))["changed"] is False

    @pytest.mark.parametrize("name", CHANGES)
    def test_changed(self, study: Study, name: str) -> None:
        """Each change is refused with what differs, and nothing is recorded; check tells it too."""
        change, fields = CHANGES[name]
        ok(study.schedule("--lab"))
        before = study.snapshot()
        change(study)
        said = study.schedule("--lab")
        assert said.error == "the study was scheduled, and its plan has changed since"
        assert said.content["fields"] == fields
        said = study.check()
        assert (said.code, said.content["ok"], said.content["changed"]) == (1, False, fields)
        assert list(said.content["changes"]) == fields
        assert study.snapshot() == before

    def test_from_what_to_what(self, study: Study) -> None:
        """A change is told by what was and what is: to programs, and to people."""
        ok(study.schedule("--lab"))
        study.says("study", max_budget_usd=7.0)
        change = {"was": 6.0, "is": 7.0}
        assert study.schedule("--lab").content["changes"]["max_budget_usd"] == change
        said = study.check()
        assert said.content["changes"]["max_budget_usd"] == change
        text = render(["study", "check"], said.content, terminal=False)
        assert re.search(r"^ +max_budget_usd +6\.0 -> 7\.0$", text, re.MULTILINE)

    def test_moved(self, study: Study) -> None:
        """A folder that was copied with its state is told so, though its launches differ."""
        ok(study.schedule("--lab"))
        copied = study.folder.with_name("copied")
        shutil.copytree(study.folder, copied)
        for verb, since in (("schedule", "was scheduled, and its"), ("run", "study's")):
            said = study.run.ask_words("study", verb, str(copied / study.path.name))
            assert f"{since} folder was moved or copied" in said.error
            cwd = said.content["changes"]["arms.plain.launch.cwd"]
            assert cwd["was"] == str(study.state / "copies")
            assert cwd["is"] == str(copied / "study-forks" / "copies")

    def test_at_once(self, study: Study) -> None:
        """Of two that register it at the same time one does."""
        words = ("study", "schedule", str(study.path), "--lab")
        processes = [study.run.start(*words) for _ in range(2)]
        said = [one_object(process.communicate(timeout=30)[0]) for process in processes]
        assert sorted(answer["changed"] for answer in said) == [False, True]
        assert said[0]["head"] == said[1]["head"]
        assert len(study.events("StudyScheduled")) == 1

    def test_lost_log(self, study: Study) -> None:
        """Where the log is gone and work has been done, no second study is begun."""
        ok(study.schedule("--lab"))
        study.log_file.unlink()
        (study.state / "raw" / "j0001.jsonl").touch()
        said = study.schedule("--lab")
        assert "holds earlier work" in said.error
        assert not study.log_file.exists()

    @pytest.mark.rule("E10")
    def test_another_file_of_the_name(self, study: Study) -> None:
        """s.toml and s.md would share their state folder: a run's is not taken for a study."""
        run = study.run
        given = ("--model", study.data["launch"]["model"], "--binary", str(run.client), "--lab")
        path = str(study.path.with_suffix(".md"))
        ok(run.ask_words("init", "--run", path, *given))
        before = study.snapshot()
        for said in (study.check(), study.schedule("--lab")):
            assert said.error == "the state folder is a run's, of another file"
            assert said.content["state"] == str(study.state)
        assert study.snapshot() == before


class TestWords:
    """How it is called, and what people read."""

    def test_prefixes(self, study: Study) -> None:
        """Options may be cut short; a label that is none is a usage error."""
        assert study.schedule("--account", "../x").error == "usage"
        assert study.schedule("--acc", "").error == "usage"
        assert not study.state.exists()
        assert ok(study.schedule("--la", "--acc", "team"))["changed"] is True

    def test_text(self, study: Study) -> None:
        """People read the beginning, with seeds, and how much more there is."""
        with study.run.start("study", "schedule", str(study.path), "--lab", "--text") as process:
            out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, b"")
        lines = out.decode().splitlines()
        assert lines[0] == "skill-or-not is scheduled: 20 trials"
        assert [line.split()[0] for line in lines[3:13]] == [row[0] for row in FIRST_TEN]
        assert [line.split()[-1] for line in lines[3:13]] == [str(row[-1]) for row in FIRST_TEN]
        assert lines[13] == "… and 10 more: --json tells all"
        assert str(study.state) in lines[-1]
