"""Calls and their ends, made small."""

from typing import Any

from immutables import Map

from forks_core.claude.stream import EPOCH
from forks_core.registry import Stream
from forks_core.rules.outcome import Conclusion, conclude
from forks_events.jobs import KillRequested
from forks_events.values import Counters, Spent, Usage
from forks_events.words import Reason, Status
from tests.claude.lines import (
    JOB,
    MODEL,
    SESSION,
    init,
    result,
    says,
    stream,
    system,
    usage,
)

OLD, NEW, UNKNOWN = "2.1.276", "2.1.277", "nightly"
BASE = Spent(
    cost_usd=0.5, models=Map({MODEL: Counters(usage=Usage(input=10, cache_creation=1000))})
)


def call(
    cost: float | None, models: dict[str, Any], *seen: int, version: str = NEW, **fields: Any
) -> Any:
    """Sum up a call of so many responses, each with its prompt tokens."""
    turns = [says(f"m{at}", usage(tokens)) for at, tokens in enumerate(seen)]
    return stream(init(claude_code_version=version), *turns, result(cost, models, **fields))


OK = Conclusion(status=Status.OK)
KILL = KillRequested(at=EPOCH, job=JOB, reason=Reason.KILL)
GOOD = (init(), says(), result())
RESTRICTED = system(
    "informational", model_restriction={"requested_model": MODEL, "effective_model": "other"}
)


def end(heard: Stream, **told: Any) -> Conclusion:
    """Conclude a job whose client exited with 0, unless told otherwise."""
    witnesses = {
        "model": MODEL,
        "session": SESSION,
        "models_used": (MODEL,) if heard.turns else (),
        "exit_code": 0,
        "stderr_kind": None,
        "imposed": None,
        "kill": None,
    }
    return conclude(heard, **(witnesses | told))
