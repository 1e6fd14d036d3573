"""What holds of every history of a study, however often its runner broke."""

import math
from collections.abc import Iterator, Sequence
from datetime import timedelta

from forks_core.projections.pace import spent_usd
from forks_core.reducer import fold
from forks_core.rules.study_file import SMOKE
from forks_core.runner import LOOK_S
from forks_events import Event
from forks_events.study import Entry, StudyScheduled
from forks_events.trials import (
    AttemptAborted,
    AttemptConcluded,
    PauseBegun,
    PauseEnded,
    RunnerStarted,
    TrialBegun,
)
from tests.runner.world import World
from tests.studies import Shape

MARGIN_S = 1.0
"""What the runner does between two looks takes no time here, but for a check."""


def hold(world: World, shape: Shape) -> None:
    """All of them hold of a study that is done."""
    events = world.log.events
    scheduled_once(events)
    one_final_each(events)
    nothing_is_left_open(world)
    no_money_is_forgotten(world)
    few_at_once(events, shape)
    nothing_begins_in_a_pause(events)
    phases_follow(events)
    if not any(blow.what == "set" for blow in world.struck):
        pauses_end_in_time(events)


def entries_of(events: Sequence[Event]) -> dict[str, Entry]:
    """The schedule, by trial."""
    return {
        entry.trial_id: entry
        for event in events
        if isinstance(event, StudyScheduled)
        for entry in event.entries
    }


def scheduled_once(events: Sequence[Event]) -> None:
    """The schedule is said once, before the first trial."""
    kinds = [type(event) for event in events if isinstance(event, StudyScheduled | TrialBegun)]
    assert kinds.count(StudyScheduled) == 1
    assert kinds[0] is StudyScheduled


def one_final_each(events: Sequence[Event]) -> None:
    """No trial is final twice, and nothing of it comes after that."""
    final: set[str] = set()
    for event in events:
        if isinstance(event, TrialBegun | AttemptConcluded | AttemptAborted):
            assert event.trial_id.startswith(SMOKE) or event.trial_id not in final
            if isinstance(event, AttemptConcluded) and event.final:
                final.add(event.trial_id)


def nothing_is_left_open(world: World) -> None:
    """Every attempt that was begun is concluded or aborted, and its job is over, paid for once."""
    registry = fold(world.log.events)
    begun = [event for event in world.log.events if isinstance(event, TrialBegun)]
    assert sorted(event.job for event in begun) == sorted(registry.jobs)
    for trial in registry.trials.values():
        assert all(attempt.end for attempt in trial.attempts)
    assert all(job.ended for job in registry.jobs.values())
    assert not [one for one in world.going.values() if one.alive]


def no_money_is_forgotten(world: World) -> None:
    """What the study says that it has spent is what was paid."""
    spent = spent_usd(fold(world.log.events))
    assert math.isclose(spent, math.fsum(world.account.values()), abs_tol=1e-6)


def open_trials(events: Sequence[Event]) -> Iterator[list[str]]:
    """The trials with an attempt that goes on, after each event that changes them."""
    going: list[str] = []
    for event in events:
        if isinstance(event, TrialBegun):
            going.append(event.trial_id)
            yield list(going)
        elif isinstance(event, AttemptConcluded | AttemptAborted):
            going.remove(event.trial_id)


def few_at_once(events: Sequence[Event], shape: Shape) -> None:
    """Attempts at once are of different pairs of one block, and no more than may be."""
    entries = entries_of(events)
    most = shape.plan.get("concurrency", 1)
    for going in open_trials(events):
        known = [entries[trial.removeprefix(SMOKE)] for trial in going]
        assert len(going) == len(set(going)) <= most
        assert len({entry.block for entry in known}) == 1
        assert len({entry.run_index for entry in known}) == len(known)


def nothing_begins_in_a_pause(events: Sequence[Event]) -> None:
    """Between the beginning and the end of a pause no attempt begins, and nothing goes on."""
    paused, going = False, 0
    for event in events:
        match event:
            case PauseBegun():
                assert not going
                paused = True
            case PauseEnded():
                paused = False
            case TrialBegun():
                assert not paused
                going += 1
            case AttemptConcluded() | AttemptAborted():
                going -= 1
            case _:
                pass


def pauses_end_in_time(events: Sequence[Event]) -> None:
    """A pause ends at its time, or when the next runner looks, if there was none at its time."""
    pause: PauseBegun | None = None
    watched_from = None
    for event in events:
        match event:
            case PauseBegun():
                pause = event
                watched_from = event.at
            case RunnerStarted():
                watched_from = event.at
            case PauseEnded():
                assert pause
                assert watched_from
                assert event.at >= pause.until
                late = event.at - max(pause.until, watched_from)
                assert late <= timedelta(seconds=LOOK_S + MARGIN_S)
            case _:
                pass


def phases_follow(events: Sequence[Event]) -> None:
    """Nothing of the second phase begins before all of the first is final."""
    entries = entries_of(events)
    missing = {name for name, entry in entries.items() if entry.phase == 1}
    for event in events:
        if isinstance(event, AttemptConcluded) and event.final:
            missing.discard(event.trial_id)
        if isinstance(event, TrialBegun) and not event.smoke:
            assert entries[event.trial_id].phase == 1 or not missing


def first_begins(events: Sequence[Event]) -> list[str]:
    """The trials in the order in which they were first begun."""
    return list(dict.fromkeys(event.trial_id for event in events if isinstance(event, TrialBegun)))


def lanes(events: Sequence[Event]) -> list[list[str]]:
    """The trials of each pair in the order in which they were first begun; blocks by their order."""
    entries = entries_of(events)
    found: dict[tuple[str, int], list[str]] = {}
    for trial in first_begins(events):
        entry = entries[trial.removeprefix(SMOKE)]
        found.setdefault((entry.block, entry.run_index), []).append(trial)
    ordered = sorted(found, key=lambda lane: entries[found[lane][0]].order_index)
    return [found[lane] for lane in ordered]


def took_s(world: World, begin: type[Event], end: type[Event]) -> float:
    """Monotonic seconds between the first event of one kind and the first of another."""
    at: dict[type[Event], float] = {}
    for event, seconds in zip(world.log.events, world.log.times, strict=True):
        at.setdefault(type(event), seconds)
    return at[end] - at[begin]
