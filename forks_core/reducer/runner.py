"""How the runner of a study moves: it starts, pauses, and stops."""

from typing import assert_never

from attrs import evolve as change

from forks_core.errors import IllegalHistory
from forks_core.registry.trials import Runner
from forks_events.trials import (
    PauseBegun,
    PauseEnded,
    RunnerEvent,
    RunnerStarted,
    StopRequested,
    StudyStopped,
)


def evolve(runner: Runner, event: RunnerEvent) -> Runner:
    """Move the runner by one event."""
    match event:
        case RunnerStarted():
            return change(runner, started=event, stops=0, stopped=None)
        case StopRequested():
            return change(runner, stops=runner.stops + 1)
        case PauseBegun():
            if runner.pause is not None:
                raise IllegalHistory("a pause began within a pause")
            return change(runner, pause=event)
        case PauseEnded():
            return _unpaused(runner)
        case StudyStopped():
            return change(runner, stopped=event)
        case _:
            assert_never(event)


def _unpaused(runner: Runner) -> Runner:
    pause = runner.pause
    if pause is None:
        raise IllegalHistory("a pause ended that never began")
    waited = runner.waited
    if pause.trial_id is not None and pause.attempt is not None:
        waited = waited.set(pause.trial_id, pause.attempt)
    return change(
        runner,
        pause=None,
        waited=waited,
        waited_reading=pause.reading_at or runner.waited_reading,
    )
