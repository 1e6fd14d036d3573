"""Events of an account: the quota and the money of one credential, gathered from all runs.

They stand in a log of their own, beside those of the runs. Each run's log is read once: what of it
was forwarded, and up to where, is recorded in the same commit.
"""

from datetime import datetime

from attrs import frozen

from forks_events.quota import Reading
from forks_events.words import Kind


@frozen(kw_only=True)
class SpendBooked:
    """A call of the client ended, and its money was booked.

    Args:
        at: When it was booked.
        account: Label of the account.
        run: Id of the run.
        source: State folder of the run, absolute.
        seq: Number of the event, in the run's log, that ended the call.
        job: The call.
        ended_at: When it ended.
        who: Who spent: ``forks``, or ``study:`` and the study's id.
        purpose: What for: the kind of the call.
        block: The block of work, or None.
        model: The model that was asked for.
        cost_usd: Its cost in USD as the client reckons it; None: unknown, which is not zero.
        estimate_usd: What it cost at least, where that is unknown and could be reckoned; or None.
    """

    at: datetime
    account: str
    run: str
    source: str
    seq: int
    job: str
    ended_at: datetime
    who: str
    purpose: Kind
    block: str | None
    model: str
    cost_usd: float | None
    estimate_usd: float | None


@frozen(kw_only=True)
class QuotaForwarded:
    """A reading of a run was passed on.

    Args:
        at: When it was passed on.
        account: Label of the account.
        run: Id of the run.
        seq: Number of the event, in the run's log, that it is.
        job: The job whose client said it.
        recorded_at: When the run recorded it.
        seen_at: When the line came, or None.
        reading: What it said.
    """

    at: datetime
    account: str
    run: str
    seq: int
    job: str
    recorded_at: datetime
    seen_at: datetime | None
    reading: Reading


@frozen(kw_only=True)
class RunForwarded:
    """A run's log was forwarded up to an event.

    Args:
        at: When.
        run: Id of the run.
        seq: The last event that was looked at.
    """

    at: datetime
    run: str
    seq: int


AccountEvent = SpendBooked | QuotaForwarded | RunForwarded
