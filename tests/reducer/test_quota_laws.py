"""Laws of the quota: whatever is read, in whatever order it comes."""

import random
from datetime import timedelta

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.reducer import fold
from forks_core.reducer.quota import evolve, merge
from forks_core.registry import Quota, Readings
from forks_events.quota import QuotaRead, Reading, Window
from tests.projections.builders import reached
from tests.reducer.test_quota import NOON, at, reading, seen

NAMES = ("five_hour", "seven_day", "seven_day_opus")
PERIOD_S = {"five_hour": 40, "seven_day": 100}
SEEDS = st.integers(0, 2**32)


@frozen(kw_only=True)
class Seen:
    """A reading and when it was seen, in seconds after noon."""

    when: int
    told: Reading


def _window(name: str, when: int, used: float | None) -> tuple[float | None, float | None]:
    # A window's reset is the end of the one that goes on, or is never told.
    period = PERIOD_S.get(name)
    return used, None if period is None else (when // period + 1) * period


USED = st.sampled_from([None, None, 0.0, 0.5, 0.97, 1.0])
SEEN = st.builds(
    lambda when, status, kind, used, overage: Seen(
        when=when,
        told=reading(
            status,
            kind,
            None if kind is None else _window(kind, when, None)[1],
            overage=overage,
            **{name: _window(name, when, one) for name, one in used.items()},
        ),
    ),
    st.integers(0, 250),
    st.sampled_from(["allowed", "allowed_warning", "rejected", None]),
    st.sampled_from([*NAMES, None]),
    st.dictionaries(st.sampled_from(NAMES), USED),
    st.booleans(),
)
SEVERAL = st.lists(SEEN, max_size=7, unique_by=lambda one: one.when)


def merged(several: list[Seen]) -> Quota:
    """Merge them as they come."""
    return seen(*((one.when, one.told) for one in several))


class TestLaws:
    """What holds for any readings."""

    @pytest.mark.rule("E5", "E9", "A12.3")
    @settings(deadline=None)
    @given(SEVERAL, SEEDS)
    def test_law_any_order(self, several: list[Seen], seed: int) -> None:
        """Readings that were seen at different times come to the same in any order."""
        shuffled = random.Random(seed).sample(several, len(several))
        assert merged(shuffled) == merged(sorted(several, key=lambda one: one.when))

    @pytest.mark.rule("E5")
    @settings(deadline=None)
    @given(SEVERAL, SEEN)
    def test_law_nothing_is_erased(self, several: list[Seen], last: Seen) -> None:
        """A reading without a utilization leaves each known one whose window lasts as it is."""
        before = merged(several)
        silent = {name: Window(utilization=None, resets_at=at(900)) for name in NAMES}
        when = max((one.when for one in several), default=0) + 1
        after = seen_on(
            before,
            when,
            Reading(
                status=last.told.status,
                type=last.told.type,
                resets_at=None,
                is_using_overage=False,
                windows=Map(silent),
            ),
        )
        for name, window in before.windows.items():
            lasts = window.resets_at is None or window.resets_at > NOON + timedelta(seconds=when)
            if window.utilization is not None and lasts:
                assert after.windows[name] == window

    @settings(deadline=None)
    @given(SEVERAL)
    def test_law_counted(self, several: list[Seen]) -> None:
        """Each job's readings are counted, whatever they tell."""
        told = [
            QuotaRead(at=NOON, job=f"j000{one.when % 3}", seen_at=at(one.when), reading=one.told)
            for one in several
        ]
        readings = Readings()
        for event in told:
            readings = evolve(readings, event)
        assert dict(readings.counted) == {
            job: sum(event.job == job for event in told) for job in {event.job for event in told}
        }
        assert readings.quota == merged(several)
        assert fold(told).readings == readings

    def test_reachability(self) -> None:
        """The laws look at readings that come late, tell nothing, and whose windows end."""
        assert reached(
            SEVERAL,
            lambda several: (
                len(several) > 2
                and several[0].when > several[1].when
                and merged(several) != merged(several[:1])
            ),
        )
        assert reached(
            SEVERAL,
            lambda several: (
                any(window.utilization is None for window in merged(several).windows.values())
                and len(several) > 3
            ),
        )
        assert reached(
            SEVERAL,
            lambda several: any(
                window.read_at + timedelta(seconds=100) < NOON + timedelta(seconds=several[-1].when)
                for window in merged(several).windows.values()
            ),
        )


def seen_on(quota: Quota, when: float, told: Reading) -> Quota:
    """Merge one more reading."""
    return merge(quota, told, at(when), NOON)
