"""Events of a session: what its client has counted so far."""

from datetime import datetime

from attrs import frozen

from forks_events.values import Spent


@frozen(kw_only=True)
class SessionCounted:
    """A call on the session ended, and its counters stand where its client would carry them on."""

    at: datetime
    session: str
    spent: Spent


SessionEvent = SessionCounted
