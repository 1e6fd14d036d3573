"""``study run`` and ``study stop``: ended by those who watch, or by a crash, it loses nothing."""

import hashlib
import os
import re
import signal

import pytest

from tests.cli.conftest import MakeWorld
from tests.cli.terminal import on_a_terminal
from tests.driver import ok
from tests.processes import a_nap, napping, until
from tests.study_world import BOUND_S, DONE, World

pytestmark = pytest.mark.long

FIRST, SECOND = "MB-01-r1-plain", "MB-01-r1-with-skill"


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """A study of two trials; the first agent waits until it is let go on."""
    made = make_world()
    made.agent(made.held(), DONE)
    return made.scheduled()


class TestOnce:
    """Asked once, a run ends after this attempt."""

    @pytest.mark.rule("R2.1")
    def test_a_signal(self, world: World) -> None:
        """Meanwhile it shows who runs it, and nobody else can; then it ends, and says why."""
        going = world.start()
        world.waits_for("StreamTurned")
        status = world.status()
        assert (status["running"], status["runner"]["pid"]) == (True, going.pid)
        assert status["states"] == {"pending": 1, "running": 1}
        grid = on_a_terminal(world.run, *world.words("status"), columns=100).text
        assert "MB-01  >      ·" in grid
        assert f"pid {going.pid} on " in grid
        second = world.go()
        assert second.error == (
            "another runner goes through this study; wait for it, or forks study stop"
        )
        assert second.content["pid"] == going.pid
        going.signal(signal.SIGINT)
        world.go_on.touch()
        said = going.end()
        assert (said.code, said.content["reason"], said.content["done"]) == (5, "USER", 1)
        assert "stops after this attempt" in said.err
        assert world.states() == {FIRST: "passed", SECOND: "pending"}

    @pytest.mark.rule("R2.1")
    def test_the_verb(self, world: World) -> None:
        """``stop`` does the same; where nobody runs there is nothing to stop."""
        assert ok(world.ask("stop"))["asked"] is False
        going = world.start()
        world.waits_for("StreamTurned")
        told = ok(world.ask("stop"))
        assert (told["asked"], told["at_once"], told["runner"]) == (True, False, going.pid)
        world.go_on.touch()
        assert going.end().content["reason"] == "USER"
        assert world.states() == {FIRST: "passed", SECOND: "pending"}
        assert ok(world.ask("stop"))["asked"] is False

    @pytest.mark.rule("R2.1")
    def test_for_people(self, world: World) -> None:
        """It answers with a sentence: to the first who asks, to the second, and where nobody runs."""

        def told() -> str:
            words = world.words("stop")
            return on_a_terminal(world.run, *words, columns=100).text.strip()

        nothing = "Nothing is running: there is nothing to stop."
        assert told() == nothing
        going = world.start()
        world.waits_for("StreamTurned")
        assert told() == "Asked to stop after this attempt."
        assert told() == "Asked again: ends at once."
        assert going.end().content["reason"] == "USER"
        assert told() == nothing


class TestInTheCheck:
    """A check that was interrupted is made anew on what the agent left."""

    @pytest.mark.rule("E11", "R4.1", "R6.1")
    @pytest.mark.parametrize("how", ["asked twice", "killed"])
    def test_as_if_nothing_had_happened(self, make_world: MakeWorld, how: str) -> None:
        """The diff holds the agent's work alone, and a check that allows no second run passes."""
        world = make_world()
        world.one_arm()
        waits = f"until test -e {world.go_on}; do sleep 0.05; done"
        world.judges("sh", "-c", f"test ! -e made && echo x > made && {waits}")
        world.agent({"steps": [{"tool": "echo agent > agent.txt"}, {"say": "done"}]})
        going = world.scheduled().start()
        made = world.state / "copies" / FIRST / "a1" / "made"
        until(made.exists, BOUND_S)
        if how == "killed":
            going.kill()
        else:
            assert ok(world.ask("stop"))["asked"] is True
            assert ok(world.ask("stop"))["at_once"] is True
            assert going.end().content["reason"] == "USER"
        world.go_on.touch()
        assert world.go().content["reason"] == "DONE"
        (row,) = world.rows()
        assert (row["passed"], row["attempt"], row["check_exit_code"]) == (True, 1, 0)
        diff = (world.state / "trials" / FIRST / "a1.diff").read_text(encoding="utf-8")
        assert "agent.txt" in diff
        assert "made" not in diff
        # Nothing is kept any more for another verdict.
        assert {path.name for path in made.parent.parent.iterdir()} == {"a1"}


