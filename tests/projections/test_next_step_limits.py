"""The gates one by one: the cutoff, the budget, the disk, and a quota that says stop."""

from datetime import timedelta
from typing import Any

import pytest
from immutables import Map

from forks_core.projections.steps import (
    Begin,
    Stop,
    Watch,
)
from forks_events.study import Overage
from forks_events.trials import StopReason
from tests.decider.world import START
from tests.fates import OK, fate
from tests.projections.stepping import PLAIN, SKILL, begins, failed, reads, reason_of, step
from tests.studies import Shape, begun, concluded, ended, opened, tried


class TestMoneyAndTime:
    """The cutoff, the budget and the disk."""

    @pytest.mark.rule("R2.2")
    def test_the_cutoff_is_inclusive(self) -> None:
        """Up to it attempts begin, from it on none."""
        world = opened(Shape(plan=Map(cutoff=START + timedelta(hours=1))))
        cutoff = START + timedelta(hours=1)
        assert step(world, now=cutoff - timedelta(microseconds=1)) == Begin(
            trial_id=PLAIN, attempt=1
        )
        assert step(world, now=cutoff) == Stop(reason=StopReason.TIME, detail="the cutoff is past")

    @pytest.mark.rule("R2.3")
    def test_the_budget_is_inclusive(self) -> None:
        """What was spent and what an attempt may spend must not come to more than the cap."""
        plan: Map[str, Any] = Map(max_budget_usd=0.5, budget_cap_usd=0.6)
        world = opened(Shape(plan=plan))
        tried(world, PLAIN)
        begins(world, SKILL)
        world = opened(Shape(plan=plan.set("budget_cap_usd", 0.599999)))
        tried(world, PLAIN)
        assert reason_of(step(world)) is StopReason.BUDGET

    @pytest.mark.rule("R2.3")
    def test_what_nobody_told_the_cost_of(self) -> None:
        """A call without a result may have spent all that it was allowed."""
        plan: Map[str, Any] = Map(max_budget_usd=0.5, budget_cap_usd=0.505)
        world = opened(Shape(plan=plan))
        tried(world, PLAIN, fate("timeout", world.now))
        assert step(world) == Stop(
            reason=StopReason.BUDGET, detail="0.500000 USD of 0.505, and 0.5 a trial"
        )

    @pytest.mark.rule("R2.3")
    def test_what_goes_on_may_spend_all(self) -> None:
        """An attempt that goes on is reckoned with what it may spend."""
        plan: Map[str, Any] = Map(max_budget_usd=0.5, budget_cap_usd=1.0, concurrency=2)
        world = opened(Shape(phase1=2, plan=plan))
        begun(world, PLAIN)
        assert isinstance(step(world), Begin)
        world = opened(Shape(phase1=2, plan=plan.set("budget_cap_usd", 0.9)))
        job = begun(world, PLAIN)
        assert step(world) == Watch()
        ended(world, job, OK)
        concluded(world, PLAIN)
        assert isinstance(step(world), Begin)

    @pytest.mark.rule("R2.3")
    def test_without_a_budget(self) -> None:
        """Where nothing limits an attempt, nothing is reckoned with."""
        plan: Map[str, Any] = Map(max_budget_usd=None, concurrency=2)
        world = opened(Shape(phase1=2, plan=plan))
        begun(world, PLAIN)
        assert isinstance(step(world), Begin)

    @pytest.mark.rule("R2.4")
    def test_the_disk(self) -> None:
        """As much as the study needs is enough."""
        world = opened(Shape(plan=Map(min_free_gb=3.0)))
        assert isinstance(step(world, free_gb=3.0), Begin)
        assert step(world, free_gb=2.94) == Stop(reason=StopReason.DISK, detail="2.9 GB free")


class TestQuota:
    """The quota says stop."""

    @pytest.mark.rule("R2.5", "R6.5")
    def test_the_seven_day_window(self) -> None:
        """A window that is used up stops the run, and tells when coming back will do."""
        world = opened()
        reads(world, seven_day=(0.96, 600))
        assert step(world) == Stop(
            reason=StopReason.QUOTA,
            detail="seven_day utilization 0.960 >= 0.95",
            retry_at=world.now + timedelta(seconds=600),
        )
        world.later(600)
        begins(world, PLAIN)

    @pytest.mark.rule("R2.5")
    def test_the_share_is_the_study_s(self) -> None:
        """It stops at the share that the study says."""
        world = opened(Shape(plan=Map(seven_day_stop=0.5)))
        reads(world, seven_day=0.49)
        begins(world, PLAIN)
        reads(world, seven_day=(0.5, 600))
        found = step(world)
        assert isinstance(found, Stop)
        assert found.reason is StopReason.QUOTA
        assert found.retry_at == world.now + timedelta(seconds=600)

    @pytest.mark.rule("R2.5")
    def test_overage(self) -> None:
        """Where the account pays for what goes beyond, the study says whether to go on."""
        rejected: dict[str, Any] = {
            "status": "rejected",
            "type": "five_hour",
            "is_using_overage": True,
        }
        for overage, goes in ((Overage.STOP, False), (Overage.GO, True)):
            world = opened(Shape(plan=Map(overage=overage)))
            reads(world, five_hour=1.0, **rejected)
            assert isinstance(step(world), Begin if goes else Stop)

    @pytest.mark.rule("R2.5", "R3.2")
    def test_a_rate_limit_that_stops(self) -> None:
        """Behind a rate limit that nothing but days will end, the run stops, the trial pending."""
        world = opened()
        stopped = failed(world, "seven")
        assert isinstance(stopped, Stop)
        assert stopped.reason is StopReason.QUOTA
        assert stopped.retry_at == world.registry.trials[PLAIN].last.end.resets_at  # type: ignore[union-attr]
        assert world.registry.trials[PLAIN].final is None
