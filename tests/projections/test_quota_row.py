"""An account's quota for people and programs: each window with its age."""

from datetime import timedelta

import pytest
from attrs import evolve
from immutables import Map

from forks_core.projections.quota import gate_row, launch_gate_row, quota_row
from forks_core.registry import UNREAD, KnownWindow
from forks_core.rules.quota import Action, Gate, launch_gate
from tests.rules.test_quota import AHEAD, LATER, NOW, PAST, READ, quota

FLAT = (
    *("status", "type", "five_hour", "seven_day", "five_hour_resets_at", "seven_day_resets_at"),
    *("resets_at", "is_using_overage"),
)


class TestRow:
    """One normalised reading of what is known now, and every window that was ever told."""

    @pytest.mark.rule("R8.1", "A12.1")
    def test_flat(self) -> None:
        """Every key is always there; times are in UTC, shares as they were read."""
        told = quota(
            *(0.42, 0.61),
            five_resets=AHEAD,
            seven_resets=LATER,
            kind="five_hour",
            resets=AHEAD,
            overage=True,
        )
        row = quota_row(told, NOW)
        assert {name: row[name] for name in FLAT} == {
            "status": "allowed",
            "type": "five_hour",
            "five_hour": 0.42,
            "seven_day": 0.61,
            "five_hour_resets_at": "2026-12-01T14:00:00.000000+00:00",
            "seven_day_resets_at": "2026-12-04T12:00:00.000000+00:00",
            "resets_at": "2026-12-01T14:00:00.000000+00:00",
            "is_using_overage": True,
        }
        assert row["read_at"] == "2026-12-01T11:53:00.000000+00:00"
        assert set(row) == {*FLAT, "read_at", "windows"}

    @pytest.mark.rule("A12.4")
    def test_nothing_read(self) -> None:
        """Before any reading all is null, and there is no window."""
        row = quota_row(UNREAD, NOW)
        assert {row[name] for name in (*FLAT[:-1], "read_at")} == {None}
        assert (row["is_using_overage"], row["windows"]) == (False, [])

    @pytest.mark.rule("E5")
    def test_any_window(self) -> None:
        """Windows of any name are kept, in the order of their names, each with its own age."""
        old = KnownWindow(utilization=None, resets_at=None, read_at=NOW - timedelta(days=2))
        told = quota(0.1, 0.2)
        told = evolve(told, windows=told.windows.set("seven_day_opus", old))
        windows = quota_row(told, NOW)["windows"]
        names = [window["window"] for window in windows]
        assert names == ["five_hour", "seven_day", "seven_day_opus"]
        assert [window["age_s"] for window in windows] == [420.0, 420.0, 172_800.0]
        assert windows[2]["utilization"] is None

    @pytest.mark.rule("E9")
    def test_lapsed(self) -> None:
        """A window whose reset is past, or now, is told as lapsed and no longer counts."""
        for ends, lapsed in ((PAST, True), (NOW, True), (AHEAD, False), (None, False)):
            told = quota(0.9, 0.5, five_resets=ends, status="rejected", kind="five_hour")
            row = quota_row(told, NOW)
            assert row["windows"][0]["lapsed"] is lapsed
            assert row["windows"][0]["utilization"] == 0.9, "what was read is still told"
            assert row["five_hour"] == (None if lapsed else 0.9)
            assert row["five_hour_resets_at"] is None or not lapsed
            assert row["status"] == (None if lapsed else "rejected")
            assert row["seven_day"] == 0.5

    def test_age(self) -> None:
        """Seconds since it was read, to a tenth; a clock that was set back makes no age negative."""
        told = quota(0.1)
        assert quota_row(told, READ + timedelta(seconds=1.26))["windows"][0]["age_s"] == 1.3
        assert quota_row(told, READ - timedelta(hours=1))["windows"][0]["age_s"] == 0.0


class TestGates:
    """What may be done, as rows."""

    @pytest.mark.rule("A7.7")
    def test_gate(self) -> None:
        """Every key is always there."""
        assert gate_row(Gate(action=Action.GO, reason="ok")) == {
            "action": "go",
            "reason": "ok",
            "wait_until": None,
        }
        row = gate_row(Gate(action=Action.WAIT, reason="full", wait_until=AHEAD))
        assert row["wait_until"] == "2026-12-01T14:00:00.000000+00:00"

    @pytest.mark.rule("A13.6")
    def test_launch_gate(self) -> None:
        """What is not known is left out: unknown carries action and reason only."""
        assert set(launch_gate_row(launch_gate(UNREAD, NOW))) == {"action", "reason"}
        go = launch_gate_row(launch_gate(quota(seven=0.94), NOW))
        assert set(go) == {"action", "reason", "seven_day", "as_of"}
        gated = launch_gate_row(launch_gate(quota(seven=0.95, seven_resets=AHEAD), NOW))
        assert gated["retry_at"] == "2026-12-01T14:00:00.000000+00:00"
        assert (gated["action"], gated["seven_day"]) == ("gated", 0.95)
        assert "retry_at" not in launch_gate_row(launch_gate(quota(seven=0.96), NOW))

    def test_zero_is_known(self) -> None:
        """A share of nothing is told like any other."""
        told = evolve(quota(seven=0.0), windows=Map(quota(seven=0.0).windows))
        assert launch_gate_row(launch_gate(told, NOW))["seven_day"] == 0.0