class TestNobody:
    """An agent goes on that nobody waits for: its runner is gone."""

    @pytest.mark.rule("E11", "R2.1")
    def test_who_goes_on(self, world: World) -> None:
        """``stop`` names it, ``rows`` counts it, and ``status`` says that it will be adopted."""
        going = world.start()
        world.waits_for("StreamTurned")
        going.kill()
        told = ok(world.ask("stop"))
        assert (told["running"], told["asked"], told["going_on"]) == (False, False, ["j0001"])

        def shown(verb: str) -> str:
            return on_a_terminal(world.run, *world.words(verb), columns=100).text

        assert "j0001 goes on: forks study run adopts it, forks kill ends it." in shown("stop")
        assert shown("rows").strip() == "1 attempt, of which none is over and judged yet."
        assert "it died; forks study run goes on" in shown("status")
        world.go_on.touch()
        world.waits_for("JobEnded")
        assert ok(world.ask("stop"))["going_on"] == []
        assert world.go().content["reason"] == "DONE"

    @pytest.mark.rule("R2.1", "R6.5")
    def test_asked_to_stop(self, world: World) -> None:
        """While it was asked to stop, and when it has, the status says so, and why."""
        going = world.start()
        world.waits_for("StreamTurned")
        ok(world.ask("stop"))
        words = world.words("status")
        shown = on_a_terminal(world.run, *words, columns=100).text
        assert re.search(r"^asked to stop +after this attempt$", shown, re.MULTILINE)
        world.go_on.touch()
        assert going.end().content["reason"] == "USER"
        shown = on_a_terminal(world.run, *words, columns=100).text
        assert re.search(r"^stopped +USER at ", shown, re.MULTILINE)
        assert "asked to stop" not in shown


class TestTwice:
    """Asked twice, it ends the attempt too, which is kept; its trial stays pending."""

    @pytest.mark.rule("E8", "R2.1", "R5.1")
    @pytest.mark.parametrize("ways", [("SIGTERM", "stop"), ("stop", "stop")])
    def test_at_once(self, world: World, ways: tuple[str, str]) -> None:
        """However it is asked; run again, the trial is tried anew, and nothing else is."""
        going = world.start()
        world.waits_for("StreamTurned")
        for way in ways:
            if way == "stop":
                ok(world.ask("stop"))
            else:
                going.signal(getattr(signal, way))
        said = going.end()
        assert (said.code, said.content["reason"], said.content["done"]) == (5, "USER", 0)
        assert world.states() == {FIRST: "retrying", SECOND: "pending"}
        world.nothing_left()
        (row,) = world.rows()
        assert (row["status"], row["final"], row["agent_status"]) == ("aborted", False, "killed")
        assert world.raw(row["job"]).count(b"\n") >= 2
        # No result told what it cost: that is estimated, and the study has spent it.
        assert row["cost_source"] == "estimate"
        assert said.content["spent_usd"] == pytest.approx(row["cost_usd"], abs=1e-6)
        assert row["cost_usd"] > 0.05
        if ways == ("stop", "stop"):
            assert world.go().content["reason"] == "DONE"
            assert world.trials() == [FIRST, FIRST, SECOND]
            assert world.rows("--complete") == world.rows()[1:]

    @pytest.mark.rule("E8", "R5.1")
    def test_what_it_had_done(self, make_world: MakeWorld) -> None:
        """What an attempt had changed when it was broken off is kept, and who ended it is told."""
        world = make_world()
        world.one_arm()
        held = world.held()
        held["steps"].insert(0, {"tool": "echo agent > agent.txt"})
        world.agent(held)
        going = world.scheduled().start()
        until((world.state / "copies" / FIRST / "a1" / "agent.txt").exists, BOUND_S)
        ok(world.ask("stop"))
        ok(world.ask("stop"))
        assert going.end().content["reason"] == "USER"
        (row,) = world.rows()
        assert (row["status"], row["message"]) == ("aborted", "ended by kill")
        kept = (world.state / "trials" / FIRST / "a1.diff").read_bytes()
        assert b"agent.txt" in kept
        assert row["diff"] == {"sha256": hashlib.sha256(kept).hexdigest(), "bytes": len(kept)}

    @pytest.mark.rule("R2.1", "R4.1")
    def test_while_it_is_judged(self, make_world: MakeWorld) -> None:
        """Asked twice while a check goes on, that is ended, and made anew by the next run."""
        world, nap = make_world(), a_nap()
        world.judges("sh", "-c", f"test -e {world.go_on} || exec sleep {nap}")
        going = world.scheduled().start()
        until(lambda: bool(napping(nap)), BOUND_S)
        going.signal(signal.SIGINT)
        going.signal(signal.SIGHUP)
        said = going.end()
        assert (said.code, said.content["reason"], said.content["done"]) == (5, "USER", 0)
        assert napping(nap) == []
        assert world.states() == {FIRST: "judging", SECOND: "pending"}
        world.go_on.touch()
        assert world.go().content["reason"] == "DONE"
        assert world.trials() == [FIRST, SECOND]


