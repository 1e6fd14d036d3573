"""How the quota moves: window by window, whatever order readings come in."""

from datetime import UTC, datetime, timedelta

import pytest
from immutables import Map

from forks_core.reducer.quota import evolve, merge
from forks_core.registry import UNREAD, KnownWindow, Quota, Readings
from forks_events.quota import QuotaRead, Reading, Window

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def at(seconds: float | None) -> datetime | None:
    """So many seconds after noon, or never."""
    return None if seconds is None else NOON + timedelta(seconds=seconds)


def reading(
    status: str | None = "allowed",
    kind: str | None = "five_hour",
    resets: float | None = None,
    *,
    overage: bool = False,
    **windows: tuple[float | None, float | None],
) -> Reading:
    """A reading; each window is its utilization and the seconds until its reset."""
    told = {
        name: Window(utilization=used, resets_at=at(ends)) for name, (used, ends) in windows.items()
    }
    return Reading(
        status=status,
        type=kind,
        resets_at=at(resets),
        is_using_overage=overage,
        windows=Map(told),
    )


def seen(*readings: tuple[float, Reading]) -> Quota:
    """Merge readings, each seen at so many seconds after noon."""
    quota = UNREAD
    for when, told in readings:
        quota = merge(quota, told, at(when), NOON + timedelta(hours=1))
    return quota


def found(quota: Quota, told: Reading, recorded: float) -> Quota:
    """Merge a reading that was found afterwards, and recorded then."""
    return merge(quota, told, None, NOON + timedelta(seconds=recorded))


def known(used: float | None, resets: float | None, read: float) -> KnownWindow:
    """A window as it is known."""
    return KnownWindow(
        utilization=used, resets_at=at(resets), read_at=NOON + timedelta(seconds=read)
    )


def five(quota: Quota) -> KnownWindow | None:
    """What is known of the five-hour window."""
    return quota.windows.get("five_hour")


@pytest.mark.rule("E5")
class TestWindows:
    """Each window has its own reading, and so its own age."""

    @pytest.mark.rule("A12.1")
    def test_each_by_itself(self) -> None:
        """What a later reading does not tell of stays, as old as it is."""
        quota = seen(
            (1, reading(five_hour=(0.1, 90), seven_day=(0.6, 900))),
            (2, reading(five_hour=(0.2, 90))),
            (3, reading(novel=(0.9, None))),
        )
        assert dict(quota.windows) == {
            "five_hour": known(0.2, 90, 2),
            "seven_day": known(0.6, 900, 1),
            "novel": known(0.9, None, 3),
        }

    def test_it_may_fall(self) -> None:
        """The later reading holds, also when it is lower."""
        assert five(
            seen((1, reading(five_hour=(0.9, 90))), (2, reading(five_hour=(0.2, 90))))
        ) == known(0.2, 90, 2)

    def test_no_erasing(self) -> None:
        """A reading without a utilization leaves the known one, with its age and its reset."""
        quota = seen((1, reading(five_hour=(0.9, 90))), (2, reading(five_hour=(None, 90))))
        assert five(quota) == known(0.9, 90, 1)
        assert five(
            seen((1, reading(five_hour=(0.9, None))), (2, reading(five_hour=(None, 7))))
        ) == known(0.9, None, 1)

    def test_a_window_that_is_over(self) -> None:
        """After its reset it is another window, of which a reading may tell nothing yet."""
        quota = seen((1, reading(five_hour=(0.9, 90))), (90, reading(five_hour=(None, 200))))
        assert five(quota) == known(None, 200, 90)
        before = seen((1, reading(five_hour=(0.9, 90))), (89, reading(five_hour=(None, 90))))
        assert five(before) == known(0.9, 90, 1)

    def test_two_that_tell_nothing(self) -> None:
        """Of two readings without a utilization the later one holds."""
        quota = seen((1, reading(five_hour=(None, 90))), (2, reading(five_hour=(None, 95))))
        assert five(quota) == known(None, 95, 2)

    def test_out_of_order(self) -> None:
        """A reading that comes late changes nothing that was read after it."""
        later, earlier = (5, reading(five_hour=(0.5, 90))), (1, reading(five_hour=(0.9, 90)))
        assert seen(later, earlier) == seen(earlier, later)

    def test_a_known_one_that_comes_late(self) -> None:
        """It is not erased by a later one that told nothing, unless its window was over then."""
        nothing = (50, reading(five_hour=(None, 90)))
        assert five(seen(nothing, (1, reading(five_hour=(0.9, 90))))) == known(0.9, 90, 1)
        assert five(seen(nothing, (1, reading(five_hour=(0.9, 50))))) == known(None, 90, 50)
        assert five(seen(nothing, (1, reading(five_hour=(None, 90))))) == known(None, 90, 50)


