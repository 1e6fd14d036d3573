"""How a study moves: it is scheduled once."""

from forks_core.errors import IllegalHistory
from forks_events.study import StudyScheduled


def evolve(study: StudyScheduled | None, event: StudyScheduled) -> StudyScheduled:
    """Take the schedule."""
    if study is not None:
        raise IllegalHistory("the study was scheduled before")
    return event
