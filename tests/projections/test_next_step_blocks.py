"""Which trial is next: blocks in order, pairs at once, the second phase, parts of a study."""

from typing import Any

import pytest
from immutables import Map

from forks_core.decider.trials import AbortAttempt
from forks_core.projections.steps import Begin, Judge, Pause, Step, Stop, Watch
from forks_core.rules.schedule import flat, only
from forks_events.trials import StopReason
from tests.decider.world import START, World
from tests.fates import OK, fate
from tests.projections.stepping import PLAIN, SKILL, begins, resumed, step
from tests.studies import Shape, begun, blocks_of, concluded, ended, finish, opened, tried
from tests.studies import begun as begin

DONE = Stop(reason=StopReason.DONE)


def until_done(world: World) -> list[str]:
    """Do all that is said to be next, one attempt after the other; tell the trials."""
    names: list[str] = []
    while isinstance(found := step(world), Begin):
        tried(world, found.trial_id)
        names.append(found.trial_id)
    assert found == DONE
    return names


class TestOrder:
    """Blocks in order, trials in order."""

    @pytest.mark.rule("R6.1")
    def test_the_schedule_is_the_order(self) -> None:
        """Every trial is tried once, in the order of the schedule, and then it is done."""
        world = opened(Shape(tasks=("MB-01", "MB-02"), phase1=2, phase2=1))
        names = [entry.trial_id for entry in flat(blocks_of(world))]
        assert until_done(world) == names
        assert len(names) == 12

    @pytest.mark.rule("R6.1", "E11")
    def test_what_ended_is_judged_before_anything_else(self) -> None:
        """A resumed run first makes up what ended meanwhile, whatever the gates say."""
        world = opened(Shape(plan=Map(cutoff=START)))
        job = begun(world, PLAIN)
        run = resumed(world)
        assert step(world, free_gb=0.0, **run) == Watch()
        ended(world, job, OK)
        judge = Judge(trial_id=PLAIN, attempt=1, job=job)
        assert step(world, free_gb=0.0, **run) == judge
        assert step(world, stops=1, **run) == judge

    @pytest.mark.rule("R6.1", "E11")
    def test_what_was_broken_off_is_pending(self) -> None:
        """It is tried again at once, as the next attempt."""
        world = opened()
        job = begun(world, PLAIN)
        ended(world, job, fate("lost", world.now))
        world.do(AbortAttempt(trial_id=PLAIN, attempt=1))
        begins(world, PLAIN, 2)

    @pytest.mark.rule("R6.1")
    def test_an_excluded_trial_is_done(self) -> None:
        """It keeps its block complete."""
        world = opened()
        for _ in range(2):
            tried(world, PLAIN, fate("crash", world.now))
        begins(world, SKILL)


