"""Bases as rows for people and programs."""

from datetime import datetime
from typing import Any, assert_never

from forks_core.registry import Active, Base, Ended, Failed, Registry, Retired, Training
from forks_core.rules.cache import warmth
from forks_core.rules.naming import in_order, job_number
from forks_core.rules.usage import DIGITS
from forks_events.codec import unstructure
from forks_events.words import Kind

Row = dict[str, Any]

# Whether a base is due is advice that needs git counts; nothing counts them yet.
NOTHING_DUE: Row = {"rebase_due": False, "retrain_due": False, "reasons": []}


def base_status(base: Base) -> str:
    """The status as one word: training, active, failed or retired."""
    match base.state:
        case Training():
            return "training"
        case Active():
            return "active"
        case Failed():
            return "failed"
        case Retired():
            return "retired"
        case _:
            assert_never(base.state)


def base_row(registry: Registry, base: Base, ttl_s: int, now: datetime) -> Row:
    """A base with its warmth now; sessions and times as they are printed."""
    state, warm_until = warmth(base.last_hit, ttl_s, now)
    active = base.active
    session = active.session if active else base.session
    train = registry.jobs[base.job].state
    spent = registry.sessions.get(session)
    row = {
        "name": base.name,
        "status": base_status(base),
        "session": session,
        "cwd": registry.launches[base.fingerprint].cwd,
        "fingerprint": base.fingerprint,
        "base_commit": active.commit if active else None,
        "context_tokens": active.context_tokens if active else None,
        "training_cost_usd": train.end.cost_usd if isinstance(train, Ended) else None,
        "cost_cum_usd": round(spent.cost_usd, DIGITS) if spent else None,
        "last_hit": base.last_hit,
        "train_job": base.job,
        "forks": in_order(
            job.spec.job
            for job in registry.jobs.values()
            if job.spec.base == base.name
            and job.spec.kind is Kind.FORK
            # Earlier ones forked a failed base that had the name before.
            and job_number(job.spec.job) > job_number(base.job)
        ),
        "phase": base.phase,
        "created_at": base.created_at,
        "trained_at": active.trained_at if active else None,
        "base_state": state,
        "warm_until": warm_until,
    }
    return {**{key: unstructure(value) for key, value in row.items()}, **NOTHING_DUE}
