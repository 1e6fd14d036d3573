"""What is made of the recordings: the chain of train, fork and continue, version by version.

A version is one of those that are kept, or the path of a folder of recordings that lies elsewhere.
"""

import json
from typing import Any

import pytest

from forks_core.claude.errors import classify_stderr
from forks_core.claude.stream import parse
from forks_core.registry import Stream
from forks_core.rules.cache import verdict
from forks_core.rules.outcome import Conclusion, Imposed, conclude
from forks_core.rules.usage import Reckoning, reckon
from forks_events.values import Spent
from forks_events.words import Cache
from tests.claude.lines import JOB, MODEL, RECORDINGS, fold, recording

NEW, MIDDLE, OLD = "2.1.332", "2.1.197", "2.0.76"
EACH = pytest.mark.parametrize("version", [NEW, MIDDLE, OLD])
FORKS = ("fork", "fork-cache-miss", "fork-cache-partial")


def heard(version: str, scenario: str) -> Stream:
    """Sum a recording up."""
    return fold(parse(recording(version, scenario), JOB))


def meta(version: str, scenario: str) -> dict[str, Any]:
    """How the client exited then, and how it was called."""
    path = RECORDINGS / version / f"{scenario}.meta.json"
    told: dict[str, Any] = json.loads(path.read_text())
    return told


def lines(version: str, scenario: str) -> list[dict[str, Any]]:
    """What the client printed, line by line."""
    return [json.loads(line) for line in recording(version, scenario).splitlines()]


def before(version: str, scenario: str) -> Spent | None:
    """Give the parent's counters: the base's for a fork, the fork's for a continue."""
    if scenario in FORKS:
        return reckoned(version, "train").carry
    return reckoned(version, "fork").carry if scenario == "continue" else None


def reckoned(version: str, scenario: str) -> Reckoning:
    """Reckon the call's usage, along the chain of train, fork and continue."""
    return reckon(heard(version, scenario), before(version, scenario))


def told_session(version: str, scenario: str) -> str:
    """Give the session id that the client was told to use, or the one that it chose."""
    tail = meta(version, scenario)["argv_tail"]
    opened = heard(version, scenario).opened
    if "--session-id" in tail:
        return str(tail[tail.index("--session-id") + 1])
    if "--resume" in tail:
        return str(tail[tail.index("--resume") + 1])
    return (opened.session if opened else None) or "none"


def concluded(version: str, scenario: str, imposed: Imposed | None = None) -> Conclusion:
    """Conclude the job as its client exited."""
    told = meta(version, scenario)
    return conclude(
        heard(version, scenario),
        model=MODEL,
        session=told_session(version, scenario),
        models_used=reckoned(version, scenario).models_used,
        cost_usd=reckoned(version, scenario).cost_usd,
        exit_code=told["exit_code"],
        stderr_kind=classify_stderr(told["stderr"]),
        imposed=imposed,
        kill=None,
    )


def cache(version: str, scenario: str) -> Cache | None:
    """Judge the first response against the base's context."""
    base, call = heard(version, "train"), heard(version, scenario)
    assert base.last is not None
    return verdict(call.first.usage if call.first else None, base.last.usage.prompt)
