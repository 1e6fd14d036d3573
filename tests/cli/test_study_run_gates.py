"""``study run``: every gate before an attempt, and every wait after one, seen to act."""

import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cli.conftest import MakeWorld
from tests.driver import Said
from tests.log_view import Line
from tests.study_world import DONE, World, between, seconds_until

pytestmark = pytest.mark.long

HOUR = 3600.0


@pytest.fixture
def make(make_world: MakeWorld) -> MakeWorld:
    """Makes studies of one task and one arm."""

    def made(**study: Any) -> World:
        world = make_world(**study)
        world.one_arm()
        return world

    return made


def quota(**told: float) -> Line:
    """What an agent does that hears of its quota."""
    return {"steps": [{"quota": told}, {"say": "done"}], "cache": "miss"}


def ended(said: Said) -> tuple[int, str, int]:
    """How a run ended: its exit code, its reason, and the trials that are done."""
    return said.code, said.content["reason"], said.content["done"]


def paused(world: World, *words: str) -> tuple[Line, Said]:
    """Run it until it pauses, then ask it to end; return the pause, and the answer."""
    going = world.start(*words)
    world.waits_for("PauseBegun")
    going.signal(signal.SIGINT)
    said = going.end()
    assert (said.code, said.content["reason"]) == (5, "USER")
    return world.events("PauseBegun")[-1], said


class TestStops:
    """Gates that end the run."""

    @pytest.mark.rule("R2.2")
    def test_cutoff(self, make: MakeWorld) -> None:
        """What is begun before the cutoff is finished, and judged; then nothing more is begun."""
        cutoff = datetime.now(UTC) + timedelta(seconds=6)
        world = make(phase1_runs=2, cutoff=cutoff.isoformat())
        world.agent({"steps": [{"sleep": 6.0}, {"say": "done"}]})
        said = world.scheduled().go()
        assert ended(said) == (5, "TIME", 1)
        assert world.states()["MB-01-r1-plain"] == "passed"
        assert said.content["retry_at"] is None

    @pytest.mark.rule("R2.2", "R7.1")
    def test_cutoff_in_the_past(self, make: MakeWorld) -> None:
        """The preflight warns of it, and the run stops at once."""
        world = make(cutoff="2026-01-01").scheduled()
        assert ended(world.ask("run")) == (5, "TIME", 0)
        assert world.events("RunnerStarted")[0]["preflight"]["cutoff"] == "warn"
        assert world.trials() == []

    @pytest.mark.rule("R2.3")
    def test_budget(self, make: MakeWorld) -> None:
        """No trial is begun that could spend more than is left."""
        # A trial costs some 0.15 USD: after two of them 0.5 more could pass 0.7.
        world = make(phase1_runs=3, max_budget_usd=0.5, budget_cap_usd=0.7).scheduled()
        said = world.go()
        assert ended(said) == (5, "BUDGET", 2)
        costs = [row["cost_usd"] for row in world.rows()]
        assert all(0.1 < cost <= 0.2 for cost in costs)
        assert said.content["spent_usd"] == pytest.approx(sum(costs))

    @pytest.mark.rule("R2.4", "R7.1")
    def test_disk(self, make: MakeWorld) -> None:
        """Without enough free disk nothing is begun, though the preflight's failure is accepted."""
        world = make(min_free_gb=1e6).scheduled()
        refused = world.ask("run")
        assert (refused.code, refused.content["failed"]) == (2, ["disk"])
        assert ended(world.ask("run", "--accept", "disk")) == (5, "DISK", 0)
        assert world.trials() == []

    @pytest.mark.rule("R2.5", "R8.1")
    def test_seven_day_window(self, make: MakeWorld) -> None:
        """Used up to the stop, the run stops, and says when coming back will do: exit 75."""
        world = make(phase1_runs=2)
        world.agent(
            quota(seven_day=0.93), quota(seven_day=0.95, five_hour=1.0, resets_in_s=HOUR), DONE
        )
        world.says("study", phase1_runs=3)
        said = world.scheduled().go()
        assert ended(said) == (75, "QUOTA", 2)
        assert said.content["detail"] == "seven_day utilization 0.950 >= 0.95"
        assert 0.9 * HOUR < seconds_until(said.content["retry_at"]) <= HOUR
        assert [row["quota_before"].get("seven_day") for row in world.rows()] == [None, 0.93]
        assert [row["quota_after"]["seven_day"] for row in world.rows()] == [0.93, 0.95]

    @pytest.mark.rule("R2.5", "R3.2")
    def test_seven_day_rejection(self, make: MakeWorld) -> None:
        """A trial that the window ended is not final, and no wait is begun for it."""
        world = make()
        world.agent({"steps": [{"reject": {"window": "seven_day", "resets_in_s": HOUR}}]})
        said = world.scheduled().go()
        assert ended(said) == (75, "QUOTA", 0)
        assert 0.9 * HOUR < seconds_until(said.content["retry_at"]) <= HOUR
        assert world.events("PauseBegun") == []
        assert world.states() == {"MB-01-r1-plain": "retrying"}
        (row,) = world.rows()
        assert (row["final"], row["infra_kind"]) == (False, "rate_limit")

    @pytest.mark.rule("E4", "R3.4")
    def test_refused_credential(self, make: MakeWorld) -> None:
        """Refused as often as is allowed, the run stops, and the trial stays pending for the next."""
        world = make(max_attempts={"auth": 1})
        world.agent({"steps": [{"auth": True}]}, DONE)
        assert ended(world.scheduled().go()) == (5, "AUTH", 0)
        assert world.states() == {"MB-01-r1-plain": "retrying"}
        assert ended(world.go()) == (0, "DONE", 1)
        assert [(row["attempt"], row["infra_kind"], row["final"]) for row in world.rows()] == [
            (1, "auth", False),
            (2, None, True),
        ]