class TestConcurrency:
    """So many pairs at a time, within a block; the arms of a pair never together."""

    SHAPE = Shape(tasks=("MB-01", "MB-02"), phase1=3, plan=Map(concurrency=2))

    @pytest.mark.rule("R6.1")
    def test_pairs_at_once(self) -> None:
        """Two pairs begin, each with its first arm; then it is waited for one of them."""
        world = opened(self.SHAPE)
        begins(world, "MB-01-r1-plain")
        one = begin(world, "MB-01-r1-plain")
        begins(world, "MB-01-r2-with-skill")
        two = begin(world, "MB-01-r2-with-skill")
        assert step(world) == Watch()
        ended(world, two, OK)
        assert step(world) == Judge(trial_id="MB-01-r2-with-skill", attempt=1, job=two)
        concluded(world, "MB-01-r2-with-skill")
        begins(world, "MB-01-r2-plain")
        ended(world, one, OK)
        concluded(world, "MB-01-r1-plain")
        begins(world, "MB-01-r1-with-skill")

    @pytest.mark.rule("R6.1")
    def test_a_pair_that_is_done_makes_room(self) -> None:
        """The third pair begins when one of the first two is done."""
        world = opened(self.SHAPE)
        begin(world, "MB-01-r2-with-skill")
        finish(world, ["MB-01-r1-plain", "MB-01-r1-with-skill"])
        begins(world, "MB-01-r3-plain")

    @pytest.mark.rule("R6.1")
    def test_within_a_block(self) -> None:
        """The next block begins when all of this one is done."""
        world = opened(self.SHAPE)
        finish(world, [e.trial_id for e in blocks_of(world)[0].entries[:-1]])
        last = begin(world, "MB-01-r3-with-skill")
        assert step(world) == Watch()
        ended(world, last, OK)
        concluded(world, "MB-01-r3-with-skill")
        begins(world, "MB-02-r1-with-skill")

    @pytest.mark.rule("R6.1")
    def test_another_pair_goes_on_while_one_waits(self) -> None:
        """A trial that has to wait holds up its own pair alone."""
        world = opened(self.SHAPE)
        tried(world, "MB-01-r1-plain", fate("overloaded", world.now))
        begins(world, "MB-01-r2-with-skill")
        begin(world, "MB-01-r2-with-skill")
        assert step(world) == Watch()
        world.later(60)
        begins(world, "MB-01-r1-plain", 2)

    @pytest.mark.rule("R3.4", "R2.1")
    def test_a_stop_waits_for_nothing_but_what_goes_on(self) -> None:
        """A trial that gave up stops the run also while another one would have to wait."""
        world = opened(self.SHAPE)
        tried(world, "MB-01-r1-plain", fate("overloaded", world.now))
        for _ in range(2):
            tried(world, "MB-01-r2-with-skill", fate("auth", world.now))
        assert step(world) == Stop(reason=StopReason.AUTH, detail="MB-01-r2-with-skill")

    @pytest.mark.rule("R3.4")
    def test_giving_up_waits_for_what_goes_on(self) -> None:
        """Nothing new is begun, and the run stops when the other attempt is over."""
        world = opened(self.SHAPE)
        job = begin(world, "MB-01-r1-plain")
        for _ in range(2):
            tried(world, "MB-01-r2-with-skill", fate("auth", world.now))
        assert step(world) == Watch()
        ended(world, job, OK)
        concluded(world, "MB-01-r1-plain")
        assert step(world) == Stop(reason=StopReason.AUTH, detail="MB-01-r2-with-skill")

    @pytest.mark.rule("R6.1")
    def test_the_first_to_end_need_not_be_first(self) -> None:
        """What ended is judged in the order of its jobs, the same in every process."""
        world = opened(self.SHAPE)
        jobs = [begin(world, name) for name in ("MB-01-r1-plain", "MB-01-r2-with-skill")]
        for job in reversed(jobs):
            ended(world, job, OK)
        assert step(world) == Judge(trial_id="MB-01-r1-plain", attempt=1, job=jobs[0])


