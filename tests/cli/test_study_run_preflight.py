"""``study preflight``, and what of it keeps ``study run`` from beginning."""

import shutil
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cli.conftest import MakeWorld
from tests.cli.terminal import on_a_terminal
from tests.driver import ok, one_object
from tests.processes import until
from tests.study_driver import Account, reading, tell
from tests.study_world import BOUND_S, DONE, World

pytestmark = pytest.mark.long

HOUR = 3600.0


def looks(content: dict[str, Any]) -> dict[str, str]:
    """What each look came to."""
    return {look["name"]: look["found"] for look in content["looks"]}


def used_up(world: World) -> None:
    """Let the account hear that its seven-day window is used up."""
    now = datetime.now(UTC).replace(microsecond=0)
    tell(world.run, reading(now, seven=0.97, seven_in_s=HOUR, seen_at=now - timedelta(seconds=9)))


@pytest.fixture
def gated(make_world: MakeWorld) -> World:
    """A study of one trial, of an account whose seven-day window is used up."""
    world = make_world()
    world.one_arm()
    used_up(world)
    return world.scheduled()


class TestPreflight:
    """``study preflight`` looks at everything, and begins nothing."""

    @pytest.mark.rule("R7.1")
    def test_what_is_looked_at(self, make_world: MakeWorld) -> None:
        """Client, file, disk, git, cutoff, each arm by what its client reports, pins, quota."""
        world = make_world()
        world.says("arm", 1, tools=["Bash", "Read"])
        world.has(pins={"client_version": "2.1.332", "with-skill.permissionMode": "dontAsk"})
        before = world.scheduled().log_file.read_bytes()
        content = ok(world.ask("preflight"))
        assert looks(content) == dict.fromkeys(
            ("study", "client", "disk", "copies", "cutoff", "check:MB-01", "arm:plain"), "pass"
        ) | {
            "arm:with-skill": "pass",
            "git": "warn",
            "pin:client_version": "pass",
            "pin:with-skill.permissionMode": "pass",
            "quota": "warn",
        }
        assert content["arms"]["plain"]["claude_code_version"] == "2.1.332"
        ((name, values),) = content["differences"].items()
        assert (name, set(values)) == ("tools", {"plain", "with-skill"})
        assert values["with-skill"] == ["Bash", "Read"] != values["plain"]
        assert (content["gate"]["action"], content["failed"]) == ("unknown", [])
        # It made no trial, and left nothing behind.
        assert world.log_file.read_bytes() == before
        world.nothing_left()
        assert list(world.run.temporary.iterdir()) == []
        shown = on_a_terminal(world.run, *world.words("preflight"), columns=100)
        assert shown.code == 0
        assert "arms report another tools" in shown.text
        assert "Nothing is in the way." in shown.text

    @pytest.mark.rule("R7.1")
    @pytest.mark.parametrize(
        ("program", "found"),
        [
            ("true", "pass"),
            ("/bin/true", "pass"),
            ("./good", "pass"),
            ("below/good", "pass"),
            ("no-such-program", "fail"),
            ("good", "fail"),
            ("/bin/no-such-program", "fail"),
            ("./none", "fail"),
            ("./code.py", "fail"),
            ("./below", "fail"),
        ],
    )
    def test_checks(self, make_world: MakeWorld, program: str, found: str) -> None:
        """A check's program is on PATH; with a slash in it, it can be run in the task's folder."""
        world = make_world()
        world.one_arm()
        world.judges(program)
        place = world.workdir("MB-01")
        (place / "below").mkdir()
        for good in (place / "good", place / "below" / "good"):
            good.write_text("#!/bin/sh\n", encoding="utf-8")
            good.chmod(0o755)
        said = world.scheduled().ask("preflight")
        assert looks(said.content)["check:MB-01"] == found
        assert said.content["failed"] == (["check:MB-01"] if found == "fail" else [])

    @pytest.mark.rule("R7.1")
    def test_a_check_without_a_folder(self, make_world: MakeWorld) -> None:
        """Where a task has no folder no program lies in it, wherever the preflight is run."""
        world = make_world()
        world.one_arm()
        world.judges("./good")
        world.says("task", 0, workdir=None)
        assert world.scheduled().ask("preflight").content["failed"] == ["check:MB-01"]

    @pytest.mark.rule("R7.1")
    def test_working_copies(self, make_world: MakeWorld) -> None:
        """One that lies where an attempt's shall be made must be as it would be made."""
        world = make_world().scheduled()
        copy = world.state / "copies" / "MB-01-r1-plain" / "a1"
        shutil.copytree(world.workdir("MB-01"), copy)
        (world.state / "copies" / "mine" / "a1").mkdir(parents=True)
        assert looks(world.ask("preflight").content)["copies"] == "pass"
        (copy / "junk").touch()
        refused = world.ask("run")
        assert (refused.code, refused.content["failed"]) == (2, ["copies"])
        (copy / "junk").unlink()
        assert world.go().content["reason"] == "DONE"
        told = world.ask("preflight").content["looks"]
        assert [look["detail"] for look in told if look["name"] == "copies"] == ["2 kept"]

    @pytest.mark.rule("R7.1")
    def test_git(self, make_world: MakeWorld) -> None:
        """Whatever of the study is not committed is a warning; what a run writes is none of it."""
        world = make_world()
        git = ("git", "-C", str(world.folder))
        who = ("-c", "user.name=test", "-c", "user.email=test@localhost")

        def told() -> str:
            found = world.ask("preflight").content["looks"]
            (look,) = (one for one in found if one["name"] == "git")
            return f"{look['found']}: {look['detail']}"

        subprocess.run([*git, "init", "--quiet"], check=True)
        world.scheduled()
        assert told().startswith("warn: not committed: ")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, *who, "commit", "--quiet", "--message", "Begin"], check=True)
        assert told().startswith("pass: HEAD ")
        (world.workdir("MB-01") / "more.txt").touch()
        assert told().endswith("more.txt")

    def test_two_at_once(self, make_world: MakeWorld) -> None:
        """Two that look at the same time do not end each other's clients."""
        world = make_world().scheduled()
        both = [world.run.start(*world.words("preflight")) for _ in range(2)]
        said = [one_object(process.communicate(timeout=60)[0]) for process in both]
        assert [content["failed"] for content in said] == [[], []]

    @pytest.mark.rule("R7.1")
    def test_a_mute_client(self, make_world: MakeWorld) -> None:
        """An arm whose client does not introduce itself fails, with what that said."""
        world = make_world()
        script = world.folder / "script.json"
        script.write_text('{"steps": [{"stderr": "no licence"}, {"crash": 3}], "init": false}')
        world.scheduled().run.env["FORKS_STANDIN_SCRIPT"] = str(script)
        said = world.ask("preflight")
        assert (said.code, said.content["failed"]) == (1, ["arm:plain", "arm:with-skill"])
        (detail,) = {
            look["detail"] for look in said.content["looks"] if look["name"].startswith("arm:")
        }
        assert detail == "no licence"


