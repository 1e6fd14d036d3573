"""Whether a study may be launched, of what was last read, however long ago."""

from datetime import datetime, timedelta

import pytest
from attrs import evolve
from hypothesis import given, settings

from forks_core.registry import UNREAD, Quota
from forks_core.rules.quota import Launching, current, gate, launch_gate
from forks_events.study import Overage
from tests.projections.builders import reached
from tests.rules.test_quota import AHEAD, LATER, NOW, PAST, QUOTAS, READ, quota


class TestUnknown:
    """Where nothing is known the preflight probes."""

    @pytest.mark.rule("A13.1", "A13.6")
    @pytest.mark.parametrize(
        "told",
        [
            UNREAD,
            quota(0.3),
            quota(None, None, seven_resets=AHEAD),
            quota(1.0, status="rejected", kind="five_hour"),
            quota(1.0, status="rejected", kind="five_hour", resets=PAST),
            quota(1.0, status="allowed_warning", kind="five_hour", resets=AHEAD),
        ],
    )
    def test_nothing_read(self, told: Quota) -> None:
        """Without a reading of the seven-day window it is unknown, and says what comes next."""
        answer = launch_gate(told, NOW)
        assert answer.action is Launching.UNKNOWN
        assert "on file" in answer.reason
        assert "probe" in answer.reason
        assert (answer.seven_day, answer.as_of, answer.retry_at) == (None, None, None)

    @pytest.mark.rule("A13.2", "A13.4", "A13.6")
    @pytest.mark.parametrize("seven", [0.0, 0.5, 0.94, 0.97, 1.0])
    @pytest.mark.parametrize("status", [None, "allowed", "allowed_warning"])
    def test_window_over(self, seven: float, status: str | None) -> None:
        """A window that is over says nothing, neither go nor gated, whatever was read of it."""
        answer = launch_gate(quota(seven=seven, seven_resets=PAST, status=status), NOW)
        assert answer.action is Launching.UNKNOWN
        assert "reset" in answer.reason
        assert (answer.seven_day, answer.as_of, answer.retry_at) == (None, None, None)

    @pytest.mark.rule("A13.2")
    def test_over_is_strict(self) -> None:
        """At its reset a window is not over yet."""
        for seven, expected in ((0.5, Launching.GO), (0.97, Launching.GATED)):
            told = quota(seven=seven, seven_resets=NOW)
            assert launch_gate(told, NOW).action is expected
            moment = timedelta(microseconds=1)
            assert launch_gate(told, NOW + moment).action is Launching.UNKNOWN

    @pytest.mark.rule("A13.2")
    def test_whose_reset(self) -> None:
        """The window's own reset counts; where it has none, the one that was told."""
        assert launch_gate(quota(seven=0.5, resets=PAST), NOW).action is Launching.UNKNOWN
        told = quota(seven=0.97, seven_resets=AHEAD, resets=PAST)
        assert launch_gate(told, NOW).action is Launching.GATED


