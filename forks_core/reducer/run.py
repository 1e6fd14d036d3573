"""How the run moves."""

from typing import assert_never

from attrs import evolve as change

from forks_core.errors import IllegalHistory
from forks_core.registry import Run
from forks_events.run import OrchestratorSeen, RunConfigured, RunOpened, TailDropped


def evolve(
    run: Run | None, event: RunOpened | RunConfigured | OrchestratorSeen | TailDropped
) -> Run:
    """Move the run by one event; nothing is said of it before it is opened, which is once."""
    if isinstance(event, RunOpened):
        if run is not None:
            raise IllegalHistory("the run was opened before")
        return Run(opened=event)
    if run is None:
        raise IllegalHistory(f"{type(event).__name__} before the run was opened")
    match event:
        case RunConfigured():
            return change(run, configured=event)
        case OrchestratorSeen():
            return change(run, orchestrator_seen_at=event.at)
        case TailDropped():
            return change(run, tails_dropped=run.tails_dropped + 1)
        case _:
            assert_never(event)