class TestRefused:
    """A run that does not begin."""

    @pytest.mark.rule("R7.1")
    def test_pins(self, make_world: MakeWorld) -> None:
        """What is not as it was pinned refuses with exit 7, unless it is accepted by name."""
        world = make_world(cutoff="2026-01-01", min_free_gb=1e6)
        world.has(pins={"client_version": "2.0.0", "no_such_thing": "1"})
        refused = world.scheduled().ask("run")
        (cutoff,) = (one for one in refused.content["looks"] if one["name"] == "cutoff")
        assert cutoff["detail"] == "past: 2026-01-01T00:00:00.000000+00:00"
        # Pins are told by their names, in one order.
        failed = ["disk", "pin:client_version", "pin:no_such_thing"]
        assert (refused.code, refused.content["failed"]) == (7, failed)
        assert refused.content["error"] == "the preflight failed"
        (detail,) = {
            look["detail"]
            for look in refused.content["looks"]
            if look["name"] == "pin:client_version"
        }
        assert detail == "2.1.332, not 2.0.0"
        still = world.ask("run", "--accept", "pin:client_version", "pin:no_such_thing")
        assert (still.code, still.content["failed"]) == (2, ["disk"])
        assert world.events("RunnerStarted") == []
        said = world.ask("run", "--accept", *failed)
        assert (said.code, said.content["reason"]) == (5, "TIME")
        (started,) = world.events("RunnerStarted")
        assert started["accepted"] == failed
        assert started["preflight"]["pin:client_version"] == "fail"

    @pytest.mark.rule("R7.1")
    def test_accepted_by_no_name(self, make_world: MakeWorld) -> None:
        """A name that nothing has is refused with those that there are, and nothing is begun."""
        world = make_world().scheduled()
        refused = world.ask("run", "--accept", "disk", "pins", "check:MB-1")
        assert (refused.code, refused.error) == (2, "nothing of that name was looked at")
        assert refused.content["accept"] == ["pins", "check:MB-1"]
        assert refused.content["names"] == list(looks(world.ask("preflight").content))
        assert world.events("RunnerStarted") == []

    @pytest.mark.rule("R7.2")
    def test_gated(self, gated: World) -> None:
        """By the account's latest reading: exit 75 and when to come back; accepted, it runs."""
        told = gated.ask("preflight")
        assert (told.code, told.content["failed"]) == (1, ["quota"])
        refused = gated.ask("run")
        assert (refused.code, refused.content["failed"]) == (75, ["quota"])
        retry_at = datetime.fromisoformat(refused.content["retry_at"])
        assert timedelta() < retry_at - datetime.now(UTC) <= timedelta(hours=1)
        assert gated.events("RunnerStarted") == []
        shown = on_a_terminal(gated.run, *gated.words("run"), columns=100)
        assert shown.code == 75
        *_, failed, come_back = shown.text.splitlines()
        assert (failed, come_back[:13]) == ("Failed: quota", "come back at ")
        said = gated.go("--accept", "quota")
        assert (said.code, said.content["reason"]) == (0, "DONE")

    @pytest.mark.rule("E11", "R6.1", "R7.2")
    def test_gated_meanwhile(self, make_world: MakeWorld) -> None:
        """What was paid is judged, and nothing more begun: 75; what is done is done, whatever comes."""
        world = make_world()
        world.one_arm()
        world.says("study", phase1_runs=2)
        world.agent(world.held(), DONE)
        going = world.scheduled().start()
        world.waits_for("StreamTurned")
        going.kill()
        used_up(world)
        world.go_on.touch()
        said = world.go()
        assert (said.code, said.content["reason"], said.content["done"]) == (75, "QUOTA", 1)
        assert "seven_day utilization 0.970 >= 0.95" in said.content["detail"]
        assert datetime.fromisoformat(said.content["retry_at"]) > datetime.now(UTC)
        assert world.events("RunnerStarted")[-1]["preflight"]["quota"] == "fail"
        assert world.trials() == ["MB-01-r1-plain"]
        assert world.ask("run").content["failed"] == ["quota"]
        assert world.go("--accept", "quota").content["reason"] == "DONE"
        said = world.go()
        assert (said.code, said.content["reason"]) == (0, "DONE")

    @pytest.mark.rule("E11", "R6.1")
    def test_the_cutoff_meanwhile(self, make_world: MakeWorld) -> None:
        """An attempt that was begun before it is judged behind it."""
        world = make_world(cutoff=(datetime.now(UTC) + timedelta(seconds=10)).isoformat())
        world.one_arm()
        world.agent(world.held())
        going = world.scheduled().start()
        world.waits_for("StreamTurned")
        going.kill()
        until(lambda: looks(world.ask("preflight").content)["cutoff"] == "warn", BOUND_S)
        world.go_on.touch()
        said = world.go()
        assert (said.code, said.content["reason"], said.content["done"]) == (0, "DONE", 1)

    @pytest.mark.rule("R2.6", "R6.1")
    def test_a_wait_goes_on(self, make_world: MakeWorld) -> None:
        """A run that waits for a window goes on waiting, though the account knows of its refusal."""
        world = make_world()
        world.one_arm()
        world.agent({"steps": [{"reject": {"window": "five_hour", "resets_in_s": HOUR}}]})
        going = world.scheduled().start()
        world.waits_for("PauseBegun")
        going.kill()
        now = datetime.now(UTC).replace(microsecond=0)
        tell(world.run, reading(now, five=1.0, five_in_s=HOUR, status="rejected", kind="five_hour"))
        assert looks(world.ask("preflight").content)["quota"] == "fail"
        going = world.start()
        world.waits_for("RunnerStarted", 2)
        going.signal(signal.SIGINT)
        assert going.end().content["reason"] == "USER"
        assert len(world.events("PauseBegun")) == 1
        assert world.events("PauseEnded") == []

    @pytest.mark.rule("R7.1")
    def test_an_untrained_base(self, make_world: MakeWorld) -> None:
        """An arm that forks a base needs it trained; the failure names it."""
        world = make_world()
        world.says("arm", 1, base="trained")
        refused = world.scheduled().ask("run")
        assert (refused.code, refused.content["failed"]) == (2, ["base:trained"])
        accepted = world.ask("run", "--arm", "with-skill", "--accept", "base:trained")
        assert accepted.code == 2
        assert accepted.content["arm"] == "with-skill"
        assert world.trials() == []

    @pytest.mark.parametrize(
        ("words", "error"),
        [(("--task", "MB-99"), "unknown task"), (("--arm", "none"), "unknown arm")],
    )
    def test_no_such_part(self, make_world: MakeWorld, words: tuple[str, ...], error: str) -> None:
        """A task or an arm that is not in the study is refused, before anything is looked at."""
        world = make_world().scheduled()
        assert world.ask("run", *words).error == error


