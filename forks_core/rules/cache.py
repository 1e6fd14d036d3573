"""The prompt cache: what a fork read of its base's prefix, and how long that prefix lives."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from forks_events.values import Usage
from forks_events.words import Cache, Warmth

HIT_RATIO = 0.9
"""A first response that reads at least this share of its base's context has hit the cache."""
TTL_S = 3600.0
"""Seconds that a written prefix lives when nothing else is told."""
LEAST_MARGIN_S = 120.0


def verdict(first: Usage | None, base_context: int | None) -> Cache | None:
    """Judge a fork's first response.

    Args:
        first: Its tokens, or None without any response: nothing can be said then.
        base_context: Context tokens of the base; where they are unknown (None or 0) nothing is a
            hit.
    """
    if first is None:
        return None
    if base_context and first.cache_read >= HIT_RATIO * base_context:
        return Cache.HIT
    return Cache.PARTIAL if first.cache_read > 0 else Cache.MISS


def warmth(
    last_hit: datetime | None, ttl_s: float | None, now: datetime
) -> tuple[Warmth, datetime | None]:
    """Tell whether a prefix is still cached, and until when.

    It is *expiring* in the last tenth of its life, but at least the last two minutes.

    Args:
        last_hit: When a response last read or wrote it, or None when never.
        ttl_s: Seconds that it lives; None or 0 is an hour.
        now: The time to judge at.
    """
    if last_hit is None:
        return Warmth.COLD, None
    life = ttl_s or TTL_S
    until = last_hit + timedelta(seconds=life)
    margin = timedelta(seconds=max(LEAST_MARGIN_S, life / 10))
    if now < until - margin:
        return Warmth.WARM, until
    return (Warmth.EXPIRING if now < until else Warmth.COLD), until


def runtime_drift(
    runtime: Mapping[str, str] | None, base_runtime: Mapping[str, str] | None, permission_mode: str
) -> tuple[str, ...]:
    """Name what the client reports of its surroundings other than it should be, sorted.

    Args:
        runtime: What it reported now; None or empty when it never introduced itself: no drift.
        base_runtime: What it reported when the base was trained; None or empty when there is
            none to compare with. Then only the permission mode is judged, against the launch.
        permission_mode: The permission mode of the launch.
    """
    if not runtime:
        return ()
    if not base_runtime:
        reported = runtime.get("permissionMode")
        return ("permissionMode",) if reported and reported != permission_mode else ()
    names = {*runtime, *base_runtime}
    return tuple(sorted(name for name in names if runtime.get(name) != base_runtime.get(name)))


def fingerprint_text(drift: Iterable[str]) -> str:
    """Say in one word whether a call ran as its base did: ``ok``, or ``drift:`` and the names."""
    names = sorted(set(drift))
    return f"drift:{','.join(names)}" if names else "ok"


def is_cold_start(base_state: Warmth | None, cache: Cache | None, drift: Iterable[str]) -> bool:
    """Tell whether a fork paid for its base's prefix again without a drift to explain it.

    Args:
        base_state: Warmth of the base at the launch, or None for training.
        cache: The verdict on its first response, or None without one.
        drift: Names of what differed.
    """
    missed = cache in {Cache.PARTIAL, Cache.MISS} and not tuple(drift)
    return base_state is Warmth.COLD or missed
