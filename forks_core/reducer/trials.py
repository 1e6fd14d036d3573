"""How the trials move: one attempt after the other, and nothing after a final one.

A smoke trial never counts, so it may be tried again for ever.
"""

from typing import assert_never

from attrs import evolve as change
from immutables import MapMutation

from forks_core.errors import IllegalHistory
from forks_core.registry.trials import Attempt, Trial
from forks_events.trials import AttemptAborted, AttemptConcluded, TrialBegun, TrialEvent


def evolve(trials: MapMutation[str, Trial], event: TrialEvent) -> None:
    """Move a trial by one event."""
    known = trials.get(event.trial_id)
    match event:
        case TrialBegun():
            trials[event.trial_id] = _begun(known, event)
        case AttemptConcluded() | AttemptAborted():
            trials[event.trial_id] = _ended(known, event)
        case _:
            assert_never(event)


def _begun(known: Trial | None, event: TrialBegun) -> Trial:
    attempts = known.attempts if known else ()
    over = known is not None and known.final is not None and not event.smoke
    if event.attempt != len(attempts) + 1 or over or (known and known.last.end is None):
        raise IllegalHistory(f"attempt {event.attempt} at {event.trial_id} does not follow")
    return Trial(attempts=(*attempts, Attempt(begun=event)))


def _ended(known: Trial | None, event: AttemptConcluded | AttemptAborted) -> Trial:
    if known is None or known.last.end is not None or known.last.begun.attempt != event.attempt:
        raise IllegalHistory(f"attempt {event.attempt} at {event.trial_id} does not go on")
    return Trial(attempts=(*known.attempts[:-1], change(known.last, end=event)))