class TestSmoke:
    """``--smoke``: one run of each arm at one task, which never counts."""

    @pytest.mark.rule("E10", "R6.3", "R9.1")
    def test_smoke(self, make_world: MakeWorld) -> None:
        """Its ids tell, its costs are booked, it can be repeated, and the study is as pending."""
        world = make_world("MB-01", "MB-02", phase1_runs=2)
        ok(world.schedule())
        account = Account(world.run)
        said = world.go("--smoke")
        assert (said.code, said.content["reason"]) == (0, "DONE")
        assert (said.content["done"], said.content["trials"]) == (0, 8)
        ids = ["SMOKE-MB-01-r1-plain", "SMOKE-MB-01-r1-with-skill"]
        assert world.trials() == ids
        rows = world.rows()
        assert [(row["trial_id"], row["smoke"], row["final"]) for row in rows] == [
            (name, True, True) for name in ids
        ]
        assert not any(row["block_incomplete"] for row in rows)
        assert world.rows("--complete") == []
        assert set(world.states().values()) == {"pending"}
        booked = [spend["cost_usd"] for spend in account.booked()]
        assert said.content["spent_usd"] == pytest.approx(sum(booked))
        assert len(booked) == 2
        assert len(account.readings()) == 2
        assert world.go("--smoke", "--arm", "plain", "--task", "MB-02").code == 0
        assert world.trials() == [*ids, "SMOKE-MB-02-r1-plain"]
