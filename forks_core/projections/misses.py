"""Why a call did not hit its base's cache: the causes that the log can show."""

import re
from datetime import datetime

from forks_core.registry import SILENT, Base, Ended, Job, Registry, Running
from forks_core.rules.models import is_same_model
from forks_events.jobs import JobEnded
from forks_events.values import GIT_INSTRUCTIONS
from forks_events.words import Cache, Kind, Warmth

BASE_COLD, SIBLING_IN_FLIGHT, HEAD_MOVED = "base_cold", "sibling_in_flight", "head_moved"
CLIENT_VERSION, UNKNOWN = "client_version", "unknown"
HARMLESS = frozenset({"permissionMode"})
"""Surroundings that no prefix depends on."""
FIRST_OBEYING = (2, 1, 0)
"""Clients before it tell of git in spite of the variable (measured on 2.0.76)."""
FIRST_KEEPING = (2, 1, 270)
"""Clients from it on send their base's system prompt unchanged, whatever HEAD is (measured)."""


def miss_causes(registry: Registry, job: Job) -> tuple[str, ...]:
    """Name what may have kept a fork or continue from reading its base's prefix.

    Args:
        registry: The state.
        job: The job.

    Returns:
        Nothing for a hit, for training, and without any response. Else, in this order:
        ``base_cold``, ``sibling_in_flight``, ``drift:<name>`` for each difference of the launch or
        of the surroundings, ``head_moved``, ``client_version``; or ``unknown`` alone.
    """
    if not isinstance(job.state, Ended) or job.state.end.cache in {None, Cache.HIT}:
        return ()
    base = registry.base_of(job)
    found = (
        *([BASE_COLD] if job.spec.base_state is Warmth.COLD else []),
        *([SIBLING_IN_FLIGHT] if _has_sibling_in_flight(registry, job) else []),
        *(f"drift:{name}" for name in _drift(registry, job, job.state.end)),
        *([HEAD_MOVED] if base and _has_moved(registry, job, base) else []),
        *([CLIENT_VERSION] if base and _is_other_client(registry, job, base) else []),
    )
    return found or (UNKNOWN,)


def _drift(registry: Registry, job: Job, end: JobEnded) -> tuple[str, ...]:
    """What differed of the launch and the surroundings; where a client runs is in its prompt."""
    launch = registry.launches[job.spec.fingerprint]
    elsewhere = job.spec.cwd is not None and job.spec.cwd != launch.cwd
    opened = registry.streams.get(job.spec.job, SILENT).opened
    told = opened.model if opened else None
    other_model = told is not None and not is_same_model(told, launch.model)
    found = {
        *end.drift,
        *(["cwd"] if elsewhere else []),
        *(["model"] if other_model else []),
    }
    return tuple(sorted(found - HARMLESS))


def _has_sibling_in_flight(registry: Registry, job: Job) -> bool:
    """Whether another call of the base ran, and had no response yet, when this one started."""
    started = _started(job)
    return started is not None and any(
        _was_in_flight(registry, other, started)
        for other in registry.jobs.values()
        if other is not job
        and other.spec.base == job.spec.base
        and other.spec.kind is not Kind.TRAIN
    )


def _was_in_flight(registry: Registry, job: Job, at: datetime) -> bool:
    begun = _started(job)
    if begun is None or begun > at:
        return False
    first = registry.streams.get(job.spec.job, SILENT).first
    if first is not None:
        return (first.seen_at or first.at) > at
    return not isinstance(job.state, Ended) or job.state.end.at > at


def _started(job: Job) -> datetime | None:
    return job.state.started_at if isinstance(job.state, Running | Ended) else None


def _has_moved(registry: Registry, job: Job, base: Base) -> bool:
    """Whether HEAD was another one, and the system prompt tells of it."""
    commit = base.active.commit if base.active else None
    off = GIT_INSTRUCTIONS in registry.launches[job.spec.fingerprint].env
    version = _numbers(_version(registry, job.spec.job) or job.spec.binary_version)
    if version is not None and (version >= FIRST_KEEPING or (off and version >= FIRST_OBEYING)):
        return False
    told = not off or version is not None
    return told and None not in {commit, job.spec.head} and job.spec.head != commit


def _numbers(version: str | None) -> tuple[int, ...] | None:
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version or "")
    return tuple(map(int, found.groups())) if found else None


def _is_other_client(registry: Registry, job: Job, base: Base) -> bool:
    then, now = _version(registry, base.job), _version(registry, job.spec.job)
    return then is not None and now is not None and then != now


def _version(registry: Registry, job: str) -> str | None:
    opened = registry.streams.get(job, SILENT).opened
    return opened.client_version if opened else None