class TestWaits:
    """Waits, which are one pause each, and go on where they were."""

    @pytest.mark.rule("R2.6", "E11")
    def test_five_hour_rejection(self, make: MakeWorld) -> None:
        """It waits until 30 s after the reset; interrupted and run again, until the same instant."""
        world = make()
        world.agent({"steps": [{"reject": {"window": "five_hour", "resets_in_s": 2}}]}, DONE)
        pause, _ = paused(world.scheduled())
        (row,) = world.rows()
        assert (pause["wait"], pause["trial_id"], pause["attempt"]) == (
            *("rate_limit", row["trial_id"], 1),
        )
        assert between(row["resets_at"], pause["until"]) == pytest.approx(30)
        assert 29 < pause["planned_s"] < 32
        assert world.status()["waits"]["until"] == pause["until"]
        going = world.start()
        world.waits_for("RunnerStarted", 2)
        going.signal(signal.SIGINT)
        assert ended(going.end()) == (5, "USER", 0)
        # No other pause was begun, and this one was not ended: it stands.
        assert world.events("PauseBegun") == [pause]
        assert world.events("PauseEnded") == []
        assert world.trials() == ["MB-01-r1-plain"]

    @pytest.mark.rule("R2.6")
    def test_full_five_hour_window(self, make: MakeWorld) -> None:
        """A window that is full after a good trial is waited for, before the next one."""
        world = make(phase1_runs=2)
        world.agent(quota(five_hour=1.0, seven_day=0.5, resets_in_s=100))
        pause, said = paused(world.scheduled())
        assert (pause["wait"], pause["trial_id"]) == ("quota", None)
        assert 120 < pause["planned_s"] <= 131
        assert said.content["done"] == 1
        assert f"waits for quota until {pause['until'][11:13]}" in said.err

    @pytest.mark.rule("R2.6")
    def test_no_wait_past_the_cutoff(self, make: MakeWorld) -> None:
        """A wait that would pass the cutoff is not begun: the run stops for its time."""
        cutoff = datetime.now(UTC) + timedelta(seconds=HOUR)
        world = make(phase1_runs=2, cutoff=cutoff.isoformat())
        world.agent(quota(five_hour=1.0, seven_day=0.5, resets_in_s=2 * HOUR))
        said = world.scheduled().go()
        assert ended(said) == (5, "TIME", 1)
        assert world.events("PauseBegun") == []

    @pytest.mark.parametrize(
        ("does", "wait", "planned_s", "kind"),
        [
            ({"overloaded": 1}, "overloaded", 60, "overloaded"),
            ({"auth": True}, "auth", 30, "auth"),
        ],
    )
    def test_before_a_retry(
        self, make: MakeWorld, does: Line, wait: str, planned_s: float, kind: str
    ) -> None:
        """An overloaded service is tried again after a minute, a credential after half of one."""
        world = make()
        world.agent({"steps": [does]}, DONE)
        pause, _ = paused(world.scheduled())
        assert (pause["wait"], pause["attempt"]) == (wait, 1)
        assert planned_s - 2 < pause["planned_s"] <= planned_s
        (row,) = world.rows()
        assert between(row["ended_at"], pause["until"]) == pytest.approx(planned_s)
        assert (row["infra_kind"], row["final"], row["excluded"]) == (kind, False, True)

    @pytest.mark.rule("E8", "R3.5", "R5.1", "R9.1")
    def test_a_crash_is_tried_once_more(self, make: MakeWorld) -> None:
        """After 5 s, really waited; the second is final and excluded, and both are kept."""
        world = make()
        world.agent({"steps": [{"crash": {"code": 139, "stderr": "m" * 400}}], "init": False})
        assert ended(world.scheduled().go()) == (0, "DONE", 1)
        (begun,), (over,) = world.events("PauseBegun"), world.events("PauseEnded")
        assert (begun["wait"], over["real_s"]) == ("other", pytest.approx(5, abs=0.5))
        assert world.states() == {"MB-01-r1-plain": "excluded"}
        first, last = world.rows()
        assert (first["final"], last["final"], last["reason"]) == (
            *(False, True, "infra_failure:client_crash"),
        )
        assert (last["passed"], last["message"]) == (False, "m" * 300)
        # It is final, so its block is complete; but only what counts is told then.
        assert world.rows("--complete") == [last]
        assert world.log_file.read_bytes().count(b'"TrialBegun"') == 2


class TestNoRetry:
    """What the agent is to blame for is final at once."""

    @pytest.mark.rule("R3.6", "R3.7")
    def test_final(self, make_world: MakeWorld) -> None:
        """Out of turns, money or time: judged by its work, never tried again, and not excluded."""
        world = make_world("MB-01", "MB-02", "MB-03", max_budget_usd=0.5)
        world.one_arm()
        world.says("launch", max_turns=2)
        world.agent({"steps": [{"tool": "true"}, {"tool": "true"}, {"say": "more"}]})
        world.agent({"steps": [{"budget": 0.01}]}, task="MB-02")
        world.agent({"steps": [{"say": "a"}, {"sleep": 20}]}, task="MB-03")
        world.says("task", 2, timeout_s=1)
        assert ended(world.scheduled().go()) == (0, "DONE", 3)
        rows = world.rows()
        assert [row["status"] for row in rows] == ["max_turns", "max_budget", "timeout"]
        assert [(row["passed"], row["excluded"], row["final"]) for row in rows] == [
            (True, False, True)
        ] * 3
        world.nothing_left()
