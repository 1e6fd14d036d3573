"""What the quota permits: for the next trial, and for the launch of a whole study."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.registry import UNREAD, KnownWindow, Quota
from forks_core.rules import quota as rules
from forks_core.rules.quota import Action, Gate, Launching, current, gate, launch_gate
from forks_events.study import Overage
from tests.projections.builders import reached

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
AHEAD, PAST = NOW + timedelta(hours=2), NOW - timedelta(seconds=5)
LATER = NOW + timedelta(days=3)
READ = NOW - timedelta(minutes=7)


def quota(
    five: float | None = None,
    seven: float | None = None,
    *,
    five_resets: datetime | None = None,
    seven_resets: datetime | None = None,
    status: str | None = "allowed",
    kind: str | None = None,
    resets: datetime | None = None,
    overage: bool = False,
) -> Quota:
    """A quota of which that much is known; a window of which nothing is told is not there."""
    told = {"five_hour": (five, five_resets), "seven_day": (seven, seven_resets)}
    windows = {
        name: KnownWindow(utilization=used, resets_at=ends, read_at=READ)
        for name, (used, ends) in told.items()
        if used is not None or ends is not None
    }
    return Quota(
        windows=Map(windows),
        status=status,
        type=kind,
        resets_at=resets,
        is_using_overage=overage,
        read_at=READ,
    )


USED = st.sampled_from([None, 0.0, 0.5, 0.949, 0.95, 0.96, 0.99, 1.0, 1.2])
TIMES = st.sampled_from([None, PAST, NOW, AHEAD, LATER])
QUOTAS = st.builds(
    quota,
    USED,
    USED,
    five_resets=TIMES,
    seven_resets=TIMES,
    status=st.sampled_from([None, "allowed", "allowed_warning", "rejected", "novel"]),
    kind=st.sampled_from([None, "five_hour", "seven_day", "seven_day_opus", "overage"]),
    resets=TIMES,
    overage=st.booleans(),
)
STOPS = st.sampled_from([0.5, 0.95, 1.0])
OVERAGES = st.sampled_from(list(Overage))


class TestConstants:
    """The shares at which something happens."""

    @pytest.mark.rule("A1.1", "A1.8")
    def test_told(self) -> None:
        """The seven-day window stops at 0.95, and the five-hour window is full at 1.0."""
        assert rules.SEVEN_DAY_STOP == 0.95
        assert rules.FIVE_HOUR_FULL == 1.0
        assert gate(quota(seven=0.95)).action is Action.STOP
        assert launch_gate(quota(seven=0.95), NOW).action is Launching.GATED
        assert gate(quota(five=1.0)).action is Action.WAIT


class TestGate:
    """Before each trial, the first rule that holds decides."""

    @pytest.mark.rule("A7.1")
    def test_nothing_known(self) -> None:
        """No reading is no reason to wait."""
        assert gate(UNREAD) == Gate(action=Action.GO, reason="no quota data yet")

    @pytest.mark.rule("A7.2", "A7.7")
    @pytest.mark.parametrize(
        ("seven", "stop", "reason"),
        [
            (0.95, 0.95, "seven_day utilization 0.950 >= 0.95"),
            (0.96, 0.95, "seven_day utilization 0.960 >= 0.95"),
            (1.0, 0.95, "seven_day utilization 1.000 >= 0.95"),
            (0.8, 0.8, "seven_day utilization 0.800 >= 0.8"),
            (0.949, 0.95, None),
            (0.96, 0.97, None),
            (0.0, 0.95, None),
        ],
    )
    def test_seven_day(self, seven: float, stop: float, reason: str | None) -> None:
        """Its share is compared inclusively: 0.95 stops and 0.949 goes."""
        told = gate(quota(seven=seven), stop=stop)
        expected = (Action.GO, "ok") if reason is None else (Action.STOP, reason)
        assert (told.action, told.reason, told.wait_until) == (*expected, None)

    @pytest.mark.rule("A7.2", "A7.8")
    def test_seven_day_beats_all(self) -> None:
        """A rejected five-hour window with seven_day at 0.96 is a stop, and so it is with overage."""
        rejected = quota(1.0, 0.96, status="rejected", kind="five_hour", resets=AHEAD)
        for told in (rejected, evolve(rejected, is_using_overage=True)):
            for overage in Overage:
                stopped = gate(told, overage=overage)
                assert stopped.action is Action.STOP
                assert stopped.reason == "seven_day utilization 0.960 >= 0.95"

    @pytest.mark.rule("A7.3")
    @pytest.mark.parametrize(
        ("five_resets", "resets", "until"),
        [
            (AHEAD, LATER, AHEAD),
            (AHEAD, None, AHEAD),
            (None, LATER, LATER),
            (None, None, None),
        ],
    )
    @pytest.mark.parametrize("seven", [None, 0.0, 0.949])
    def test_rejected_five_hour(
        self,
        five_resets: datetime | None,
        resets: datetime | None,
        until: datetime | None,
        seven: float | None,
    ) -> None:
        """It waits for the window's own reset, else for the one that was told, else for no time."""
        told = quota(
            0.4, seven, five_resets=five_resets, status="rejected", kind="five_hour", resets=resets
        )
        expected = Gate(action=Action.WAIT, reason="five_hour window rejected", wait_until=until)
        assert gate(told) == expected

    @pytest.mark.rule("A7.4")
    @pytest.mark.parametrize("kind", ["seven_day", "seven_day_opus", "overage", None])
    def test_rejected_otherwise(self, kind: str | None) -> None:
        """Any other rejection stops, whatever it is about, also when it does not say."""
        told = gate(quota(0.1, 0.1, status="rejected", kind=kind, resets=AHEAD))
        assert told == Gate(action=Action.STOP, reason=f"quota rejected ({kind})")

    @pytest.mark.rule("A7.5")
    @pytest.mark.parametrize("status", [None, "allowed", "allowed_warning"])
    @pytest.mark.parametrize(("five_resets", "until"), [(AHEAD, AHEAD), (None, None)])
    def test_full_five_hour(
        self, status: str | None, five_resets: datetime | None, until: datetime | None
    ) -> None:
        """A full window is waited for until its own reset, and no other reset stands in for it."""
        told = gate(quota(1.0, five_resets=five_resets, status=status, resets=LATER))
        reason = "five_hour utilization 1.000"
        assert told == Gate(action=Action.WAIT, reason=reason, wait_until=until)
        assert gate(quota(0.999, five_resets=five_resets, status=status)).action is Action.GO

    @pytest.mark.rule("A7.6")
    @pytest.mark.parametrize("kind", ["five_hour", "seven_day", None])
    def test_warning(self, kind: str | None) -> None:
        """A warning alone never blocks."""
        told = quota(0.99, 0.9, status="allowed_warning", kind=kind, resets=AHEAD)
        assert gate(told) == Gate(action=Action.GO, reason="ok")


