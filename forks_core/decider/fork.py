"""Forking a base."""

from datetime import datetime

from attrs import frozen

from forks_core.decider.launching import Call, Parent, Terms, created, is_asked_again
from forks_core.decider.run import seen, settings_of
from forks_core.errors import Refused
from forks_core.projections.bases import base_status
from forks_core.registry import Active, Base, Registry
from forks_core.rules.cache import warmth
from forks_core.rules.naming import in_order, note_name
from forks_events import Event
from forks_events.words import Kind, Mode

# What counts for the cap: calls that do work. A training must not wait for them, nor they for it.
LIMITED = frozenset({Kind.FORK, Kind.CONTINUE})


@frozen(kw_only=True)
class Fork:
    """Fork this base for a block of work.

    Args:
        base: Name of the base.
        call: The call.
        mode: Alone or beside others.
        paths: Paths that it may touch, or None when not told.
        max_s: Wall-time limit in seconds, or None for the run's.
        max_budget_usd: The client's own spending limit, or None.
        stagger_s: Longest wait for an earlier sibling, or None for the run's.
        force: Whether to fork a base that is not active.
    """

    base: str
    call: Call
    mode: Mode
    paths: tuple[str, ...] | None
    max_s: float | None
    max_budget_usd: float | None
    stagger_s: float | None
    force: bool


def fork(command: Fork, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Create the job when the base can be forked and a place under the cap is free."""
    settings = settings_of(registry)
    if is_asked_again(registry, command.call):
        return ()
    base = check_fork(registry, command.base, force=command.force)
    check_block(registry, command.call.block)
    terms = Terms(
        mode=command.mode,
        paths=command.paths,
        max_s=settings.max_minutes * 60 if command.max_s is None else command.max_s,
        max_budget_usd=command.max_budget_usd,
        stagger_s=settings.stagger_s if command.stagger_s is None else command.stagger_s,
        forced=command.force and not isinstance(base.state, Active),
    )
    job = created(
        registry,
        now,
        command.call,
        kind=Kind.FORK,
        base=base.name,
        fingerprint=base.fingerprint,
        terms=terms,
        parent=parent_of(registry, base, now),
    )
    return (*seen(registry, now), job)


def parent_of(registry: Registry, base: Base, now: datetime) -> Parent:
    """What a fork of a base starts from now."""
    active = base.active
    session = active.session if active else base.session
    state, warm_until = warmth(base.last_hit, settings_of(registry).ttl_s, now)
    return Parent(
        session=session,
        spent=registry.sessions.get(session),
        context=active.context_tokens if active else None,
        state=state,
        warm_until=warm_until,
    )


def check_fork(registry: Registry, name: str, *, force: bool, capped: bool = True) -> Base:
    """Return the base.

    Raises:
        Refused: It is unknown, or not active (and ``force`` is off), or the cap is reached.
    """
    base = registry.bases.get(name)
    if base is None:
        raise Refused("unknown base", base=name, bases=sorted(registry.bases))
    if not force and not isinstance(base.state, Active):
        raise Refused("base is not active", base=name, status=base_status(base))
    if capped:
        check_cap(registry)
    return base


def check_block(registry: Registry, block: str | None) -> None:
    """Refuse an empty block, and one whose note's file another block already owns."""
    if block is None or not block.strip():
        raise Refused("empty block", block=block)
    owners = {
        job.spec.block
        for job in registry.jobs.values()
        if job.spec.block and note_name(job.spec.block) == note_name(block)
    }
    if other := owners - {block}:
        raise Refused(
            "another block owns the note file", block=block, owner=min(other), note=note_name(block)
        )


def check_cap(registry: Registry) -> None:
    """Refuse when as many forks and continues run as may."""
    cap = settings_of(registry).parallel_cap
    running = in_order(
        job.spec.job for job in registry.jobs.values() if not job.ended and job.spec.kind in LIMITED
    )
    if len(running) >= cap:
        raise Refused("parallel cap reached", parallel_cap=cap, running=running)