class TestParts:
    """A part of a study, and trying it out."""

    @pytest.mark.rule("R6.4")
    def test_one_task(self) -> None:
        """Its trials keep their places, and so which arm is first: MB-02's first is with-skill."""
        world = opened(Shape(tasks=("MB-01", "MB-02")))
        part = only(blocks_of(world), task="MB-02")
        assert step(world, part) == Begin(trial_id="MB-02-r1-with-skill", attempt=1)

    @pytest.mark.rule("R6.4")
    def test_one_arm(self) -> None:
        """Its trials keep their places; those of the other arm are neither tried nor missed."""
        world = opened(Shape(phase1=2))
        part = only(blocks_of(world), arm="plain")
        order = [(entry.arm_slot, entry.first_arm) for entry in flat(part)]
        assert order == [(0, "plain"), (1, "with-skill")]
        for name in ("MB-01-r1-plain", "MB-01-r2-plain"):
            assert step(world, part) == Begin(trial_id=name, attempt=1)
            tried(world, name)
        assert step(world, part) == DONE
        begins(world, "MB-01-r1-with-skill")

    @staticmethod
    def smoking(world: World, **run: Any) -> Step:
        """What is next when things are only tried out."""
        return step(world, **{"smoke": True, **run})

    @pytest.mark.rule("R6.3")
    def test_smoke(self) -> None:
        """Its trials have ids of their own, never count, and their cost is booked."""
        plan: Map[str, object] = Map(max_budget_usd=0.5, budget_cap_usd=0.65)
        world = opened(Shape(plan=plan), smoke=True)
        smoke = f"SMOKE-{PLAIN}"
        assert self.smoking(world) == Begin(trial_id=smoke, attempt=1)
        assert tried(world, smoke).final
        assert self.smoking(world) == Begin(trial_id=f"SMOKE-{SKILL}", attempt=1)
        begins(world, PLAIN)
        tried(world, f"SMOKE-{SKILL}")
        found = step(world)
        assert isinstance(found, Stop)
        assert found.reason is StopReason.BUDGET

    @pytest.mark.rule("R6.3")
    def test_smoke_again(self) -> None:
        """Another run tries all of it out again, also when the clock was set back."""
        world = opened(smoke=True)
        finish(world, [f"SMOKE-{PLAIN}", f"SMOKE-{SKILL}"])
        assert self.smoking(world) == DONE
        run = resumed(world, smoke=True)
        assert self.smoking(world, **run) == Begin(trial_id=f"SMOKE-{PLAIN}", attempt=2)
        world.later(-7200)
        finish(world, [f"SMOKE-{PLAIN}"])
        assert self.smoking(world, **run) == Begin(trial_id=f"SMOKE-{SKILL}", attempt=2)

    @pytest.mark.rule("R6.3", "R3.5")
    def test_smoke_has_its_retries_each_time(self) -> None:
        """What an earlier run was over with uses up nothing."""
        world = opened(smoke=True)
        smoke = f"SMOKE-{PLAIN}"
        for _ in range(2):
            tried(world, smoke, fate("crash", world.now))
        assert world.registry.trials[smoke].final
        run = resumed(world, smoke=True)
        tried(world, smoke, fate("crash", world.now))
        assert world.registry.trials[smoke].final is None
        assert isinstance(self.smoking(world, **run), Pause)

    @pytest.mark.rule("R6.3")
    def test_smoke_asks_nothing_of_the_phases(self) -> None:
        """Of the second phase something can be tried out before the first is done."""
        world = opened(Shape(phase2=1), smoke=True)
        second = blocks_of(world)[1:]
        found = step(world, second, smoke=True)
        assert found == Begin(trial_id="SMOKE-MB-01-r2-with-skill", attempt=1)
        assert isinstance(step(world, second), Stop)


class TestBesideAnotherPart:
    """A run of a part finds an attempt that an earlier run of another part has begun."""

    @pytest.mark.rule("R6.1", "R6.4", "E11")
    @pytest.mark.parametrize("concurrency", [1, 3])
    @pytest.mark.parametrize("part", ["task", "arm", "smoke"])
    def test_nothing_runs_beside_it(self, part: str, concurrency: int) -> None:
        """It is waited for and judged; only then the part goes on, never two arms of a pair at once."""
        plan: Map[str, Any] = Map(concurrency=concurrency)
        world = opened(Shape(tasks=("MB-01", "MB-02"), phase1=2, plan=plan))
        job = begun(world, PLAIN)
        whole = blocks_of(world)
        run = resumed(world, smoke=part == "smoke")
        blocks = {
            "task": only(whole, task="MB-02"),
            "arm": only(whole, arm="with-skill"),
            "smoke": whole,
        }[part]
        assert step(world, blocks, **run) == Watch()
        ended(world, job, OK)
        judge = Judge(trial_id=PLAIN, attempt=1, job=job)
        assert step(world, blocks, **run) == judge
        concluded(world, PLAIN)
        found = step(world, blocks, **run)
        assert isinstance(found, Begin)
        assert found.trial_id != PLAIN
