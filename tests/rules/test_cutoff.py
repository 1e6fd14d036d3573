"""The cutoff: what time it is, whether it has come, what still fits."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.cutoff import FIT_TENTHS, block_fits, parse_utc, past_cutoff
from tests.projections.builders import reached

NOW = datetime(2026, 12, 5, 6, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
TEXTS = st.text(st.sampled_from("0123456789-:TZ+. "), max_size=26) | st.datetimes().map(
    datetime.isoformat
)
STEPS = st.integers(-30, 30)


def ahead(seconds: float) -> datetime:
    """A time so many seconds from now."""
    return NOW + timedelta(seconds=seconds)


def read(text: str) -> datetime | None:
    """The time that a text tells, or None: nothing but a ValueError says that there is none."""
    try:
        return parse_utc(text)
    except ValueError:
        return None


@pytest.fixture
def tokyo() -> Iterator[None]:
    """A machine whose own zone is not UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.rule("A9.1")
class TestParse:
    """A text is a time in UTC, whatever zone it is written in."""

    @pytest.mark.parametrize(
        "text",
        [
            "2026-12-05T06:00:00Z",
            "  2026-12-05T06:00:00Z\n",
            "2026-12-05T06:00:00",
            "2026-12-05 06:00",
            "2026-12-05T06:00:00+00:00",
            "2026-12-05T08:00:00+02:00",
            "2026-12-04T22:30:00-07:30",
        ],
    )
    def test_told(self, text: str) -> None:
        """Spaces around it and ``Z`` are fine, no zone is UTC, other offsets are honoured."""
        assert parse_utc(text) == NOW
        assert parse_utc(text).tzinfo is UTC

    @pytest.mark.usefixtures("tokyo")
    def test_the_machine_is_not_asked(self) -> None:
        """No zone is UTC wherever the machine stands."""
        assert time.timezone == -9 * 3600
        assert parse_utc("2026-12-05T06:00:00") == NOW

    def test_fractions_and_dates(self) -> None:
        """Fractions of a second are kept, and a date alone is its first moment."""
        assert parse_utc("2026-12-05T06:00:00.000001Z") == NOW + MICROSECOND
        assert parse_utc("2026-12-05") == NOW - timedelta(hours=6)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "soon",
            "2026-13-01T00:00:00Z",
            "2026-12-05T25:00",
            "1796450400",
            "06:00",
            "2026-12-05T06:00:00ZZ",
            "2026-12-05T06:00 UTC",
            "0001-01-01T00:00:00+14:00",
        ],
    )
    def test_invalid(self, text: str) -> None:
        """What is no time, or none that UTC can tell, is an error that shows the text."""
        with pytest.raises(ValueError, match="not a time in ISO 8601") as error:
            parse_utc(text)
        assert repr(text) in str(error.value)

    @settings(deadline=None)
    @given(TEXTS)
    def test_law_a_time_or_an_error(self, text: str) -> None:
        """Any text gives a time in UTC that reads back as itself, or the one error."""
        at = read(text)
        if at is not None:
            assert at.utcoffset() == timedelta(0)
            assert read(at.isoformat()) == at

    def test_reachability(self) -> None:
        """The law looks at times and at others."""
        assert reached(TEXTS, lambda text: read(text) is not None)
        assert reached(TEXTS, lambda text: bool(text.strip()) and read(text) is None)


@pytest.mark.rule("A9.2")
class TestPast:
    """The cutoff has come when it is now."""

    @pytest.mark.parametrize(
        ("cutoff", "expected"),
        [
            (None, False),
            (NOW, True),
            (NOW + MICROSECOND, False),
            (NOW - MICROSECOND, True),
        ],
    )
    def test_told(self, cutoff: datetime | None, *, expected: bool) -> None:
        """At the very moment it has; without one it never has."""
        assert past_cutoff(cutoff, NOW) is expected

    @settings(deadline=None)
    @given(STEPS, st.integers(0, 30))
    def test_law_for_good(self, start: int, more: int) -> None:
        """Once it has come, it does not go away."""
        assert past_cutoff(ahead(start), NOW) <= past_cutoff(ahead(start), ahead(more))

    def test_reachability(self) -> None:
        """The law looks at cutoffs that come meanwhile."""
        assert not past_cutoff(ahead(5), NOW)
        assert past_cutoff(ahead(5), ahead(5))


@pytest.mark.rule("A9.3")
class TestFits:
    """A block must be over by the cutoff, with a tenth more than it is expected to take."""

    @pytest.mark.rule("A1.7")
    def test_margin(self) -> None:
        """1.1 of the estimate."""
        assert FIT_TENTHS / 10 == 1.1

    @pytest.mark.parametrize(
        ("cutoff", "estimate_s", "expected"),
        [
            (None, None, True),
            (None, 1e9, True),
            (ahead(1e6), None, False),
            (ahead(1e6), 0.0, False),
            (ahead(110), 100.0, True),
            (ahead(110) - MICROSECOND, 100.0, False),
            (ahead(110), 100.000001, False),
            (ahead(0.11), 0.1, True),
            (ahead(0.33), 0.3, True),
            (ahead(0), 1e-6, False),
            (ahead(-1), 1.0, False),
        ],
    )
    def test_told(
        self, cutoff: datetime | None, estimate_s: float | None, *, expected: bool
    ) -> None:
        """Exactly at the cutoff it fits; what nobody can estimate fits no cutoff, but no cutoff."""
        assert block_fits(cutoff, NOW, estimate_s) is expected

    @settings(deadline=None)
    @given(st.integers(1, 10**12), st.integers(-20, 20))
    def test_law_exact(self, estimate: int, off: int) -> None:
        """In whole microseconds it is exact: eleven tenths of the estimate, no more and no less."""
        left = estimate * 11 // 10 + off
        fits = block_fits(NOW + left * MICROSECOND, NOW, estimate / 10**6)
        assert fits is (estimate * 11 <= left * 10)

    @settings(deadline=None)
    @given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30))
    def test_law_monotone(self, left: int, estimate: int, more: int) -> None:
        """What fits does so before a later cutoff too, and when it is expected to be shorter."""
        if block_fits(ahead(left), NOW, estimate + more):
            assert block_fits(ahead(left + more), NOW, estimate + more)
            assert block_fits(ahead(left), NOW, estimate)

    def test_reachability(self) -> None:
        """The laws look at blocks that fit by nothing and that miss by nothing."""
        for off, fits in ((0, True), (-1, False)):
            assert block_fits(NOW + (11 + off) * MICROSECOND, NOW, 10 / 10**6) is fits
        assert block_fits(ahead(30), NOW, 20.0)
