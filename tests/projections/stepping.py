"""Asking a study what is next."""

from datetime import timedelta
from typing import Any

from attrs import evolve
from immutables import Map

from forks_core.decider.runner import BeginPause, EndPause
from forks_core.projections.next_step import next_step
from forks_core.projections.steps import Begin, Pause, Rest, Step, Stop, View
from forks_core.projections.trials import tried as tried_before
from forks_core.registry import KnownWindow
from forks_core.rules.schedule import Block
from forks_events.trials import StopReason, Wait
from tests.decider.world import World
from tests.fates import fate
from tests.studies import blocks_of, start, tried

PLAIN, SKILL = "MB-01-r1-plain", "MB-01-r1-with-skill"


def step(world: World, blocks: tuple[Block, ...] | None = None, **seen: Any) -> Step:
    """What is next, with all blocks and a world in order unless told otherwise."""
    fine = {"now": world.now, "free_gb": 100.0, "stops": 0}
    whole = blocks_of(world)
    return next_step(
        world.registry, whole if blocks is None else blocks, whole, View(**{**fine, **seen})
    )


def failed(world: World, name: str, trial: str = PLAIN) -> Step:
    """What is next behind an attempt with such a fate."""
    tried(world, trial, fate(name, world.now))
    return step(world)


def paused(world: World) -> Pause:
    """Pause as it is said, and wait until that is over; return the pause."""
    said = step(world)
    assert isinstance(said, Pause), said
    world.do(
        BeginPause(wait=said.wait, until=said.until, trial_id=said.trial_id, attempt=said.attempt)
    )
    assert step(world) == Rest(until=said.until)
    world.now = max(world.now, said.until)
    world.do(EndPause())
    return said


def begins(world: World, trial: str, attempt: int = 1) -> None:
    """See to it that an attempt at a trial is next."""
    assert step(world) == Begin(trial_id=trial, attempt=attempt)


def reads(world: World, *, age_s: float = 0, **quota: Any) -> None:
    """Let the account's state be read; windows are shares, or shares and seconds until a reset."""
    read_at = world.now - timedelta(seconds=age_s)
    windows = {}
    for name in ("five_hour", "seven_day"):
        told = quota.pop(name, None)
        if told is None:
            continue
        share, seconds = told if isinstance(told, tuple) else (told, None)
        resets_at = None if seconds is None else world.now + timedelta(seconds=seconds)
        windows[name] = KnownWindow(utilization=share, resets_at=resets_at, read_at=read_at)
    readings = world.registry.readings
    known = evolve(readings.quota, windows=Map(windows), read_at=read_at, **quota)
    world.registry = evolve(world.registry, readings=evolve(readings, quota=known))


def resumed(world: World, number: int = 2, *, smoke: bool = False) -> dict[str, Any]:
    """Let another run begin; tell what it knows of those before it."""
    before = tried_before(world.registry)
    world.do(start(number, smoke=smoke))
    return {"tried": before, "smoke": smoke}


def reason_of(found: Step) -> StopReason | None:
    """What a run stops for; None: it pauses for the quota."""
    if isinstance(found, Stop):
        return found.reason
    assert isinstance(found, Pause)
    assert found.wait is Wait.QUOTA
    return None
