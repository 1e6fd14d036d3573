"""Continuing a fork: its session goes on with another brief."""

from datetime import datetime

from attrs import frozen

from forks_core.decider.fork import check_cap
from forks_core.decider.jobs import known
from forks_core.decider.launching import Call, Parent, Terms, created, is_asked_again
from forks_core.decider.run import seen, settings_of
from forks_core.errors import Refused
from forks_core.registry import Ended, Job, Registry
from forks_core.rules.cache import warmth
from forks_core.rules.naming import in_order
from forks_events import Event
from forks_events.words import Kind


@frozen(kw_only=True)
class Continue:
    """Go on in the session of this fork.

    Args:
        job: The fork; never a continue of it.
        call: The call; its session id is the fork's.
        max_s: Wall-time limit in seconds, or None for the run's.
    """

    job: str
    call: Call
    max_s: float | None


def continue_(command: Continue, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Create the job when the fork is over, however it ended, and a place is free.

    The base need not be active any more.
    """
    settings = settings_of(registry)
    if is_asked_again(registry, command.call):
        return ()
    fork = check_continue(registry, command.job)
    spec = fork.spec
    base = registry.base_of(fork)
    state, warm_until = warmth(base.last_hit if base else None, settings.ttl_s, now)
    parent = Parent(
        session=spec.parent_session or "",
        spent=registry.sessions.get(session_of(fork)) or spec.spent_before,
        context=spec.base_context,
        state=state,
        warm_until=warm_until,
    )
    terms = Terms(
        mode=spec.mode,
        paths=spec.paths,
        max_s=settings.max_minutes * 60 if command.max_s is None else command.max_s,
        continues=command.job,
    )
    job = created(
        registry,
        now,
        command.call,
        kind=Kind.CONTINUE,
        base=spec.base,
        fingerprint=spec.fingerprint,
        terms=terms,
        parent=parent,
    )
    return (*seen(registry, now), job)


def check_continue(registry: Registry, name: str) -> Job:
    """Return the fork.

    Raises:
        Refused: It is unknown, no fork, it or a continue of it still runs, or the cap is reached.
    """
    fork = known(registry, name)
    if fork.spec.kind is not Kind.FORK:
        raise Refused("continue takes a fork job", job=name, kind=fork.spec.kind.value)
    running = in_order(
        job.spec.job
        for job in registry.jobs.values()
        if not job.ended and name in {job.spec.job, job.spec.continues}
    )
    if running:
        raise Refused("the fork is still running", job=name, running=running)
    check_cap(registry)
    return fork


def session_of(fork: Job) -> str:
    """The session of a fork: the one that its client reported, else the one it was told."""
    return fork.state.end.session if isinstance(fork.state, Ended) else fork.spec.session
