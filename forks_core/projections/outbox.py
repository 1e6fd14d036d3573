"""What a run's log says to its account: its readings, and what its calls have cost."""

from collections.abc import Iterable

from forks_core.registry import Job, Registry
from forks_events.account import QuotaForwarded, SpendBooked
from forks_events.envelope import Envelope
from forks_events.jobs import JobEnded
from forks_events.quota import QuotaRead

FORKS = "forks"
Entry = SpendBooked | QuotaForwarded


def outbox(envelopes: Iterable[Envelope], registry: Registry, source: str) -> tuple[Entry, ...]:
    """Give what a piece of a run's log has to pass on, in its order.

    Args:
        envelopes: The piece.
        registry: The run's state, as of that piece or later; it was configured.
        source: The run's state folder.
    """
    found = (_entry(envelope, registry, source) for envelope in envelopes)
    return tuple(entry for entry in found if entry is not None)


def _entry(envelope: Envelope, registry: Registry, source: str) -> Entry | None:
    run, event = registry.run, envelope.event
    if run is None or run.configured is None:
        return None
    account = run.configured.settings.account
    match event:
        case QuotaRead():
            return QuotaForwarded(
                at=event.at,
                account=account,
                run=run.opened.run,
                seq=envelope.seq,
                job=event.job,
                recorded_at=event.at,
                seen_at=event.seen_at,
                reading=event.reading,
            )
        case JobEnded():
            job = registry.jobs[event.job]
            return SpendBooked(
                at=event.at,
                account=account,
                run=run.opened.run,
                source=source,
                seq=envelope.seq,
                job=event.job,
                ended_at=event.at,
                who=_who(registry),
                purpose=job.spec.kind,
                block=job.spec.block,
                model=_model(registry, job),
                cost_usd=event.cost_usd,
                estimate_usd=event.estimate.usd if event.estimate else None,
            )
        case _:
            return None


def _who(registry: Registry) -> str:
    return f"study:{registry.study.plan.id}" if registry.study else FORKS


def _model(registry: Registry, job: Job) -> str:
    return registry.launches[job.spec.fingerprint].model
