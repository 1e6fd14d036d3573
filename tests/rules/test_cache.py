"""The prompt cache: verdicts, warmth and drift."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.cache import fingerprint_text, is_cold_start, runtime_drift, verdict, warmth
from forks_events.values import Usage
from forks_events.words import Cache, Warmth

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.rule("B24.1")
class TestVerdict:
    """A first response that reads nine tenths of its base's context is a hit, any less partial."""

    @pytest.mark.rule("B33.1")
    @pytest.mark.parametrize(
        ("read", "base", "expected"),
        [
            (900, 1000, Cache.HIT),
            (899, 1000, Cache.PARTIAL),
            (1, 1000, Cache.PARTIAL),
            (0, 1000, Cache.MISS),
            (900, None, Cache.PARTIAL),
            (900, 0, Cache.PARTIAL),
            (0, 0, Cache.MISS),
        ],
    )
    def test_boundaries(self, read: int, base: int | None, expected: Cache) -> None:
        """Without the base's context nothing is a hit."""
        assert verdict(Usage(cache_read=read), base) is expected

    def test_nothing_said(self) -> None:
        """Without a response there is no verdict."""
        assert verdict(None, 1000) is None


@pytest.mark.rule("B24.2")
class TestWarmth:
    """A prefix is warm until the last tenth of its life, at least until its last two minutes."""

    @pytest.mark.parametrize(
        ("ttl", "age", "expected"),
        [
            (3600, 0, Warmth.WARM),
            (3600, 3239, Warmth.WARM),
            (3600, 3240, Warmth.EXPIRING),
            (3600, 3599, Warmth.EXPIRING),
            (3600, 3600, Warmth.COLD),
            (1200, 1079, Warmth.WARM),
            (1200, 1080, Warmth.EXPIRING),
            (300, 180, Warmth.EXPIRING),
            (None, 3239, Warmth.WARM),
            (0, 3240, Warmth.EXPIRING),
        ],
    )
    def test_boundaries(self, ttl: int | None, age: int, expected: Warmth) -> None:
        """Each limit is reached exactly; without a lifetime it is an hour."""
        told, until = warmth(NOON, ttl, NOON + timedelta(seconds=age))
        assert told is expected
        assert until == NOON + timedelta(seconds=ttl or 3600)

    def test_never_hit(self) -> None:
        """What was never hit is cold, and has no end."""
        assert warmth(None, 3600, NOON) == (Warmth.COLD, None)

    @settings(deadline=None)
    @given(st.integers(1, 10**5), st.integers(0, 10**5), st.integers(0, 10**5))
    def test_law_it_only_cools(self, ttl: int, age: int, more: int) -> None:
        """Without a hit it never gets warmer."""
        order = [Warmth.WARM, Warmth.EXPIRING, Warmth.COLD]
        sooner, _ = warmth(NOON, ttl, NOON + timedelta(seconds=age))
        later, _ = warmth(NOON, ttl, NOON + timedelta(seconds=age + more))
        assert order.index(later) >= order.index(sooner)


class TestDrift:
    """What the client reports is compared with the base's; without one only the permission mode."""

    BASE = {"tools": "x", "permissionMode": "dontAsk", "agents": "a"}  # noqa: RUF012 - it stays

    @pytest.mark.rule("B24.4")
    def test_differing(self) -> None:
        """Every differing field is named, sorted, one that is missing too."""
        told = {"tools": "y", "permissionMode": "plan", "plugins": "p"}
        expected = ("agents", "permissionMode", "plugins", "tools")
        assert runtime_drift(told, self.BASE, "dontAsk") == expected
        assert runtime_drift(self.BASE, self.BASE, "plan") == ()

    @pytest.mark.rule("B24.4")
    @pytest.mark.parametrize("base", [None, {}])
    def test_without_a_base(self, base: dict[str, str] | None) -> None:
        """Only the permission mode is judged, where it is told."""
        assert runtime_drift(self.BASE, base, "dontAsk") == ()
        assert runtime_drift(self.BASE, base, "plan") == ("permissionMode",)
        assert runtime_drift({"tools": "x"}, base, "plan") == ()

    @pytest.mark.rule("B24.3")
    @pytest.mark.parametrize("told", [None, {}])
    def test_nothing_reported(self, told: dict[str, str] | None) -> None:
        """A client that never introduced itself did not drift."""
        assert runtime_drift(told, self.BASE, "plan") == ()

    @pytest.mark.rule("B24.5")
    def test_text(self) -> None:
        """The names are sorted and told once."""
        assert fingerprint_text(()) == "ok"
        assert fingerprint_text(["tools", "binary", "tools"]) == "drift:binary,tools"


@pytest.mark.rule("B25.6")
class TestColdStart:
    """A start is cold when the base was, or when the cache missed without a drift to explain it."""

    @pytest.mark.parametrize(
        ("state", "cache", "drift", "expected"),
        [
            (Warmth.COLD, Cache.HIT, (), True),
            (Warmth.COLD, None, ("tools",), True),
            (Warmth.WARM, Cache.HIT, (), False),
            (Warmth.WARM, None, (), False),
            (Warmth.EXPIRING, Cache.MISS, (), True),
            (Warmth.WARM, Cache.PARTIAL, (), True),
            (Warmth.WARM, Cache.PARTIAL, ("tools",), False),
            (None, None, (), False),
        ],
    )
    def test_told(
        self, state: Warmth | None, cache: Cache | None, drift: tuple[str, ...], *, expected: bool
    ) -> None:
        """The table of cases."""
        assert is_cold_start(state, cache, drift) is expected
