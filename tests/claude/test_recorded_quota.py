"""What the recordings tell of the quota, and what the gate says to it."""

from datetime import UTC, datetime, timedelta

import pytest

from forks_core.claude.stream import parse
from forks_core.reducer.quota import merge
from forks_core.registry import UNREAD, Quota
from forks_core.rules.quota import Action, current, gate
from forks_events.quota import QuotaRead
from tests.claude.lines import JOB, recording
from tests.claude.recorded import MIDDLE, NEW, OLD, lines


def known(version: str, scenario: str) -> Quota:
    """What is known of the quota after a call."""
    quota = UNREAD
    for event in parse(recording(version, scenario), JOB):
        if isinstance(event, QuotaRead):
            quota = merge(quota, event.reading, event.at, event.at)
    return quota


def used(quota: Quota, window: str) -> float | None:
    """How much of a window is used up, as far as it is known."""
    found = quota.windows.get(window)
    return found.utilization if found else None


def reset(version: str, scenario: str) -> datetime:
    """When the window begins anew that the recording names."""
    told = [
        line["rate_limit_info"] for line in lines(version, scenario) if "rate_limit_info" in line
    ]
    return datetime.fromtimestamp(told[-1]["resetsAt"], UTC)


@pytest.mark.rule("R8.1", "A7.2", "A7.3", "A7.4")
class TestRecordings:
    """The table of what the recordings conclude, as far as it is about the quota."""

    @pytest.mark.parametrize(
        ("version", "scenario", "five", "seven", "action"),
        [
            (NEW, "train", 0.42, 0.61, Action.GO),
            (NEW, "quota-warning", 0.42, 0.8, Action.GO),
            (NEW, "quota-over-stop", 0.42, 0.96, Action.STOP),
            (NEW, "rejected-five-hour", 1.0, 0.61, Action.WAIT),
            (NEW, "rejected-seven-day", 0.42, 1.0, Action.STOP),
            (MIDDLE, "train", None, None, Action.GO),
            (MIDDLE, "quota-warning", None, 0.8, Action.GO),
            (MIDDLE, "quota-over-stop", None, 0.96, Action.STOP),
            (MIDDLE, "rejected-five-hour", None, None, Action.WAIT),
            (MIDDLE, "rejected-seven-day", None, None, Action.STOP),
        ],
    )
    def test_told(
        self, version: str, scenario: str, five: float | None, seven: float | None, action: Action
    ) -> None:
        """Both windows of a newer client, the named one of an older, and the gate's answer."""
        quota = known(version, scenario)
        assert (used(quota, "five_hour"), used(quota, "seven_day")) == (five, seven)
        assert gate(quota).action is action

    @pytest.mark.parametrize("version", [NEW, MIDDLE])
    def test_until(self, version: str) -> None:
        """A rejected five-hour window is waited for until its reset, and then it is over."""
        ends = reset(version, "rejected-five-hour")
        quota = known(version, "rejected-five-hour")
        assert gate(quota).wait_until == ends
        assert gate(current(quota, ends - timedelta(seconds=1))).action is Action.WAIT
        assert gate(current(quota, ends + timedelta(seconds=1))).action is Action.GO

    @pytest.mark.parametrize(
        "scenario",
        ["train", "quota-warning", "quota-over-stop", "rejected-five-hour", "rejected-seven-day"],
    )
    def test_none(self, scenario: str) -> None:
        """The oldest client tells nothing of the quota."""
        assert known(OLD, scenario) == UNREAD
