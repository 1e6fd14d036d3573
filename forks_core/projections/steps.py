"""What the runner of a study can do next, and what it sees of the world."""

from datetime import datetime

from attrs import field, frozen
from immutables import Map

from forks_events.trials import StopReason, Wait

AT_ONCE = 2
"""Asked for as often, a stop also ends what goes on."""


@frozen(kw_only=True)
class Stop:
    """The run is over."""

    reason: StopReason
    detail: str | None = None
    retry_at: datetime | None = None


@frozen(kw_only=True)
class View:
    """What the runner sees of the world.

    Args:
        now: The time.
        free_gb: Free disk, in GB.
        stops: How often a stop was asked for by a signal.
        smoke: Whether only to try things out.
        tried: The last attempt at each trial that was over before this run: what was given up
            then is tried anew, and so is what was only tried out.
        closed: How the run ends when what goes on is over: nothing more is begun. None: it is open.
    """

    now: datetime
    free_gb: float
    stops: int
    smoke: bool = False
    tried: Map[str, int] = field(factory=Map)
    closed: Stop | None = None


@frozen(kw_only=True)
class Judge:
    """Judge an attempt whose job is over."""

    trial_id: str
    attempt: int
    job: str


@frozen(kw_only=True)
class Abort:
    """An attempt was broken off: its trial stays pending."""

    trial_id: str
    attempt: int


@frozen(kw_only=True)
class EndJobs:
    """End these jobs: a stop was asked for twice."""

    jobs: tuple[str, ...]


@frozen(kw_only=True)
class Begin:
    """Begin an attempt."""

    trial_id: str
    attempt: int


@frozen(kw_only=True)
class Pause:
    """Begin a pause."""

    wait: Wait
    until: datetime
    trial_id: str | None = None
    attempt: int | None = None


@frozen(kw_only=True)
class Rest:
    """The pause goes on."""

    until: datetime


@frozen(kw_only=True)
class Watch:
    """Attempts go on, and nothing else can be done."""


Step = Judge | Abort | EndJobs | Begin | Pause | Rest | Watch | Stop