class TestCrashes:
    """A runner that is gone has lost nothing: the next one goes on where it was."""

    @pytest.mark.rule("E11")
    def test_adopted(self, world: World) -> None:
        """The agent works on without it, and is adopted: the same job, paid once."""
        first = world.start()
        world.waits_for("StreamTurned")
        first.kill()
        assert world.status()["running"] is False
        assert "it died" in on_a_terminal(world.run, *world.words("status"), columns=100).text
        second = world.start()
        world.waits_for("RunnerStarted", 2)
        assert world.status()["states"] == {"pending": 1, "running": 1}
        world.go_on.touch()
        assert second.end().content["reason"] == "DONE"
        assert world.trials() == [FIRST, SECOND]
        assert len(world.events("JobCreated")) == 2
        assert [row["attempts"] for row in world.rows()] == [1, 1]

    @pytest.mark.rule("E11", "R4.1")
    def test_a_check_is_made_up(self, make_world: MakeWorld) -> None:
        """Killed while a check went on, that one is ended, and the check is made anew."""
        world = make_world()
        world.one_arm()
        begun = world.folder / "begun"
        script = f"echo $$ >> {begun}; test -e {world.go_on} || exec sleep 1000"
        world.judges("sh", "-c", script)
        first = world.scheduled().start()
        until(begun.exists)
        first.kill()
        assert world.states() == {FIRST: "judging"}
        (pid,) = map(int, begun.read_text("utf-8").split())
        os.kill(pid, 0)
        world.go_on.touch()
        assert world.go().content["reason"] == "DONE"
        assert len(begun.read_text("utf-8").split()) == 2
        assert len(world.events("JobCreated")) == 1
        (row,) = world.rows()
        assert (row["attempt"], row["passed"]) == (1, True)
        world.nothing_left()

    @pytest.mark.rule("E11")
    def test_lost(self, make_world: MakeWorld) -> None:
        """An attempt whose supervisor died too is lost, as our own failure, and tried again."""
        world = make_world(timings={"lost_after_s": 0.5})
        world.one_arm()
        world.agent(world.held(), DONE)
        first = world.scheduled().start()
        world.waits_for("StreamTurned")
        job = world.events("JobCreated")[0]["job"]
        first.kill()
        os.kill(world.supervisor(job), signal.SIGKILL)
        second = world.start()
        world.waits_for("PauseBegun")
        second.signal(signal.SIGINT)
        assert second.end().content["reason"] == "USER"
        (row,) = world.rows()
        assert (row["infra_kind"], row["final"], row["agent_status"]) == ("runner", False, "lost")
        # What the agent said has nothing to do with it.
        assert row["message"] == "supervisor_dead"
        world.nothing_left()
