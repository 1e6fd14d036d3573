"""Studies to decide in: plans of any shape, and trials whose clients say what a test wants."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve, field, frozen
from immutables import Map

from forks_core.decider import Command
from forks_core.decider.ending import End
from forks_core.decider.jobs import LaunchJob, StartClient
from forks_core.decider.launching import Call
from forks_core.decider.runner import StartRunner
from forks_core.decider.study import Schedule
from forks_core.decider.trials import BeginTrial, ConcludeAttempt
from forks_core.projections.trials import call_of
from forks_core.reducer.stream import summed
from forks_core.rules import attempts
from forks_core.rules.fingerprint import fingerprint
from forks_core.rules.prices import Price, PriceTable
from forks_core.rules.schedule import Block, blocks, flat, of_entries
from forks_events.jobs import Text
from forks_events.study import Arm, Plan
from forks_events.trials import AttemptConcluded, Check
from tests import histories
from tests.decider.world import LAUNCH, MODEL, World, call, process
from tests.fates import OK, Told, heard

ARMS = ("plain", "with-skill")
LAUNCHES = tuple(evolve(LAUNCH, effort=effort) for effort in ("high", "low", "medium"))
# 1000 USD a million: 10 tokens of prompt are a cent.
_PRICE = Price(input=1000, output=0, cache_write_5m=0, cache_write_1h=0, cache_read=0)
PRICES = PriceTable(as_of="2026-11-30", models=Map({MODEL: _PRICE}))
PASSED = Check(exit_code=0, timed_out=False, score=None, checks=Map(), output=None, wall_s=0.5)


@frozen(kw_only=True)
class Shape:
    """How large a study is.

    Args:
        tasks: Its tasks.
        arms: How many arms it has.
        phase1: Repeats in the first phase.
        phase2: Repeats in the second phase.
        plan: Fields of its plan that are not as usual.
    """

    tasks: tuple[str, ...] = ("MB-01",)
    arms: int = 2
    phase1: int = 1
    phase2: int = 0
    plan: Map[str, Any] = field(factory=Map)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All of its blocks."""
        return blocks(self.tasks, ARMS[: self.arms], self.phase1, self.phase2, None)


def study(shape: Shape) -> Schedule:
    """Register a study of such a shape."""
    task = histories.PLAN.tasks[0]
    launches = LAUNCHES[: shape.arms]
    plan = evolve(
        histories.PLAN,
        phase1_runs=shape.phase1,
        phase2_runs=shape.phase2,
        schedule_seed=None,
        arms=tuple(
            Arm(name=name, fingerprint=fingerprint(launch), base=None)
            for name, launch in zip(ARMS, launches, strict=False)
        ),
        tasks=tuple(evolve(task, id=name) for name in shape.tasks),
        **shape.plan,
    )
    return evolve(histories.SCHEDULE, launches=launches, plan=plan, entries=flat(shape.blocks))


def start(number: int = 1, *, smoke: bool = False) -> StartRunner:
    """Somebody begins to go through the trials."""
    return StartRunner(runner=process(1000 + number), smoke=smoke, preflight=Map(), accepted=())


def opened(shape: Shape = Shape(), *, smoke: bool = False) -> World:
    """A world with a study that is scheduled and was started."""
    world = World()
    world.do(study(shape), start(smoke=smoke))
    return world


def plan_of(world: World) -> Plan:
    """The plan of a world's study."""
    assert world.registry.study
    return world.registry.study.plan


def blocks_of(world: World) -> tuple[Block, ...]:
    """The blocks of a world's study."""
    assert world.registry.study
    return of_entries(world.registry.study.entries)


def begun(world: World, trial: str) -> str:
    """Begin an attempt at a trial, and let its client start; return its job."""
    known = world.registry.trials.get(trial)
    number = len(world.registry.jobs) + 1
    world.do(
        BeginTrial(
            trial_id=trial,
            attempt=len(known.attempts) + 1 if known else 1,
            call=a_call(number),
            cwd=f"/study-forks/copies/{number}",
        )
    )
    job = world.registry.trials[trial].last.begun.job
    world.do(
        LaunchJob(job=job, supervisor=process(10 * number)),
        StartClient(job=job, client=process(10 * number + 1)),
    )
    return job


def a_call(number: int) -> Call:
    """A call of its own."""
    return call(f"session {number}")


def ended(world: World, job: str, told: Told) -> None:
    """Let a job end as it is told."""
    world.do(end_of(world, job, told))


def end_of(world: World, job: str, told: Told) -> Command:
    """The end of a job as it is told."""
    said = heard(job, told.lines, world.now)
    return End(
        prices=PRICES,
        job=job,
        said=said,
        stream=summed(said),
        raw=Text(sha256="a" * 64, bytes=len(said)) if said else None,
        exit_code=told.exit_code,
        stderr_kind=told.stderr,
        imposed=told.imposed,
        lost_after_s=-1,
    )


def concluded(world: World, trial: str, check: Check | None = PASSED) -> AttemptConcluded:
    """Judge the attempt at a trial whose job is over."""
    last = world.registry.trials[trial].last.begun
    (said,) = world.do(
        ConcludeAttempt(trial_id=trial, attempt=last.attempt, check=check, diff=None)
    )
    assert isinstance(said, AttemptConcluded)
    return said


def tried(
    world: World, trial: str, told: Told = OK, check: Check | None = PASSED
) -> AttemptConcluded:
    """Try a trial once, from its beginning to its judgement."""
    ended(world, begun(world, trial), told)
    return concluded(world, trial, check)


def went(told: Told) -> attempts.Call:
    """How the call of a first attempt went."""
    world = opened()
    job = begun(world, "MB-01-r1-plain")
    ended(world, job, told)
    found = call_of(world.registry, job)
    assert found is not None
    return found


def finish(world: World, trials: Sequence[str]) -> None:
    """Finish trials, one after the other."""
    for trial in trials:
        tried(world, trial)
