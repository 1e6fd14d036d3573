"""What a plan alone says of whether a study can be run."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.rules.looks import Found, Look, pin_looks, plan_looks, quota_look
from forks_core.rules.quota import LaunchGate, Launching
from forks_events.study import Arm
from tests.decider.world import START
from tests.histories import PLAN

DAY = timedelta(days=1)
FINE: Map[str, Any] = Map(cutoff=None, max_budget_usd=6.0, budget_cap_usd=None)


def looks(**fields: Any) -> dict[str, Look]:
    """What is looked at of a plan that is fine but for this."""
    plan = evolve(PLAN, **FINE.update(fields))
    return {look.name: look for look in plan_looks(plan, START)}


@pytest.mark.rule("R7.1")
class TestThePlan:
    """What is in order is not told of, but for the cutoff."""

    def test_fine(self) -> None:
        """Without a cutoff, with a budget, and with arms that differ."""
        assert looks() == {"cutoff": Look(name="cutoff", found=Found.PASS, detail="none")}

    @pytest.mark.rule("A9.2")
    @pytest.mark.parametrize(
        ("ahead", "found"), [(DAY, Found.PASS), (timedelta(), Found.WARN), (-DAY, Found.WARN)]
    )
    def test_cutoff(self, ahead: timedelta, found: Found) -> None:
        """At the cutoff it is past."""
        look = looks(cutoff=START + ahead)["cutoff"]
        assert (look.found, "past" in look.detail) == (found, found is Found.WARN)
        assert f"{START + ahead:%Y-%m-%d}" in look.detail

    @pytest.mark.rule("A10.6")
    @pytest.mark.parametrize(("cap", "warns"), [(6.0, False), (5.999999, True), (0.5, True)])
    def test_a_budget_for_no_trial(self, cap: float, warns: bool) -> None:  # noqa: FBT001
        """A cap below what one trial may spend lets none begin: a warning, with both."""
        look = looks(budget_cap_usd=cap).get("budget")
        assert (look is not None) is warns
        if look is not None:
            assert look.found is Found.WARN
            assert f"{cap:g}" in look.detail
            assert "6 USD" in look.detail

    def test_arms_alike(self) -> None:
        """Arms of one launch and one base are told in pairs; another base is another arm."""
        arms = [Arm(name=name, fingerprint="f" * 64, base=None) for name in ("a", "b", "c")]
        look = looks(arms=(*arms[:2], evolve(arms[2], fingerprint="e" * 64)))["arms"]
        assert (look.found, look.detail) == (Found.WARN, "launched alike, to the byte: a and b")
        assert looks(arms=tuple(arms))["arms"].detail.endswith(": a and b, a and c, b and c")
        assert "arms" not in looks(arms=(arms[0], evolve(arms[1], base="trained")))


@pytest.mark.rule("A11.1", "A11.3", "R7.1")
def test_pins() -> None:
    """Each is a look of its own, by its name, with what was observed."""
    plan = evolve(PLAN, pins=Map(model="m", client_version="2", other="1"))
    told = list(pin_looks(plan, {"model": "m", "client_version": "1"}))
    assert [(look.name, look.found, look.detail) for look in told] == [
        ("pin:client_version", Found.FAIL, "1, not 2"),
        ("pin:model", Found.PASS, "m"),
        ("pin:other", Found.FAIL, "None, not 1"),
    ]


@pytest.mark.rule("R7.2")
@pytest.mark.parametrize(
    ("action", "found"),
    [
        (Launching.GO, Found.PASS),
        (Launching.UNKNOWN, Found.WARN),
        (Launching.GATED, Found.FAIL),
    ],
)
def test_quota(action: Launching, found: Found) -> None:
    """What the gate leaves open is a warning, and nobody says that something more is done."""
    reason = "none on file; the preflight will probe"
    look = quota_look(LaunchGate(action=action, reason=reason))
    assert (look.name, look.found) == ("quota", found)
    assert look.detail == "none on file; the first attempt will tell"
