"""How long to wait before a trial is tried again."""

import inspect
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules import backoff
from forks_core.rules.backoff import backoff_s, wait_s
from tests.projections.builders import reached

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR_S = 3600
ATTEMPTS = st.integers(-2, 9)
RESETS = st.none() | st.sampled_from([-60, 0, 1e-6, 1, 600, 10_769, 10_770, 10_771, 36_000]).map(
    lambda seconds: NOW + timedelta(seconds=seconds)
)
MOST_S = st.sampled_from([1.0, 600.0, 10_800.0])


class TestConstants:
    """The numbers that waiting keeps to."""

    @pytest.mark.rule("A1.2", "A1.3", "A1.4", "A1.5", "A1.6")
    def test_told(self) -> None:
        """From 60 s to 900 s; a reset up to 3 hours ahead, and 30 s more; three retries."""
        assert backoff.BACKOFF_BASE_S == 60
        assert backoff.BACKOFF_CAP_S == 900
        assert backoff.RESET_WAIT_MAX_S == 10_800 == 3 * HOUR_S
        assert backoff.OVERLOAD_RETRIES == 3
        assert backoff.RESET_MARGIN_S == 30


class TestBackoff:
    """The wait doubles up to its cap."""

    @pytest.mark.rule("A8.1")
    def test_told(self) -> None:
        """60, 120, 240, 480, 900, 900 and so on; below the first attempt it is as at the first."""
        assert [backoff_s(attempt) for attempt in range(6)] == [60, 120, 240, 480, 900, 900]
        assert backoff_s(-3) == 60
        assert backoff_s(10_000) == 900
        assert isinstance(backoff_s(0), float)

    @pytest.mark.rule("A8.1")
    @settings(deadline=None)
    @given(ATTEMPTS)
    def test_law_monotone_and_bounded(self, attempt: int) -> None:
        """A later attempt never waits less, and none less than the base or more than the cap."""
        assert 60 <= backoff_s(attempt) <= backoff_s(attempt + 1) <= 900

    def test_reachability(self) -> None:
        """The law looks at attempts where the wait grows, and where it no longer does."""
        assert reached(ATTEMPTS, lambda a: backoff_s(a) < backoff_s(a + 1))
        assert reached(ATTEMPTS, lambda a: backoff_s(a) == 900)


class TestWait:
    """A reset ahead is waited for, within reason; else the backoff."""

    @pytest.mark.rule("A8.2", "A8.3")
    @pytest.mark.parametrize(
        ("attempt", "ahead", "expected"),
        [
            (0, 600.0, 630.0),
            (7, 600.0, 630.0),
            (0, 10 * HOUR_S, 10_800.0),
            (2, None, 240.0),
            (1, -60.0, 120.0),
            (1, 0.0, 120.0),
            (0, 1e-6, 30.000001),
            (0, 10_770.0, 10_800.0),
            (0, 10_771.0, 10_800.0),
            (0, 10_769.5, 10_799.5),
            (0, 1800.0, 1830.0),
            (9, -1e-6, 900.0),
        ],
    )
    def test_told(self, attempt: int, ahead: float | None, expected: float) -> None:
        """Half a minute beyond the reset, 3 hours at most; a reset that is here or past is none."""
        reset = None if ahead is None else NOW + timedelta(seconds=ahead)
        assert wait_s(attempt, reset, NOW) == expected

    @pytest.mark.rule("A8.3")
    def test_epoch(self) -> None:
        """A reset of 0 is long past."""
        assert wait_s(1, EPOCH, NOW) == 120

    @pytest.mark.rule("A8.2")
    def test_own_limit(self) -> None:
        """Another limit holds for a reset, and not for the backoff."""
        ahead = NOW + timedelta(hours=1)
        assert (wait_s(0, ahead, NOW, 100), wait_s(4, None, NOW, 100)) == (100, 900)
        assert isinstance(wait_s(0, ahead, NOW, 100), float)

    @pytest.mark.rule("A8.4")
    def test_no_clock(self) -> None:
        """The time is given, always: what is waited depends on it, and it has no default."""
        reset = NOW + timedelta(seconds=600)
        assert wait_s(0, reset, NOW + timedelta(seconds=100)) == 530
        assert inspect.signature(wait_s).parameters["now"].default is inspect.Parameter.empty

    @pytest.mark.rule("A8.2")
    @settings(deadline=None)
    @given(ATTEMPTS, RESETS, MOST_S)
    def test_law_bounded(self, attempt: int, reset: datetime | None, most_s: float) -> None:
        """There is always something to wait, and never more than the limit or the cap."""
        assert 0 < wait_s(attempt, reset, NOW, most_s) <= max(most_s, 900)

    @pytest.mark.rule("A8.2")
    @settings(deadline=None)
    @given(RESETS, ATTEMPTS, ATTEMPTS)
    def test_law_the_attempt_or_the_reset(
        self, reset: datetime | None, one: int, other: int
    ) -> None:
        """With a reset ahead the attempt is ignored, without one nothing else is asked."""
        if reset and reset > NOW:
            assert wait_s(one, reset, NOW) == wait_s(other, reset, NOW)
        else:
            assert wait_s(one, reset, NOW) == backoff_s(one)

    def test_reachability(self) -> None:
        """The laws look at waits of both kinds, and at those that the limit cuts."""
        assert reached(RESETS, lambda reset: wait_s(0, reset, NOW) == 60)
        assert reached(RESETS, lambda reset: 60 < wait_s(0, reset, NOW) < 10_800)
        assert reached(RESETS, lambda reset: wait_s(0, reset, NOW) == 10_800)
        assert reached(MOST_S, lambda most_s: most_s < 900)
