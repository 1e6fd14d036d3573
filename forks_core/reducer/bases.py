"""How the bases move: training, then active or failed, then perhaps retired, for good.

Only a failed name is trained anew.
"""

from typing import assert_never

from attrs import evolve as change
from immutables import MapMutation

from forks_core.errors import IllegalHistory
from forks_core.registry import Active, Base, Failed, Retired, Training
from forks_events.bases import (
    BaseCreated,
    BaseEvent,
    BaseFailed,
    BaseHit,
    BaseRetired,
    BaseTrained,
)


def evolve(bases: MapMutation[str, Base], event: BaseEvent) -> None:
    """Move a base by one event."""
    if isinstance(event, BaseCreated):
        bases[event.base] = _created(bases.get(event.base), event)
        return
    base = bases.get(event.base)
    if base is None:
        raise IllegalHistory(f"{type(event).__name__} of a base that was never created")
    match event:
        case BaseTrained():
            bases[event.base] = change(base, state=_trained(base, event))
        case BaseFailed():
            _must_train(base, event)
            bases[event.base] = change(base, state=Failed(failed_at=event.at))
        case BaseHit():
            if base.last_hit is None or event.hit_at > base.last_hit:
                bases[event.base] = change(base, last_hit=event.hit_at)
        case BaseRetired():
            if isinstance(base.state, Retired):
                raise IllegalHistory(f"base {base.name} was retired before")
            bases[event.base] = change(base, state=Retired(retired_at=event.at, was=base.state))
        case _:
            assert_never(event)


def _created(before: Base | None, event: BaseCreated) -> Base:
    if before is not None and not isinstance(before.state, Failed):
        raise IllegalHistory(f"base {event.base} was created before, and did not fail")
    return Base(
        name=event.base,
        job=event.job,
        session=event.session,
        fingerprint=event.fingerprint,
        phase=event.phase,
        created_at=event.at,
        state=Training(),
    )


def _trained(base: Base, event: BaseTrained) -> Active:
    _must_train(base, event)
    return Active(
        session=event.session,
        commit=event.commit,
        context_tokens=event.context_tokens,
        runtime=event.runtime,
        trained_at=event.at,
    )


def _must_train(base: Base, event: BaseEvent) -> None:
    if not isinstance(base.state, Training):
        raise IllegalHistory(f"{type(event).__name__} of base {base.name}, which is not training")
