"""``study run``: a study goes on where it stands, until it is done."""

import json
from collections.abc import Iterator

import pytest

from tests.cli.conftest import MakeWorld
from tests.cli.terminal import on_a_terminal
from tests.driver import Run, ok
from tests.study_world import World, between

TRIALS = ["MB-01-r1-plain", "MB-01-r1-with-skill", "MB-01-r2-with-skill", "MB-01-r2-plain"]

RECORD = """
    trial_id attempt final smoke phase block run run_index arm task order_index task_pos arm_slot
    first_arm schedule_seed seed job model effort client_version fingerprint system_prompt_sha256
    status infra_kind message resets_at excluded reason passed score checks evaluator_error
    final_text wall_s agent_wall_s overhead_s turns tool_calls input output cache_creation
    cache_read usage_basis cost_usd cost_source quota_before quota_after
"""
"""What a record holds of an attempt (R5)."""


class Life:
    """A study whose runner was asked for one arm first, then for all; and what it answered."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.one_arm = world.go("--arm", "with-skill")
        self.between = world.status()
        self.grid = on_a_terminal(world.run, *world.words("status"), columns=100)
        self.tried = world.trials()
        self.early = world.rows()
        self.early_that_count = world.rows("--complete")
        self.rest = world.go()
        self.rows = world.rows()


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """A study's life: one task, two arms, a run in each phase."""
    run = Run(tmp_path_factory.mktemp("life"))
    world = World(run, phase2_runs=1)
    world.judges("sh", "-c", 'echo \'{"score": 0.5, "checks": {"seed": true}}\'; test $FORKS_SEED')
    world.agent({"steps": [{"tool": "echo more >> code.py"}, {"say": "x" * 600}]})
    yield Life(world.scheduled())
    run.close()


class TestOneArm:
    """A run of a part of the study."""

    @pytest.mark.rule("R6.2", "R6.5")
    def test_stops_before_phase_2(self, life: Life) -> None:
        """Phase 2 waits for all of phase 1, whatever part is run: exit 5."""
        said = life.one_arm
        assert (said.code, said.content["reason"]) == (5, "INCOMPLETE_PHASE1")
        assert "MB-01-r1-plain" in said.content["detail"]
        assert (said.content["done"], said.content["trials"]) == (1, 4)
        assert said.content["retry_at"] is None
        assert life.world.events("StudyStopped")[0]["reason"] == "INCOMPLETE_PHASE1"

    @pytest.mark.rule("R6.4")
    def test_keeps_positions(self, life: Life) -> None:
        """The trial that was run has the place that it has in the whole."""
        assert life.tried == ["MB-01-r1-with-skill"]
        row = life.rows[0]
        assert (row["order_index"], row["arm_slot"], row["first_arm"]) == (1, 1, "plain")

    def test_what_stands(self, life: Life) -> None:
        """Status tells what is done, what is pending, and why it stopped; nobody runs."""
        status = life.between
        states = {row["trial_id"]: row["state"] for row in status["by_trial"]}
        assert states == dict.fromkeys(TRIALS, "pending") | {TRIALS[1]: "passed"}
        assert (status["running"], status["stopped"]["reason"]) == (False, "INCOMPLETE_PHASE1")

    def test_a_grid_for_people(self, life: Life) -> None:
        """On a terminal it is a grid of tasks by arms, a letter a run."""
        (line,) = [line for line in life.grid.text.splitlines() if line.startswith("MB-01")]
        assert line.split() == ["MB-01", "·", "·", "+", "·"]
        assert "INCOMPLETE_PHASE1" in life.grid.text


