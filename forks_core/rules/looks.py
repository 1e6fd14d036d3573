"""What is looked at before a study is run, as far as its plan alone says: cutoff, budget, arms, pins."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import Enum
from itertools import combinations

from attrs import frozen

from forks_core.rules.budget import budget_allows
from forks_core.rules.cutoff import past_cutoff
from forks_core.rules.pins import check_pins
from forks_core.rules.quota import LaunchGate, Launching
from forks_events.codec import unstructure
from forks_events.study import Plan

QUOTA, CUTOFF, DISK, PIN = "quota", "cutoff", "disk", "pin:"
GATES = frozenset({QUOTA, DISK})
"""What a run asks again before each attempt, by gates of its own."""


class Found(Enum):
    """What a look came to."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    WARN = "warn"
    FAIL = "fail"


@frozen(kw_only=True)
class Look:
    """One thing that was looked at.

    Args:
        name: What; a failure is accepted by this name.
        found: What it came to.
        detail: A word more.
    """

    name: str
    found: Found
    detail: str


def plan_looks(plan: Plan, now: datetime) -> Iterator[Look]:
    """Whether trials can still begin, can be paid, and are of arms that differ."""
    is_past = past_cutoff(plan.cutoff, now)
    told = str(unstructure(plan.cutoff) or "none")
    yield Look(
        name=CUTOFF,
        # The run itself ends by it, and says so: TIME.
        found=Found.WARN if is_past else Found.PASS,
        detail=f"past: {told}" if is_past else told,
    )
    yield from _budget_look(plan)
    yield from _arms_look(plan)


def _budget_look(plan: Plan) -> Iterator[Look]:
    most, cap = plan.max_budget_usd, plan.budget_cap_usd
    if cap is not None and not budget_allows(0.0, most, cap):
        yield Look(
            name="budget",
            found=Found.WARN,
            detail=f"no trial can begin: each may spend {most:g} USD, and all of them {cap:g}",
        )


def _arms_look(plan: Plan) -> Iterator[Look]:
    alike = [
        f"{one.name} and {other.name}"
        for one, other in combinations(plan.arms, 2)
        if (one.fingerprint, one.base) == (other.fingerprint, other.base)
    ]
    if alike:
        yield Look(
            name="arms", found=Found.WARN, detail=f"launched alike, to the byte: {', '.join(alike)}"
        )


def pin_looks(plan: Plan, found: Mapping[str, str]) -> Iterator[Look]:
    """Each pin, held against what was observed."""
    # A map has no order that could be told twice.
    for pin in check_pins(dict(sorted(plan.pins.items())), found):
        yield Look(
            name=f"{PIN}{pin.name}",
            found=Found.PASS if pin.matches else Found.FAIL,
            detail=f"{pin.observed}" if pin.matches else f"{pin.observed}, not {pin.expected}",
        )


def quota_look(gate: LaunchGate) -> Look:
    """What the launch gate says."""
    found = {
        Launching.GO: Found.PASS,
        Launching.UNKNOWN: Found.WARN,
        Launching.GATED: Found.FAIL,
    }
    # Nothing is asked of the API here: what the gate leaves open shows in the first attempt.
    detail = gate.reason.replace("the preflight will probe", "the first attempt will tell")
    return Look(name=QUOTA, found=found[gate.action], detail=detail)
