"""Events of a base: a session that is trained once and forked many times."""

from datetime import datetime

from attrs import frozen
from immutables import Map


@frozen(kw_only=True)
class BaseCreated:
    """A base was named and its training begins; a failed base of that name is replaced.

    Args:
        at: When.
        base: Name of the base.
        job: The train job.
        session: Session id that the client was told to use.
        fingerprint: The launch that trains it, and that its forks repeat.
        phase: The caller's phase, or None.
    """

    at: datetime
    base: str
    job: str
    session: str
    fingerprint: str
    phase: int | str | None


@frozen(kw_only=True)
class BaseTrained:
    """Training ended well: the base can be forked.

    Args:
        at: When.
        base: Name of the base.
        session: The session to fork.
        commit: HEAD of the working directory then, or None outside git.
        context_tokens: Prompt tokens of the training's last response, or None when not told.
        runtime: What the client reported of its surroundings, name to value (see StreamOpened).
    """

    at: datetime
    base: str
    session: str
    commit: str | None
    context_tokens: int | None
    runtime: Map[str, str]


@frozen(kw_only=True)
class BaseFailed:
    """Training ended in any other way."""

    at: datetime
    base: str


@frozen(kw_only=True)
class BaseHit:
    """A response read or wrote the base's prefix: its cache lives from then on.

    Args:
        at: When it was recorded.
        base: Name of the base.
        hit_at: When the response was seen.
    """

    at: datetime
    base: str
    hit_at: datetime


@frozen(kw_only=True)
class BaseRetired:
    """Nobody shall fork the base any more."""

    at: datetime
    base: str


BaseEvent = BaseCreated | BaseTrained | BaseFailed | BaseHit | BaseRetired