class TestTheRest:
    """Run again, it goes on."""

    @pytest.mark.rule("R6.1", "R6.5")
    def test_only_what_is_pending(self, life: Life) -> None:
        """What is final is not run again; blocks in order, trials in order; exit 0 when done."""
        said = life.rest
        assert (said.code, said.content["reason"], said.content["ok"]) == (0, "DONE", True)
        assert life.world.trials() == [TRIALS[1], TRIALS[0], *TRIALS[2:]]
        assert (said.content["done"], said.content["blocks_complete"]) == (4, 2)
        assert [stop["reason"] for stop in life.world.events("StudyStopped")] == [
            "INCOMPLETE_PHASE1",
            "DONE",
        ]

    def test_progress_for_people(self, life: Life) -> None:
        """Standard error tells trials, blocks, spend, both windows and the time left."""
        lines = life.rest.err.splitlines()
        assert all(line.startswith("forks: ") for line in lines)
        assert lines[-1].startswith("forks: 4/4 trials, 2/2 blocks, $")
        assert "five_hour 42%, seven_day 61%" in lines[-1]
        assert any("left" in line for line in lines)

    def test_done_is_done(self, life: Life) -> None:
        """Run once more, nothing is begun; it says that it is done."""
        before = life.world.trials()
        said = life.world.go()
        assert (said.code, said.content["reason"]) == (0, "DONE")
        assert life.world.trials() == before

    @pytest.mark.rule("E12", "R5.1")
    def test_rows(self, life: Life) -> None:
        """A row tells identity, settings, outcome, effort and quota; the log holds no text of it."""
        row = life.rows[-1]
        assert set(row) >= set(RECORD.split())
        assert (row["trial_id"], row["attempt"], row["final"], row["smoke"]) == (
            *(TRIALS[3], 1, True, False),
        )
        assert (row["status"], row["passed"], row["score"]) == ("completed", True, 0.5)
        assert (row["checks"], row["final_text"]) == ({"seed": True}, "x" * 500)
        assert (row["turns"], row["tool_calls"], row["cost_source"]) == (2, 1, "client")
        assert row["quota_before"] == row["quota_after"] == {"five_hour": 0.42, "seven_day": 0.61}
        assert row["wall_s"] >= row["agent_wall_s"] > 0
        assert row["overhead_s"] == pytest.approx(row["wall_s"] - row["agent_wall_s"], abs=0.11)
        assert "xxxx" not in life.world.log_file.read_text("utf-8")

    @pytest.mark.rule("E8")
    def test_kept(self, life: Life) -> None:
        """Of each attempt the raw stream, the diff, the check's output and the copy are kept."""
        for row in life.rows:
            name = f"{row['trial_id']}/a{row['attempt']}"
            trials = life.world.state / "trials"
            assert b"+more" in (trials / f"{name}.diff").read_bytes()
            assert json.loads((trials / f"{name}.check.out").read_bytes())["score"] == 0.5
            assert (life.world.state / "copies" / name / "code.py").read_text("utf-8")[
                -5:
            ] == "more\n"
            assert life.world.raw(row["job"]).count(b"\n") > 4
        assert len({row["job"] for row in life.rows}) == 4

    def test_nothing_of_the_user(self, life: Life) -> None:
        """No account heard of a lab study, the home is as it was, the sources too; nobody is left."""
        run = life.world.run
        assert not (run.folder / "account").exists()
        assert list(run.home.iterdir()) == []
        assert list(run.temporary.iterdir()) == []
        assert life.world.workdir("MB-01").joinpath("code.py").read_text("utf-8") == "x = 1\n"
        life.world.nothing_left()

    @pytest.mark.rule("E10")
    def test_a_study_is_a_run(self, life: Life) -> None:
        """Its state lies beside its file, with a log of its own; nobody waits for trials."""
        world = life.world
        assert world.state == world.path.with_name("study-forks")
        where = ("--run", world.file)
        waited = ok(world.run.ask_words("wait", *where, "--all"))
        assert (waited["met"], waited["done"], waited["running"]) == (True, [], [])
        fixed = [one["fingerprint"] for one in world.events("LaunchFixed")]
        arms = [arm["fingerprint"] for arm in world.events("StudyScheduled")[0]["plan"]["arms"]]
        assert len(set(fixed)) == 2
        assert fixed == arms
        by_arm = {row["arm"]: row["fingerprint"] for row in life.rows}
        assert [by_arm["plain"], by_arm["with-skill"]] == arms


class TestOneTask:
    """A run of a task that phase 2 does not wait for."""

    @pytest.mark.rule("R6.5", "R9.1")
    def test_the_rest_remains(self, make_world: MakeWorld) -> None:
        """What was asked for is done, and all is well with it; but the study goes on: exit 5."""
        world = make_world("MB-01", "MB-02")
        world.one_arm()
        world.scheduled()
        for words, told in (
            ((), "Nothing was tried yet."),
            (("--complete",), "No row counts yet."),
        ):
            shown = on_a_terminal(world.run, *world.words("rows", *words), columns=100)
            assert shown.text.strip() == told
        for _ in range(2):
            said = world.go("--task", "MB-01")
            assert (said.code, said.content["reason"], said.content["ok"]) == (5, "DONE", True)
            assert (said.content["done"], said.content["trials"]) == (1, 2)
        said = world.go("--task", "MB-02")
        assert (said.code, said.content["reason"], said.content["done"]) == (0, "DONE", 2)
        assert world.trials() == ["MB-01-r1-plain", "MB-02-r1-plain"]


class TestRowsOut:
    """``study rows``."""

    @pytest.mark.rule("R9.1")
    def test_a_row_a_line(self, life: Life) -> None:
        """With --jsonl each row is a line, the same as in the one object."""
        with life.world.run.start(*life.world.words("rows", "--jsonl")) as process:
            out, _ = process.communicate(timeout=30)
        assert process.returncode == 0
        assert [json.loads(line) for line in out.splitlines()] == life.rows

    @pytest.mark.rule("R9.1")
    def test_only_what_counts(self, life: Life) -> None:
        """With --complete only final rows of complete blocks are told: here all of them."""
        assert life.world.rows("--complete") == life.rows

    @pytest.mark.rule("R9.1")
    def test_an_interrupted_block(self, life: Life) -> None:
        """While its block was not complete, the first row was kept and flagged, and did not count."""
        (row,) = life.early
        assert (row["final"], row["block"], row["block_incomplete"]) == (True, "P1-MB-01", True)
        assert life.early_that_count == []
        assert life.rows[0] == row | {"block_incomplete": False}

    def test_times_are_those_of_the_log(self, life: Life) -> None:
        """A row's times are those of its events."""
        begun = {
            line["data"]["trial_id"]: line
            for line in life.world.log()
            if line["type"] == "TrialBegun"
        }
        for row in life.rows:
            assert between(begun[row["trial_id"]]["at"], row["begun_at"]) == 0
            assert between(row["begun_at"], row["ended_at"]) == pytest.approx(
                row["wall_s"], abs=0.06
            )
