"""``study run`` on what is not as it must be: refused, or judged, and nothing is lost by it."""

import resource

import pytest

from tests.cli.conftest import MakeWorld
from tests.cli.terminal import on_a_terminal
from tests.processes import a_nap, napping
from tests.study_world import World

pytestmark = pytest.mark.long

TRIAL = "MB-01-r1-plain"
NO_PROGRAM = "[Errno 2] No such file or directory: 'no-such-program'"


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """A study of one trial, whose agent waits until it is let go on."""
    made = make_world()
    made.one_arm()
    made.agent(made.held())
    return made.scheduled()


class TestChanged:
    """What a study is made of is held against its schedule."""

    @pytest.mark.rule("R7.1")
    def test_since_it_was_scheduled(self, world: World) -> None:
        """What has changed is named, and nothing is begun; put back, it runs."""
        kept = world.prompt("MB-01").read_bytes()
        world.prompt("MB-01").write_text("Do something else.\n", encoding="utf-8")
        world.says("study", max_budget_usd=7.0)
        refused = world.ask("run")
        assert refused.error == "the study has changed since it was scheduled"
        assert len(refused.content["fields"]) >= 2
        assert {"max_budget_usd", "tasks"} <= {
            name.partition(".")[0].partition("[")[0] for name in refused.content["fields"]
        }
        told = world.ask("preflight")
        assert (told.code, told.content["failed"]) == (1, ["study"])
        assert world.events("RunnerStarted") == []
        world.prompt("MB-01").write_bytes(kept)
        world.says("study", max_budget_usd=6.0)
        world.go_on.touch()
        assert world.go().content["reason"] == "DONE"

    @pytest.mark.rule("E7", "E11", "R6.1")
    def test_a_client_that_was_replaced(self, world: World) -> None:
        """What was paid by then is judged before the run is refused; nothing more is begun."""
        going = world.start()
        world.waits_for("StreamTurned")
        going.kill()
        with world.run.client.open("a", encoding="utf-8") as client:
            client.write("# another release\n")
        world.go_on.touch()
        said = world.go()
        assert (said.code, said.error) == (2, "the study has changed since it was scheduled")
        assert world.states() == {TRIAL: "passed"}
        stopped = world.status()["stopped"]
        assert (stopped["reason"], stopped["detail"]) == ("DONE", None)
        assert world.go().error == said.error

    @pytest.mark.rule("E11", "R6.1", "R7.1")
    def test_what_cannot_be_run_any_more(self, make_world: MakeWorld) -> None:
        """So it is where the preflight fails meanwhile: judged, then refused as it would be."""
        world = make_world(phase1_runs=2)
        world.has(pins={"python_version": "0"})
        world.one_arm()
        world.agent(world.held())
        going = world.scheduled().start("--accept", "pin:python_version")
        world.waits_for("StreamTurned")
        going.kill()
        world.go_on.touch()
        said = world.go()
        assert (said.code, said.content["failed"]) == (7, ["pin:python_version"])
        assert world.states()[TRIAL] == "passed"
        stopped = world.status()["stopped"]
        assert (stopped["reason"], stopped["detail"]) == ("FAILED", "the preflight failed")
        assert len(world.trials()) == 1

    def test_a_lock_that_cannot_be(self, world: World) -> None:
        """What the state folder does not let us do is told as what it is."""
        lock = world.state / "runner.lock"
        lock.mkdir()
        refused = world.ask("run")
        assert refused.error == "cannot use the state folder: Is a directory"
        assert (refused.code, refused.content["path"]) == (2, str(lock))
        assert world.events("RunnerStarted") == []

    def test_a_folder_that_vanished(self, world: World) -> None:
        """Gone before, the run is refused; gone meanwhile, the attempt waits to be judged."""
        away = world.folder / "away"
        world.workdir("MB-01").rename(away)
        refused = world.ask("run")
        assert (refused.code, refused.content["key"]) == (2, "task[0].workdir")
        away.rename(world.workdir("MB-01"))
        going = world.start()
        world.waits_for("StreamTurned")
        world.workdir("MB-01").rename(away)
        world.go_on.touch()
        said = going.end()
        assert said.error == "the task's folder is gone"
        assert world.states() == {TRIAL: "judging"}
        stopped = world.status()["stopped"]
        assert (stopped["reason"], stopped["detail"]) == ("FAILED", "the task's folder is gone")
        away.rename(world.workdir("MB-01"))
        assert world.go().content["reason"] == "DONE"
        assert len(world.events("JobCreated")) == 1

    def test_no_text(self, make_world: MakeWorld) -> None:
        """A prompt that is not UTF-8 is refused by the key that names it, then and later."""
        world = make_world()
        kept = world.prompt("MB-01").read_bytes()
        world.prompt("MB-01").write_bytes(b"caf\xe9\n")
        refused = world.schedule("--lab")
        assert (refused.code, refused.content["key"]) == (2, "task[0].prompt")
        world.prompt("MB-01").write_bytes(kept)
        world.scheduled()
        world.prompt("MB-01").write_bytes(b"caf\xe9\n")
        refused = world.ask("run")
        assert (refused.code, refused.content["key"]) == (2, "task[0].prompt")

    def test_never_scheduled(self, make_world: MakeWorld) -> None:
        """What was never scheduled is neither run, nor shown, nor stopped."""
        world = make_world()
        for verb in ("run", "preflight", "status", "stop", "rows"):
            assert "forks study schedule comes first" in world.ask(verb).error
        assert not world.state.exists()