@pytest.mark.rule("E9")
class TestStatus:
    """Status, type, reset and overage are the newest reading's alone."""

    def test_told(self) -> None:
        """They are told together, of one moment the one that was recorded last."""
        quota = seen(
            (1, reading("allowed")),
            (1, reading("rejected", "seven_day", 900, overage=True)),
        )
        told = (quota.status, quota.type, quota.resets_at, quota.is_using_overage, quota.read_at)
        assert told == ("rejected", "seven_day", at(900), True, at(1))

    def test_newest(self) -> None:
        """They go together: nothing of an older status is left."""
        quota = seen(
            (1, reading("rejected", "seven_day", 900, overage=True, seven_day=(1.0, 900))),
            (2, reading("allowed", None)),
        )
        told = (quota.status, quota.type, quota.resets_at, quota.is_using_overage, quota.read_at)
        assert told == ("allowed", None, None, False, at(2))
        assert quota.windows["seven_day"] == known(1.0, 900, 1)

    def test_out_of_order(self) -> None:
        """A rejection that was seen before the newest reading is no news."""
        quota = seen((5, reading("allowed")), (1, reading("rejected", resets=90)))
        assert (quota.status, quota.resets_at, quota.read_at) == ("allowed", None, at(5))

    def test_none(self) -> None:
        """The newest reading may tell no status."""
        quota = seen((1, reading("rejected")), (2, reading(None, None, five_hour=(0.1, 9))))
        assert (quota.status, quota.type) == (None, None)


@pytest.mark.rule("E5", "E9")
class TestFoundAfterwards:
    """A reading without a time of its own wins only where that is safe."""

    BEFORE = seen((10, reading("allowed", resets=90, five_hour=(0.5, 90), seven_day=(0.6, 900))))

    @pytest.mark.rule("A12.2")
    def test_the_first(self) -> None:
        """Where nothing is known it is what is known, from when it was recorded."""
        quota = found(UNREAD, reading("allowed", five_hour=(0.5, 90)), 30)
        assert (five(quota), quota.status) == (known(0.5, 90, 30), "allowed")
        assert quota.read_at == at(30)

    @pytest.mark.parametrize(
        ("told", "expected"),
        [
            ((0.7, 90), known(0.7, 90, 30)),
            ((0.5, 90), known(0.5, 90, 10)),
            ((0.2, 90), known(0.5, 90, 10)),
            ((0.2, 91), known(0.2, 91, 30)),
            ((0.2, None), known(0.5, 90, 10)),
            ((None, 90), known(0.5, 90, 10)),
            ((None, 500), known(0.5, 90, 10)),
            ((0.99, 30), known(0.5, 90, 10)),
            ((0.99, 20), known(0.5, 90, 10)),
        ],
    )
    def test_windows(self, told: tuple[float | None, float | None], expected: KnownWindow) -> None:
        """A fuller window, or one that ends later, wins; less, nothing, and what is over do not."""
        quota = found(self.BEFORE, reading(five_hour=told), 30)
        assert five(quota) == expected
        assert quota.windows["seven_day"] == known(0.6, 900, 10)

    def test_nobody_knows_until_when(self) -> None:
        """Where no reset is known only a fuller window wins."""
        before = seen((10, reading(five_hour=(0.5, None))))
        assert five(found(before, reading(five_hour=(0.4, 90)), 30)) == known(0.5, None, 10)
        assert five(found(before, reading(five_hour=(0.6, 90)), 30)) == known(0.6, 90, 30)

    def test_after_the_known_one_is_over(self) -> None:
        """Where what is known says nothing any more, anything that lasts is better."""
        assert five(found(self.BEFORE, reading(five_hour=(0.1, 200)), 95)) == known(0.1, 200, 95)
        untold = seen((1, reading(five_hour=(None, 90))))
        assert five(found(untold, reading(five_hour=(0.1, 90)), 30)) == known(0.1, 90, 30)

    @pytest.mark.parametrize(
        ("told", "stands"),
        [
            (reading("rejected", resets=90), True),
            (reading("rejected", resets=None), True),
            (reading("rejected", resets=31), True),
            (reading("rejected", resets=30), False),
            (reading("rejected", resets=None, five_hour=(1.0, 20)), False),
            (reading("rejected", resets=None, five_hour=(1.0, 90)), True),
            (reading("allowed", resets=95), False),
            (reading("allowed_warning", resets=95), False),
            (reading(None), False),
        ],
    )
    def test_status(self, told: Reading, *, stands: bool) -> None:
        """Only a rejection counts, and only while its window lasts."""
        quota = found(self.BEFORE, told, 30)
        assert (quota.status == "rejected") is stands
        assert quota.read_at == at(30 if stands else 10)


class TestRejected:
    """Whether a job was told of a rejection is known by job, and until when."""

    @pytest.mark.parametrize(
        ("told", "expected"),
        [
            (reading("rejected", resets=90), {"j1": at(90)}),
            (reading("rejected", resets=None), {"j1": None}),
            (reading("rejected", resets=None, five_hour=(1.0, 70)), {"j1": at(70)}),
            (reading("rejected", resets=90, overage=True), {}),
            (reading("allowed", resets=90), {}),
            (reading(None), {}),
        ],
    )
    def test_told(self, told: Reading, expected: dict[str, datetime | None]) -> None:
        """It ends with the window that it names; what overage pays for is none."""
        readings = evolve(Readings(), QuotaRead(at=NOON, job="j1", seen_at=NOON, reading=told))
        assert dict(readings.rejected) == expected

    @pytest.mark.rule("R3.1")
    @pytest.mark.parametrize("status", ["allowed", "allowed_warning", None])
    def test_whatever_follows(self, status: str | None) -> None:
        """A better reading does not undo it: the attempt was refused; a later refusal ends later."""
        readings = Readings()
        for told, seconds in (("rejected", 90), (status, 80), ("rejected", 70), (status, 60)):
            read = reading(told, resets=seconds)
            readings = evolve(readings, QuotaRead(at=NOON, job="j1", seen_at=NOON, reading=read))
        assert dict(readings.rejected) == {"j1": at(70)}
