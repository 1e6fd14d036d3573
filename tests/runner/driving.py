"""Running a study to its end, however often it is interrupted."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from immutables import Map

from forks_core.projections.trials import concluded
from forks_core.reducer import fold
from forks_core.registry import Ended, Registry
from forks_core.rules.schedule import Block
from forks_core.runner import Runner
from forks_core.transact import transact
from forks_events.trials import AttemptConcluded, InfraKind, StopReason, StudyStopped, TrialStatus
from tests.runner.fakes import FakeField
from tests.runner.logs import Watched
from tests.runner.world import RESTS, Blow, Crash, World
from tests.studies import Shape, start, study

MOST_RUNS = 60
PLAIN, SKILL = "MB-01-r1-plain", "MB-01-r1-with-skill"
AWAY_S = {StopReason.AUTH: 10.0, StopReason.DISK: 10.0}


def made(shape: Shape, **fields: Any) -> World:
    """A world with a study that is scheduled."""
    world = World(**fields)
    world.say(study(shape))
    return world


def run_once(
    world: World,
    shape: Shape,
    *,
    blocks: Sequence[Block] | None = None,
    smoke: bool = False,
    number: int = 1,
) -> StudyStopped | None:
    """Run a study by one process, until it says that it stops, or is gone (None)."""
    world.signals = 0
    live = world.live("study run")
    live.log = Watched(log=world.log, act=world.act)
    runner = Runner(
        live=live,
        field=FakeField(world, live),
        blocks=shape.blocks if blocks is None else blocks,
        whole=shape.blocks,
        smoke=smoke,
    )
    try:
        transact(live, start(number, smoke=smoke))
        return runner.run()
    except Crash:
        return None


def run_on(world: World, shape: Shape, **how: Any) -> list[StudyStopped]:
    """Run a study again and again until it is done; tell how each of its runs ended."""
    stops: list[StudyStopped] = []
    for number in range(1, MOST_RUNS):
        struck = len(world.struck)
        stopped = run_once(world, shape, number=number, **how)
        if stopped is not None:
            stops.append(stopped)
            if stopped.reason is StopReason.DONE:
                return stops
        away = [blow.seconds for blow in world.struck[struck:] if blow.what != "set"]
        world.pass_(away[-1] if away else 0.0)
        if stopped is not None:
            world.pass_(_away_s(world, stopped))
    raise AssertionError(f"never done: {[stop.reason for stop in stops]}")


def _away_s(world: World, stopped: StudyStopped) -> float:
    if stopped.retry_at is not None:
        return max(1.0, (stopped.retry_at - world.clock.now()).total_seconds() + 1)
    return AWAY_S.get(stopped.reason, 1.0)


def blow_at(
    what: str, shape: Shape, then: str = "crash", seconds: float = 0.0, **fields: Any
) -> Blow:
    """Something that happens to the first run just when it does something for the first time."""
    world = made(shape, **fields)
    run_once(world, shape)
    return Blow(after=world.trace.index(what), what=then, seconds=seconds)


@frozen(kw_only=True)
class Row:
    """What an attempt came to."""

    kind: InfraKind | None
    status: TrialStatus
    final: bool
    excluded: bool
    passed: bool
    evaluator_error: bool
    cost_usd: float | None


def rows(registry: Registry) -> Map[str, tuple[Row, ...]]:
    """What all judged attempts came to, by their trial."""
    return Map(
        {
            name: tuple(_row(registry, known.begun.job, end) for known, end in concluded(trial))
            for name, trial in registry.trials.items()
        }
    )


def _row(registry: Registry, job: str, end: AttemptConcluded) -> Row:
    state = registry.jobs[job].state
    assert isinstance(state, Ended)
    return Row(
        kind=end.infra_kind,
        status=end.status,
        final=end.final,
        excluded=end.excluded,
        passed=end.passed,
        evaluator_error=end.evaluator_error,
        cost_usd=state.end.cost_usd,
    )


def of(world: World, kind: type[Any]) -> list[Any]:
    """The events of one kind."""
    return [event for event in world.log.events if isinstance(event, kind)]


def kinds(world: World, trial: str = PLAIN) -> list[InfraKind | None]:
    """What failed in each judged attempt at a trial."""
    return [row.kind for row in rows(fold(world.log.events))[trial]]


def at_rest(what: str, seconds: float = 0.0) -> Blow:
    """Something that happens to a runner while its first attempt goes on."""
    return blow_at(RESTS, Shape(arms=1), what, seconds)
