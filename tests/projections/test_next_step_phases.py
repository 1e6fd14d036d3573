"""The second phase of a study: when it may begin, and how long it is expected to take."""

from datetime import timedelta

import pytest
from immutables import Map

from forks_core.projections.pace import block_seconds, estimate_s
from forks_core.projections.steps import Pause, Stop
from forks_core.rules.schedule import only
from forks_events.trials import StopReason
from tests.decider.world import START, World
from tests.fates import OK, fate
from tests.projections.stepping import PLAIN, SKILL, begins, reads, resumed, step
from tests.studies import Shape, begun, blocks_of, concluded, ended, finish, opened, tried


def in_phase_2(cutoff_s: float | None, *, phase1: int = 1) -> World:
    """A world whose first phase is done: each of its trials took 4 s from begin to judgement."""
    cutoff = None if cutoff_s is None else START + timedelta(seconds=cutoff_s)
    world = opened(Shape(phase1=phase1, phase2=2, plan=Map(cutoff=cutoff)))
    finish(world, [entry.trial_id for entry in blocks_of(world)[0].entries])
    return world


class TestPhase2:
    """Before each block of the second phase."""

    SECOND = "MB-01-r2-with-skill"

    @pytest.mark.rule("R6.2")
    def test_it_follows_the_first(self) -> None:
        """Where the first phase is complete and no cutoff is near, it begins."""
        begins(in_phase_2(None), self.SECOND)

    @pytest.mark.rule("R6.2", "R6.5")
    def test_it_needs_all_of_the_first(self) -> None:
        """A part of the study that leaves out some of the first phase stops before the second."""
        world = opened(Shape(phase2=1))
        finish(world, [PLAIN])
        tried(world, SKILL, fate("crash", world.now))
        part = only(blocks_of(world), arm="plain")
        assert step(world, part) == Stop(
            reason=StopReason.INCOMPLETE_PHASE1, detail=f"1 left, {SKILL} first"
        )

    @pytest.mark.rule("R6.2")
    def test_the_quota_is_asked_first(self) -> None:
        """Where both hold, it stops for the quota."""
        world = opened(Shape(phase2=1))
        finish(world, [PLAIN])
        reads(world, seven_day=0.99)
        found = step(world, only(blocks_of(world), arm="plain"))
        assert isinstance(found, Stop)
        assert found.reason is StopReason.QUOTA

    @pytest.mark.rule("R6.2")
    def test_it_is_asked_before_the_waits(self) -> None:
        """A run that cannot go on waits for nothing."""
        world = opened(Shape(phase2=1))
        finish(world, [PLAIN])
        reads(world, five_hour=1.0)
        assert isinstance(step(world, only(blocks_of(world), arm="plain")), Stop)
        assert isinstance(step(world), Pause)

    @pytest.mark.rule("R6.2", "R6.5")
    def test_it_must_fit(self) -> None:
        """4 trials of 4 s each need 17.6 s before the cutoff; less is too little."""
        ends_s = (in_phase_2(None).now - START).total_seconds()
        begins(in_phase_2(ends_s + 17.6), self.SECOND)
        assert step(in_phase_2(ends_s + 17.5)) == Stop(
            reason=StopReason.TIME, detail="P2-MB-01 does not fit"
        )

    @pytest.mark.rule("R6.2")
    def test_a_block_that_has_begun_goes_on(self) -> None:
        """It is asked before a block, not within it."""
        world = in_phase_2((in_phase_2(None).now - START).total_seconds() + 17.6)
        tried(world, self.SECOND)
        begins(world, "MB-01-r2-plain")

    @pytest.mark.rule("R6.2")
    def test_a_resumed_run_has_the_estimate_at_once(self) -> None:
        """It comes from the log."""
        world = in_phase_2((in_phase_2(None).now - START).total_seconds() + 17.6)
        run = resumed(world)
        assert isinstance(step(world, **run), Stop)

    @pytest.mark.rule("R6.2")
    def test_without_a_first_phase(self) -> None:
        """Nobody knows how long a block takes: it fits no cutoff, and everything without one."""
        world = opened(Shape(phase1=0, phase2=1))
        begins(world, PLAIN)
        world = opened(Shape(phase1=0, phase2=1, plan=Map(cutoff=START + timedelta(days=9))))
        assert isinstance(step(world), Stop)


class TestEstimate:
    """How long a block will take."""

    @staticmethod
    def took(*seconds: float) -> World:
        """Blocks of two trials, which took so long each; the last block is still to come."""
        tasks = tuple(f"MB-{number}" for number in range(1, len(seconds) + 2))
        world = opened(Shape(tasks=tasks))
        for block, each in zip(blocks_of(world), seconds, strict=False):
            for entry in block.entries:
                job = begun(world, entry.trial_id)
                world.later(each - 4)
                ended(world, job, OK)
                concluded(world, entry.trial_id)
        return world

    @pytest.mark.rule("R6.2")
    @pytest.mark.parametrize(
        ("seconds", "expected"),
        [
            ((10.0,), 20),
            ((10.0, 30.0), 60),
            ((30.0, 10.0, 20.0), 40),
            ((40.0, 10.0, 20.0, 30.0), 60),
        ],
    )
    def test_the_upper_median(self, seconds: tuple[float, ...], expected: float) -> None:
        """Of an even number of blocks the upper one of the two in the middle."""
        world = self.took(*seconds)
        blocks = blocks_of(world)
        assert estimate_s(world.registry, blocks, blocks[-1]) == expected

    @pytest.mark.rule("R6.2")
    def test_it_is_scaled_by_trials(self) -> None:
        """A block of half the trials takes half as long."""
        world = self.took(10.0)
        blocks = blocks_of(world)
        part = only(blocks, arm="plain")
        assert estimate_s(world.registry, blocks, part[-1]) == 10

    @pytest.mark.rule("R6.2")
    def test_unfinished_blocks_say_nothing(self) -> None:
        """Without one that is finished nobody knows."""
        world = opened()
        tried(world, PLAIN)
        blocks = blocks_of(world)
        assert estimate_s(world.registry, blocks, blocks[0]) is None

    @pytest.mark.rule("R6.2")
    def test_every_attempt_counts_and_no_wait(self) -> None:
        """What was retried took its time; the pauses between are none of the work."""
        world = opened()
        tried(world, PLAIN, fate("crash", world.now))
        world.later(1000)
        finish(world, [PLAIN, SKILL])
        assert block_seconds(world.registry, blocks_of(world)[0]) == 3 * 4

    @pytest.mark.rule("R6.2")
    def test_a_clock_that_was_set_back(self) -> None:
        """No attempt took less than no time."""
        world = opened()
        job = begun(world, PLAIN)
        world.later(-3600)
        ended(world, job, OK)
        concluded(world, PLAIN)
        finish(world, [SKILL])
        assert block_seconds(world.registry, blocks_of(world)[0]) == 4
