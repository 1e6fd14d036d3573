"""``quota``: what is known of an account's windows, how old that is, and when they reset."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.driver import Run, ok
from tests.study_driver import init_paying, reading, tell


def test_nothing_read(run: Run) -> None:
    """Before any reading all is null, there is no account, and trials may go."""
    said = ok(run.ask_words("quota"))
    assert (said["accounts"], said["windows"], said["read_at"]) == ([], [], None)
    assert said["gate"] == {"action": "go", "reason": "no quota data yet", "wait_until": None}


@pytest.mark.rule("A12.1", "A12.2")
def test_windows(run: Run) -> None:
    """Each window with its age and its reset; one whose reset is past has lapsed."""
    now = datetime.now(UTC).replace(microsecond=0)
    earlier = now - timedelta(minutes=10)
    tell(run, reading(earlier, five=0.9, five_in_s=300, seven=0.5, seven_in_s=90_000))
    tell(run, reading(now, seven=0.6, seven_in_s=90_000))
    said = ok(run.ask_words("quota"))
    five, seven = said["windows"]
    assert (five["window"], five["lapsed"], five["utilization"]) == ("five_hour", True, 0.9)
    assert 600 <= five["age_s"] < 660
    assert (seven["window"], seven["lapsed"], seven["utilization"]) == ("seven_day", False, 0.6)
    assert 0 <= seven["age_s"] < 60
    assert (said["five_hour"], said["seven_day"]) == (None, 0.6)
    assert said["gate"]["action"] == "go"
    assert datetime.fromisoformat(said["read_at"]) == now


def test_gate(run: Run) -> None:
    """It says what the quota permits for a trial, and until when to wait."""
    now = datetime.now(UTC).replace(microsecond=0)
    tell(run, reading(now, five=1.0, five_in_s=600, status="rejected", kind="five_hour"))
    gate = ok(run.ask_words("quota"))["gate"]
    assert (gate["action"], gate["reason"]) == ("wait", "five_hour window rejected")
    assert datetime.fromisoformat(gate["wait_until"]) == now + timedelta(seconds=600)
    tell(run, reading(now, seven=0.95))
    assert ok(run.ask_words("quota"))["gate"]["action"] == "stop"


@pytest.mark.rule("A12.1")
def test_from_a_client(run: Run) -> None:
    """What a real run's client was told, as its own account."""
    init_paying(run, "--account", "team")
    run.end_of(run.train({"reject": {"window": "five_hour", "resets_in_s": 1800}}))
    ok(run.ask("list"))
    said = run.call("quota", "--account", "team")
    assert (said.code, said.err) == (0, "")
    assert (said.content["account"], said.content["accounts"]) == ("team", ["team"])
    assert (said.content["status"], said.content["type"]) == ("rejected", "five_hour")
    assert (said.content["five_hour"], said.content["gate"]["action"]) == (1.0, "wait")
    other = ok(run.ask_words("quota"))
    assert (other["account"], other["accounts"], other["windows"]) == ("default", ["team"], [])