class TestGated:
    """A window that is used up gates, until it is over."""

    @pytest.mark.rule("A13.3", "A13.5", "A13.6", "A12.5")
    @pytest.mark.parametrize(
        ("seven", "resets", "ends"),
        [
            (0.95, AHEAD, f"{AHEAD:%Y-%m-%d %H:%M}"),
            (0.96, None, "unknown"),
            (1.0, LATER, f"{LATER:%Y-%m-%d %H:%M}"),
        ],
    )
    def test_told(self, seven: float, resets: datetime | None, ends: str) -> None:
        """It says how much, as of when, and when the window begins anew."""
        answer = launch_gate(quota(seven=seven, seven_resets=resets), NOW)
        assert answer.action is Launching.GATED
        assert (answer.seven_day, answer.as_of, answer.retry_at) == (seven, READ, resets)
        assert ">= 0.95" in answer.reason
        assert READ.isoformat() in answer.reason
        assert f"resets {ends}" in answer.reason
        assert answer.reason.startswith(f"seven_day utilization {seven:.3f} >= ")

    @pytest.mark.rule("A13.3")
    def test_own_share(self) -> None:
        """A study may stop at another share, inclusively."""
        told = quota(seven=0.8, seven_resets=AHEAD)
        assert launch_gate(told, NOW, stop=0.8).action is Launching.GATED
        assert ">= 0.8" in launch_gate(told, NOW, stop=0.8).reason
        assert launch_gate(told, NOW, stop=0.81).action is Launching.GO

    @pytest.mark.rule("A13.2", "E9")
    def test_rejected_is_never_over(self) -> None:
        """0.97, rejected, its reset past: gated."""
        told = quota(
            seven=0.97, seven_resets=PAST, status="rejected", kind="seven_day", resets=PAST
        )
        answer = launch_gate(told, NOW)
        assert (answer.action, answer.seven_day) == (Launching.GATED, 0.97)

    @pytest.mark.rule("E9")
    @pytest.mark.parametrize("kind", ["five_hour", "seven_day", "overage", None])
    def test_rejected_and_low(self, kind: str | None) -> None:
        """A rejection whose window has not begun anew gates, also when seven_day is low."""
        told = quota(seven=0.5, seven_resets=LATER, status="rejected", kind=kind, resets=AHEAD)
        answer = launch_gate(told, NOW)
        assert (answer.action, answer.retry_at) == (Launching.GATED, AHEAD)
        assert f"({kind})" in answer.reason

    @pytest.mark.rule("E9")
    @pytest.mark.parametrize("kind", ["five_hour", "seven_day", "overage", None])
    def test_rejected_and_no_seven_day(self, kind: str | None) -> None:
        """So it is where nothing was told of the seven-day window, as by older clients."""
        told = quota(status="rejected", kind=kind, resets=AHEAD)
        answer = launch_gate(told, NOW)
        assert (answer.action, answer.retry_at) == (Launching.GATED, AHEAD)
        assert (answer.seven_day, answer.as_of) == (None, None)
        assert launch_gate(told, AHEAD).action is Launching.UNKNOWN

    @pytest.mark.rule("E5", "E9")
    def test_rejected_and_paid(self) -> None:
        """A rejection under overage that may be paid gates nothing."""
        for seven, expected in ((None, Launching.UNKNOWN), (0.5, Launching.GO)):
            told = quota(seven=seven, status="rejected", kind="five_hour", resets=AHEAD)
            paying = evolve(told, is_using_overage=True)
            assert launch_gate(paying, NOW, overage=Overage.GO).action is expected
            assert launch_gate(paying, NOW).action is Launching.GATED

    @pytest.mark.rule("E9")
    def test_rejected_and_nobody_knows_until_when(self) -> None:
        """A rejection without any reset has not ended as far as anybody knows."""
        told = quota(0.5, 0.5, seven_resets=LATER, status="rejected", kind="five_hour")
        answer = launch_gate(told, NOW)
        assert (answer.action, answer.retry_at) == (Launching.GATED, None)
        assert "unknown" in answer.reason


class TestGo:
    """Everything else goes."""

    @pytest.mark.rule("A13.5", "A13.6")
    @pytest.mark.parametrize("resets", [None, AHEAD])
    def test_low(self, resets: datetime | None) -> None:
        """0.94 goes, and says as of when."""
        answer = launch_gate(quota(seven=0.94, seven_resets=resets), NOW)
        assert (answer.action, answer.seven_day, answer.as_of) == (Launching.GO, 0.94, READ)
        assert answer.reason
        assert answer.retry_at is None

    @pytest.mark.rule("E9", "A13.5")
    def test_rejected_and_reset(self) -> None:
        """0.50, rejected, its reset past: go."""
        told = quota(seven=0.5, seven_resets=PAST, status="rejected", kind="seven_day", resets=PAST)
        assert launch_gate(told, NOW).action is Launching.GO


class TestLaws:
    """What holds of any quota."""

    @pytest.mark.rule("A13.4")
    @settings(deadline=None)
    @given(QUOTAS)
    def test_law_no_go_for_a_window_that_is_over(self, told: Quota) -> None:
        """A stale window never says go."""
        window = told.windows.get("seven_day")
        resets = (window.resets_at if window else None) or told.resets_at
        over = resets is not None and resets < NOW and told.status != "rejected"
        assert not over or launch_gate(told, NOW).action is Launching.UNKNOWN

    @pytest.mark.rule("A13.6")
    @settings(deadline=None)
    @given(QUOTAS)
    def test_law_what_is_told(self, told: Quota) -> None:
        """Unknown tells a reason and nothing else; the others tell the share, and its age, if known."""
        answer = launch_gate(told, NOW)
        assert answer.reason
        window = told.windows.get("seven_day")
        known = window is not None and window.utilization is not None
        tells = answer.action is not Launching.UNKNOWN and known
        assert (answer.seven_day is not None) is (answer.as_of is not None) is tells
        assert known or answer.action is not Launching.GO
        assert answer.retry_at is None or answer.action is Launching.GATED

    @pytest.mark.rule("E9")
    @settings(deadline=None)
    @given(QUOTAS)
    def test_law_go_is_no_stop(self, told: Quota) -> None:
        """What may be launched is not stopped at its first trial."""
        if launch_gate(told, NOW).action is Launching.GO:
            assert gate(current(told, NOW)).action.value != "stop"

    @pytest.mark.parametrize("action", list(Launching))
    def test_reachability(self, action: Launching) -> None:
        """Each answer is among those of the drawn quotas, with and without a rejection."""
        assert reached(QUOTAS, lambda told: launch_gate(told, NOW).action is action)
        assert reached(
            QUOTAS,
            lambda told: (
                launch_gate(told, NOW).action is Launching.GATED
                and launch_gate(evolve(told, status=None), NOW).action is Launching.GO
            ),
        )