class TestOverage:
    """Paid overage in use stops by default, and may be let go."""

    @pytest.mark.rule("E5")
    @pytest.mark.parametrize("kind", ["five_hour", "seven_day", None])
    def test_rejected_with_overage(self, kind: str | None) -> None:
        """It is reported and stops; a study that pays for it goes on."""
        told = quota(1.0, 0.5, status="rejected", kind=kind, resets=AHEAD, overage=True)
        stopped = gate(told)
        assert (stopped.action, stopped.wait_until) == (Action.STOP, None)
        assert "overage" in stopped.reason
        assert stopped.reason.endswith(f"({kind})")
        going = gate(told, overage=Overage.GO)
        assert going.action is Action.GO
        assert "overage" in going.reason

    @pytest.mark.rule("E5")
    def test_without_overage(self) -> None:
        """To pay for it changes nothing while it is not in use."""
        told = quota(1.0, 0.5, status="rejected", kind="five_hour", resets=AHEAD)
        assert gate(told, overage=Overage.GO) == gate(told)
        assert gate(told).action is Action.WAIT


@pytest.mark.rule("E3", "E9")
class TestCurrent:
    """What lapsed is left out of what the gate is given."""

    def test_windows(self) -> None:
        """A window whose reset is past is left out, and no other."""
        told = current(quota(1.0, 0.97, five_resets=PAST, seven_resets=AHEAD), NOW)
        assert list(told.windows) == ["seven_day"]
        assert current(quota(1.0, 0.97), NOW) == quota(1.0, 0.97)

    def test_an_old_high_reading_ends(self) -> None:
        """With its window it is over, and the next trial goes."""
        full = quota(1.0, 0.97, five_resets=PAST, seven_resets=PAST)
        assert gate(full).action is Action.STOP
        assert gate(current(full, NOW)).action is Action.GO

    @pytest.mark.parametrize(
        ("kind", "told", "lapses"),
        [
            ("five_hour", {"resets": PAST}, True),
            ("five_hour", {"resets": AHEAD}, False),
            ("five_hour", {"resets": None}, False),
            ("five_hour", {"five_resets": PAST}, True),
            ("five_hour", {"seven_resets": PAST}, False),
            ("seven_day", {"seven_resets": PAST}, True),
            (None, {"resets": PAST}, True),
        ],
    )
    def test_status(
        self, kind: str | None, told: dict[str, datetime | None], *, lapses: bool
    ) -> None:
        """A status lapses with the window that it names, and with no other."""
        left = current(quota(status="rejected", kind=kind, overage=True, **told), NOW)  # type: ignore[arg-type]
        assert (left.status is None) is lapses
        assert (left.type, left.is_using_overage) == ((None, False) if lapses else (kind, True))

    def test_the_rest_stays(self) -> None:
        """The seven-day window still stops when the rejection of the other one has lapsed."""
        told = quota(
            1.0, 0.96, five_resets=PAST, seven_resets=AHEAD, status="rejected", kind="five_hour"
        )
        assert gate(current(told, NOW)).reason == "seven_day utilization 0.960 >= 0.95"


