"""An API on loopback for the real client: no network, no account, no cost.

`LoopbackApi` answers what the client asks of the Messages API, with answers that a test or a
demonstration chooses, and with a prompt cache that is earned by requests it has seen finished.
"""

from forks_core.system.loopback.answers import (
    Answer,
    Call,
    Quota,
    call,
    overload,
    refuse_token,
    reject,
    run,
    say,
)
from forks_core.system.loopback.prefix import Request, Usage
from forks_core.system.loopback.server import LoopbackApi

__all__ = [
    "Answer",
    "Call",
    "LoopbackApi",
    "Quota",
    "Request",
    "Usage",
    "call",
    "overload",
    "refuse_token",
    "reject",
    "run",
    "say",
]
