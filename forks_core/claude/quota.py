"""A rate limit line: what the client was told of its quota, brought to one form.

Newer clients tell of every window each time, older ones give the utilization of the window that they
name, and often none while all is well: that says nothing. ``overageStatus`` is about what may be
paid for beyond, and no limit.
"""

from datetime import datetime

from immutables import Map

from forks_core.claude import fields
from forks_core.claude.fields import Json
from forks_events.quota import Reading, Window


def read(line: Json) -> Reading:
    """Read a rate limit line; what it does not tell is None."""
    info = fields.child(line, "rate_limit_info")
    kind = fields.name(info, "rateLimitType")
    resets_at = fields.moment(info, "resetsAt")
    return Reading(
        status=fields.name(info, "status"),
        type=kind,
        resets_at=resets_at,
        is_using_overage=info.get("isUsingOverage") is True,
        windows=Map(_single(info, kind, resets_at) | _windows(info)),
    )


def _windows(info: Json) -> dict[str, Window]:
    told = fields.child(info, "unifiedWindows")
    return {
        fields.clean(name)[: fields.NAME_LENGTH]: Window(
            utilization=fields.money(window, "utilization"),
            resets_at=fields.moment(window, "resetsAt"),
        )
        for name, window in told.items()
        if isinstance(window, dict)
    }


def _single(info: Json, kind: str | None, resets_at: datetime | None) -> dict[str, Window]:
    utilization = fields.money(info, "utilization")
    if kind is None or (utilization is None and resets_at is None):
        return {}
    return {kind: Window(utilization=utilization, resets_at=resets_at)}