class TestLaws:
    """What holds of any quota."""

    @pytest.mark.rule("A7.7")
    @settings(deadline=None)
    @given(QUOTAS, STOPS, OVERAGES)
    def test_law_total(self, told: Quota, stop: float, overage: Overage) -> None:
        """There is always an answer, also to what lapsed, and only a wait has a time."""
        for one in (told, current(told, NOW)):
            answer = gate(one, stop=stop, overage=overage)
            assert answer.reason
            assert answer.wait_until is None or answer.action is Action.WAIT

    @pytest.mark.rule("A7.2")
    @settings(deadline=None)
    @given(QUOTAS, STOPS, OVERAGES, st.floats(0, 2))
    def test_law_seven_day_stops(
        self, told: Quota, stop: float, overage: Overage, more: float
    ) -> None:
        """Whatever else holds, at the share and beyond it nothing is started."""
        window = KnownWindow(utilization=stop + more, resets_at=None, read_at=READ)
        full = evolve(told, windows=told.windows.set("seven_day", window))
        assert gate(full, stop=stop, overage=overage).action is Action.STOP

    @pytest.mark.rule("A7.2")
    @settings(deadline=None)
    @given(QUOTAS, OVERAGES, USED, USED)
    def test_law_more_is_no_less_strict(
        self, told: Quota, overage: Overage, one: float | None, other: float | None
    ) -> None:
        """A fuller seven-day window never turns a stop into anything else."""
        less, more = sorted((one or 0.0, other or 0.0))
        before, after = (
            gate(
                evolve(
                    told,
                    windows=told.windows.set(
                        "seven_day", KnownWindow(utilization=used, resets_at=None, read_at=READ)
                    ),
                ),
                overage=overage,
            ).action
            for used in (less, more)
        )
        assert before is not Action.STOP or after is Action.STOP
        assert before is after or after is Action.STOP

    @pytest.mark.rule("E9")
    @settings(deadline=None)
    @given(QUOTAS)
    def test_law_current_once(self, told: Quota) -> None:
        """What lapsed is left out at once: nothing more lapses at the same time."""
        left = current(told, NOW)
        assert current(left, NOW).windows == left.windows
        assert all(w.resets_at is None or w.resets_at > NOW for w in left.windows.values())

    @pytest.mark.parametrize("action", list(Action))
    def test_reachability(self, action: Action) -> None:
        """Each answer is among those of the drawn quotas, and so are quotas that lapse."""
        assert reached(QUOTAS, lambda told: gate(told).action is action)
        assert reached(
            QUOTAS, lambda told: gate(told).action is not gate(current(told, NOW)).action
        )
