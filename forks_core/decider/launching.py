"""What every command that launches a call has in common."""

from datetime import datetime

from attrs import frozen

from forks_core.registry import Registry
from forks_core.rules.naming import next_job
from forks_events.jobs import JobCreated, Text
from forks_events.values import Spent
from forks_events.words import Kind, Mode, Warmth


@frozen(kw_only=True)
class Call:
    """A call to be launched, as far as the caller and the world decide it.

    Args:
        request: Fresh id of this request.
        session: Session id for it: fresh, or that of the fork that is continued.
        block: The caller's name for the work, or None.
        phase: The caller's phase, or None.
        brief: The exact prompt, which lies in the state folder already.
        brief_source: The file that the caller named.
        drift: What of the launch differs now.
        binary_version: The version that the client reports now.
        head: HEAD of the working directory now, or None.
    """

    request: str
    session: str
    block: str | None
    phase: int | str | None
    brief: Text
    brief_source: str
    drift: tuple[str, ...]
    binary_version: str | None
    head: str | None


@frozen(kw_only=True)
class Parent:
    """What a call starts from.

    Args:
        session: The session that is, or was, forked.
        spent: Its counters, or None when none are known.
        context: Its context tokens, or None.
        state: Warmth of its prefix.
        warm_until: When it goes cold, or None.
    """

    session: str
    spent: Spent | None
    context: int | None
    state: Warmth
    warm_until: datetime | None


@frozen(kw_only=True)
class Terms:
    """On what terms a call runs.

    Args:
        mode: Alone or beside others; None for training.
        paths: Paths that it may touch, or None.
        max_s: Wall-time limit in seconds.
        max_budget_usd: The client's own spending limit, or None.
        stagger_s: Longest wait for an earlier sibling, in seconds.
        forced: Whether a refusal was overridden.
        continues: The fork that is continued, or None.
        cwd: Where the client runs, when that is not where the launch says; or None.
    """

    max_s: float
    mode: Mode | None = None
    paths: tuple[str, ...] | None = None
    max_budget_usd: float | None = None
    stagger_s: float = 0.0
    forced: bool = False
    continues: str | None = None
    cwd: str | None = None


def is_asked_again(registry: Registry, call: Call) -> bool:
    """Whether this very call was decided before: the id of a request is fresh."""
    return any(job.spec.request == call.request for job in registry.jobs.values())


def created(
    registry: Registry,
    now: datetime,
    call: Call,
    *,
    kind: Kind,
    base: str | None,
    fingerprint: str,
    terms: Terms,
    parent: Parent | None = None,
) -> JobCreated:
    """Make the event of a new job, under the next free id."""
    return JobCreated(
        at=now,
        job=next_job(registry.jobs),
        request=call.request,
        kind=kind,
        base=base,
        continues=terms.continues,
        block=call.block,
        phase=call.phase,
        mode=terms.mode,
        paths=terms.paths,
        session=call.session,
        parent_session=parent.session if parent else None,
        fingerprint=fingerprint,
        cwd=terms.cwd,
        brief=call.brief,
        brief_source=call.brief_source,
        max_s=terms.max_s,
        max_budget_usd=terms.max_budget_usd,
        stagger_s=terms.stagger_s,
        spent_before=parent.spent if parent else None,
        base_context=parent.context if parent else None,
        base_state=parent.state if parent else None,
        warm_until=parent.warm_until if parent else None,
        drift=call.drift,
        binary_version=call.binary_version,
        head=call.head,
        forced=terms.forced,
    )