class TestFullDisk:
    """A disk that is full while the study is run."""

    @pytest.mark.rule("E11")
    def test_full(self, world: World) -> None:
        """The runner says that it cannot write; with room again nothing is lost, nor done twice."""
        going = world.start()
        world.waits_for("StreamTurned")
        # What it wrote before it stays; it can make no file longer.
        resource.prlimit(going.pid, resource.RLIMIT_FSIZE, (0, 0))
        world.go_on.touch()
        said = going.end()
        assert said.code == 2
        assert "File too large" in str(said.content), said
        world.waits_for("JobEnded")
        assert world.states() == {TRIAL: "judging"}
        assert world.go().content["reason"] == "DONE"
        assert len(world.events("JobCreated")) == 1
        assert [row["passed"] for row in world.rows()] == [True]


class TestBadChecks:
    """A check that is no good is an answer of its own: final, not passed, and flagged."""

    @pytest.mark.rule("R4.1", "R4.2", "R4.3")
    def test_each(self, make_world: MakeWorld) -> None:
        """One that hangs, prints 50 MB, leaves a daemon, or exits 139; all are kept in bounds."""
        nap, hang = a_nap(), a_nap()
        checks = {
            "MB-01": ("sh", "-c", f"exec sleep {hang}"),
            "MB-02": ("sh", "-c", "yes | head -c 50000000; echo; echo '{\"score\": 0.25}'"),
            "MB-03": ("sh", "-c", f"setsid sleep {nap} & exit 1"),
            "MB-04": ("sh", "-c", f"echo {'a' * 400}b >&2; exit 139"),
            "MB-05": ("no-such-program",),
        }
        world = make_world(*checks)
        world.one_arm()
        for number, words in enumerate(checks.values()):
            world.says("task", number, check=list(words), check_timeout_s=1 if not number else 60)
        assert world.scheduled().go("--accept", "check:MB-05").code == 0
        rows = world.rows()
        assert [
            (row["passed"], row["evaluator_error"], row["check_exit_code"]) for row in rows
        ] == [
            (False, True, None),
            (True, False, 0),
            (False, False, 1),
            (False, True, 139),
            (False, True, None),
        ]
        assert [row["message"] for row in rows] == [
            *("the check's time was up", None, None, "a" * 299 + "b"),
            f"the check could not be started: {NO_PROGRAM}",
        ]
        assert all(row["final"] and not row["excluded"] for row in rows)
        assert {row["status"] for row in rows} == {"completed"}
        assert [end["check"]["timed_out"] for end in world.events("AttemptConcluded")] == [
            *(True, False, False, False, False),
        ]
        assert rows[1]["score"] == 0.25
        kept = world.state / "trials" / "MB-02-r1-plain" / "a1.check.out"
        assert kept.stat().st_size <= 1 << 20
        assert napping(nap) == napping(hang) == []
        shown = on_a_terminal(world.run, *world.words("rows"), columns=100).text.splitlines()
        assert [line.split()[3] for line in shown if line.startswith("MB-")] == [
            *("error", "yes", "no", "error", "error"),
        ]
        assert list(world.states().values()) == [
            *("evaluator_error", "passed", "failed", "evaluator_error", "evaluator_error"),
        ]

    @pytest.mark.rule("R4.1")
    def test_what_it_is_told(self, make_world: MakeWorld) -> None:
        """It runs in the working copy, when every process of the agent is gone, and knows the trial."""
        world, nap = make_world(), a_nap()
        world.one_arm()
        world.agent({"steps": [{"leave": {"kind": "setsid", "seconds": int(nap)}}, {"say": "ok"}]})
        seen = world.folder / "seen"
        script = (
            f"{{ pwd; echo $FORKS_TRIAL $FORKS_SEED; cat $FORKS_RESULT; env; }} > {seen}; "
            f"! grep -qsz {nap} /proc/[0-9]*/cmdline --exclude-dir=$$"
        )
        world.judges("sh", "-c", script)
        assert world.scheduled().go().code == 0
        said = seen.read_text("utf-8").splitlines()
        assert said[0] == str(world.state / "copies" / TRIAL / "a1")
        assert said[1] == f"{TRIAL} 876957"
        assert '"status": "ok"' in said[2]
        names = {line.partition("=")[0] for line in said[3:]}
        assert "FORKS_TEST_MARK" not in names
        assert "FORKS_STANDIN_HOME" not in names
        assert napping(nap) == []
