"""Training a base."""

from datetime import datetime

from attrs import frozen

from forks_core.decider.launching import Call, Terms, created, is_asked_again
from forks_core.decider.run import configured_of, seen, settings_of
from forks_core.errors import Refused
from forks_core.projections.bases import base_status
from forks_core.registry import Failed, Registry
from forks_core.rules.naming import BASE_NAME, JOB_ID
from forks_events import Event
from forks_events.bases import BaseCreated
from forks_events.words import Kind


@frozen(kw_only=True)
class Train:
    """Train a base of this name by this call."""

    base: str
    call: Call


def train(command: Train, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Create the base and its job; only a failed base gives its name back."""
    settings = settings_of(registry)
    if is_asked_again(registry, command.call):
        return ()
    check_train(registry, command.base)
    fingerprint = launch_of(registry, command.base)
    job = created(
        registry,
        now,
        command.call,
        kind=Kind.TRAIN,
        base=command.base,
        fingerprint=fingerprint,
        terms=Terms(max_s=settings.max_minutes * 60),
    )
    base = BaseCreated(
        at=now,
        base=command.base,
        job=job.job,
        session=job.session,
        fingerprint=fingerprint,
        phase=job.phase,
    )
    return (*seen(registry, now), job, base)


def launch_of(registry: Registry, base: str) -> str:
    """The launch that a base is trained by: in a study that of the arm that forks it."""
    arms = registry.study.plan.arms if registry.study else ()
    of_arm = (arm.fingerprint for arm in arms if arm.base == base)
    return next(of_arm, configured_of(registry).fingerprint)


def check_train(registry: Registry, base: str) -> None:
    """Refuse a bad name, and one that a base has which did not fail."""
    if not BASE_NAME.fullmatch(base):
        raise Refused("bad base name: letters, digits and . _ - only", base=base)
    if JOB_ID.fullmatch(base):
        # Whoever asks for it by its name would be shown the job.
        raise Refused("bad base name: it is the form of a job's id", base=base)
    known = registry.bases.get(base)
    if known and not isinstance(known.state, Failed):
        raise Refused("base exists", base=base, status=base_status(known))
