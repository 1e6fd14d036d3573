"""The trials of a study, and how its runner stands."""

from datetime import datetime

from attrs import field, frozen
from immutables import Map

from forks_events.trials import (
    AttemptAborted,
    AttemptConcluded,
    PauseBegun,
    RunnerStarted,
    StudyStopped,
    TrialBegun,
)


@frozen(kw_only=True)
class Attempt:
    """One attempt at a trial: how it began, and how it was judged; None while it goes on."""

    begun: TrialBegun
    end: AttemptConcluded | AttemptAborted | None = None


@frozen(kw_only=True)
class Trial:
    """A trial that was tried.

    Args:
        attempts: Its attempts, in order; only the last one may still go on.
    """

    attempts: tuple[Attempt, ...]

    @property
    def last(self) -> Attempt:
        """The last attempt."""
        return self.attempts[-1]

    @property
    def final(self) -> AttemptConcluded | None:
        """The judgement that the trial is over with, or None."""
        end = self.last.end
        return end if isinstance(end, AttemptConcluded) and end.final else None


@frozen(kw_only=True)
class Runner:
    """How the runner stands.

    Args:
        started: The last start, or None before any.
        stops: How often a stop was asked for since.
        pause: The pause that goes on, over restarts too, or None.
        waited: Trial to the attempt behind which it has waited.
        waited_reading: When the reading was taken that was waited for last, or None.
        stopped: How the last run ended, or None while one goes on.
    """

    started: RunnerStarted | None = None
    stops: int = 0
    pause: PauseBegun | None = None
    waited: Map[str, int] = field(factory=Map)
    waited_reading: datetime | None = None
    stopped: StudyStopped | None = None


IDLE = Runner()
