"""Events of a job: one call of the client, from the intent to the end."""

from datetime import datetime

from attrs import frozen

from forks_events.values import Estimate, Process, Spent, Usage
from forks_events.words import (
    Cache,
    ErrorKind,
    Flag,
    Kind,
    Mode,
    Reason,
    Status,
    UsageBasis,
    Warmth,
)


@frozen(kw_only=True)
class Text:
    """A text that lies in a file of the state folder: its SHA-256 and its length in bytes."""

    sha256: str
    bytes: int


@frozen(kw_only=True)
class JobCreated:
    """A call was decided: the intent, durable before anything is spawned.

    Args:
        at: When.
        job: Job id, ``j`` and four or more digits.
        request: Fresh id of the request that led to it: asked again, nothing more is created.
        kind: What it is for.
        base: The base that it trains, or that it or the fork that it continues was forked from;
            None: a trial that starts fresh.
        continues: The fork that it continues, or None.
        block: The caller's name for the work, or None.
        phase: The caller's phase, or None.
        mode: Alone or beside others; None for training.
        paths: Paths that the work may touch, or None when not told.
        session: Session id that the client is told to use.
        parent_session: The session that is, or was, forked; None for training.
        fingerprint: The launch.
        cwd: Where the client runs, when that is not where the launch says; or None.
        brief: The exact prompt; it lies in ``briefs/<sha256>.md``.
        brief_source: The file that the caller named.
        max_s: Wall-time limit in seconds, from the client's start.
        max_budget_usd: The client's own spending limit, or None.
        stagger_s: Longest wait for an earlier sibling's first response, in seconds; 0 is off.
        spent_before: The counters now of the session that is forked or continued, which this
            call's client may carry on.
        base_context: Context tokens of the base, or None.
        base_state: Warmth of the base now, or None for training.
        warm_until: When the base goes cold, or None.
        drift: Names of what differs from the launch as it was fixed.
        binary_version: The version that the client reports now, or None.
        head: HEAD of the working directory now, or None.
        forced: Whether a refusal was overridden.
    """

    at: datetime
    job: str
    request: str
    kind: Kind
    base: str | None
    continues: str | None
    block: str | None
    phase: int | str | None
    mode: Mode | None
    paths: tuple[str, ...] | None
    session: str
    parent_session: str | None
    fingerprint: str
    cwd: str | None
    brief: Text
    brief_source: str
    max_s: float
    max_budget_usd: float | None
    stagger_s: float
    spent_before: Spent | None
    base_context: int | None
    base_state: Warmth | None
    warm_until: datetime | None
    drift: tuple[str, ...]
    binary_version: str | None
    head: str | None
    forced: bool


@frozen(kw_only=True)
class JobLaunched:
    """The supervisor stands: its first act, durable before the client starts."""

    at: datetime
    job: str
    supervisor: Process


@frozen(kw_only=True)
class JobHeld:
    """The supervisor waits for an earlier job of the base to warm the cache."""

    at: datetime
    job: str
    behind: str


@frozen(kw_only=True)
class ClientStarted:
    """The client runs; time limits count from here."""

    at: datetime
    job: str
    client: Process


@frozen(kw_only=True)
class JobBeat:
    """A sign of life, said only when nothing else was said for a while.

    Args:
        at: When.
        job: The job.
        output_at: When the client last printed anything, or None.
        flags: Flags raised so far.
    """

    at: datetime
    job: str
    output_at: datetime | None
    flags: tuple[Flag, ...]


@frozen(kw_only=True)
class KillRequested:
    """Somebody wants the job ended; a supervisor that starts late then starts nothing."""

    at: datetime
    job: str
    reason: Reason


@frozen(kw_only=True)
class JobEnded:
    """The one commit point of a job: how it ended and what it cost.

    Args:
        at: When it was recorded.
        job: The job.
        status: How.
        reason: Why, unless ok or out of time.
        reason_detail: A word more: a result's subtype, an exit code, an error's class.
        error_kind: What went wrong in the client's terms.
        resets_at: When the limit that stopped it ends, where it is one and says so.
        flags: All flags, in the order they were raised.
        exit_code: The client's; negative for a signal; None when it never ended by itself.
        wall_s: Seconds from the client's start (or the launch, or the creation) to the end.
        session: The session id that the client reported, else the one it was told.
        turns: Distinct main-thread responses.
        num_turns: The client's own count.
        models_used: Models whose counters grew.
        usage: Tokens of this call alone; None when nothing was seen.
        usage_basis: How they follow from the counters; None: a lower bound, from the responses.
        cost_usd: Money of this call alone in USD; None is unknown, never zero.
        estimate: What it cost at least, where that is unknown and could be reckoned; or None.
        cache: The verdict on the base's cache; None for training or without any response.
        drift: Names of what differed: at the launch, and as the client reported it.
        denials: Names of the tools that were denied, one each time.
        note: Whether the fork wrote its note.
        raw: The client's whole output as it lies in ``raw/``; None when it printed nothing.
    """

    at: datetime
    job: str
    status: Status
    reason: Reason | None
    reason_detail: str | None
    error_kind: ErrorKind | None
    resets_at: datetime | None
    flags: tuple[Flag, ...]
    exit_code: int | None
    wall_s: float
    session: str
    turns: int
    num_turns: int | None
    models_used: tuple[str, ...]
    usage: Usage | None
    usage_basis: UsageBasis | None
    cost_usd: float | None
    estimate: Estimate | None
    cache: Cache | None
    drift: tuple[str, ...]
    denials: tuple[str, ...]
    note: bool
    raw: Text | None


@frozen(kw_only=True)
class JobDelivered:
    """A ``wait`` has shown the result: it is shown by ``wait`` once."""

    at: datetime
    job: str


@frozen(kw_only=True)
class JobSettled:
    """A ``wait`` was satisfied by it: ``wait --all`` no longer counts it in."""

    at: datetime
    job: str


JobEvent = (
    JobCreated
    | JobLaunched
    | JobHeld
    | ClientStarted
    | JobBeat
    | KillRequested
    | JobEnded
    | JobDelivered
    | JobSettled
)
