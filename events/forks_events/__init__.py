"""The facts: every event that a log can hold, and the line that it becomes.

Events are in the past tense and frozen; ``at`` is the time that was given to the decision. A file
a noun; the union of all of them is ``Event``.
"""

from forks_events.account import AccountEvent
from forks_events.bases import BaseEvent
from forks_events.jobs import JobEvent
from forks_events.quota import QuotaEvent
from forks_events.run import RunEvent
from forks_events.sessions import SessionEvent
from forks_events.stream import StreamEvent
from forks_events.study import StudyEvent
from forks_events.trials import RunnerEvent, TrialEvent

Said = StreamEvent | QuotaEvent
"""What a client's lines yield, in their order."""
Event = (
    RunEvent
    | BaseEvent
    | JobEvent
    | SessionEvent
    | Said
    | StudyEvent
    | TrialEvent
    | RunnerEvent
    | AccountEvent
)

__all__ = [
    "AccountEvent",
    "BaseEvent",
    "Event",
    "JobEvent",
    "QuotaEvent",
    "RunEvent",
    "RunnerEvent",
    "Said",
    "SessionEvent",
    "StreamEvent",
    "StudyEvent",
    "TrialEvent",
]
