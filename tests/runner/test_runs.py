"""Whole runs of a study: how they end, what they wait for, and what they take over."""

from datetime import timedelta
from typing import Any

import pytest
from immutables import Map

from forks_core.errors import Refused
from forks_core.projections.pace import spent_usd
from forks_core.reducer import fold
from forks_core.rules.schedule import only
from forks_core.runner import LOOK_S
from forks_core.transact import Live
from forks_events.envelope import Author
from forks_events.trials import (
    AttemptConcluded,
    InfraKind,
    PauseBegun,
    PauseEnded,
    RunnerStarted,
    StopReason,
    StudyStopped,
    TrialBegun,
    Wait,
)
from tests.decider.world import START
from tests.fakes import MemoryLog
from tests.runner import laws
from tests.runner.driving import (
    PLAIN,
    SKILL,
    at_rest,
    blow_at,
    kinds,
    made,
    of,
    run_on,
    run_once,
)
from tests.runner.world import RESTS, Blow
from tests.studies import Shape

ONE = Shape(arms=1)
TWO_PAIRS = Shape(phase1=2, plan=Map(concurrency=2))


def stop_of(shape: Shape, *fates: str, **fields: Any) -> StopReason | None:
    """How the first run of a study ends whose first trial has these fates."""
    world = made(shape, fates={PLAIN: fates}, **fields)
    stopped = run_once(world, shape)
    return stopped.reason if stopped else None


class TestHowItEnds:
    """Each run ends for a reason that it says."""

    @pytest.mark.rule("R6.5")
    @pytest.mark.parametrize(
        ("reason", "shape", "fates", "fields"),
        [
            (StopReason.DONE, Shape(), (), {}),
            (StopReason.USER, Shape(), (), {"blows": [at_rest("stop")]}),
            (StopReason.TIME, Shape(plan=Map(cutoff=START + timedelta(seconds=6))), (), {}),
            (StopReason.BUDGET, Shape(plan=Map(budget_cap_usd=6.05)), (), {}),
            (StopReason.DISK, Shape(), (), {"free_gb": 1.0}),
            (StopReason.QUOTA, Shape(), ("seven",), {}),
            (StopReason.AUTH, Shape(), ("auth", "auth"), {}),
        ],
    )
    def test_each_reason(
        self, reason: StopReason, shape: Shape, fates: tuple[str, ...], fields: dict[str, Any]
    ) -> None:
        """Done, out of time, money, disk or quota, asked to, or refused."""
        assert stop_of(shape, *fates, **fields) is reason

    @pytest.mark.rule("R6.2", "R6.5")
    def test_incomplete(self) -> None:
        """One arm alone never begins the second phase; with the other one it does."""
        shape = Shape(phase2=1)
        world = made(shape)
        stopped = run_once(world, shape, blocks=only(shape.blocks, arm="plain"))
        assert stopped
        assert stopped.reason is StopReason.INCOMPLETE_PHASE1
        run_on(world, shape)
        laws.phases_follow(world.log.events)

    @pytest.mark.rule("R3.4", "E4")
    def test_auth_resumed(self) -> None:
        """A trial that gave up is tried again by the next run, and counts once."""
        world = made(Shape(), fates={PLAIN: ("auth", "auth")})
        reasons = [stopped.reason for stopped in run_on(world, Shape())]
        assert reasons == [StopReason.AUTH, StopReason.DONE]
        assert kinds(world) == [InfraKind.AUTH, InfraKind.AUTH, None]
        laws.hold(world, Shape())

    @pytest.mark.rule("R2.3")
    def test_the_budget_is_never_passed(self) -> None:
        """With pairs at once, too, what was spent stays within the cap."""
        shape = Shape(phase1=4, plan=Map(concurrency=4, max_budget_usd=0.2, budget_cap_usd=0.6))
        world = made(shape)
        stopped = run_once(world, shape)
        assert stopped
        assert stopped.reason is StopReason.BUDGET
        assert 0.4 < spent_usd(fold(world.log.events)) <= 0.6


class TestWaits:
    """What a run waits for."""

    @pytest.mark.rule("R2.6", "R3.2", "R3.3", "R3.4", "R3.5")
    @pytest.mark.parametrize(
        ("fates", "waits"),
        [
            (("full",), [(Wait.QUOTA, None)]),
            (("five",), [(Wait.RATE_LIMIT, None)]),
            (("bare", "bare"), [(Wait.RATE_LIMIT, 60.0), (Wait.RATE_LIMIT, 120.0)]),
            (
                ("overloaded",) * 4,
                [(Wait.OVERLOADED, 60.0), (Wait.OVERLOADED, 120.0), (Wait.OVERLOADED, 240.0)],
            ),
            (("auth",), [(Wait.AUTH, 30.0)]),
            (("lost",), [(Wait.OTHER, 5.0)]),
        ],
    )
    def test_each(self, fates: tuple[str, ...], waits: list[tuple[Wait, float | None]]) -> None:
        """Each wait is one pause, of the seconds that were planned, and no attempt is in it."""
        world = made(Shape(), fates={PLAIN: fates})
        run_on(world, Shape())
        pauses = of(world, PauseBegun)
        assert [pause.wait for pause in pauses] == [wait for wait, _ in waits]
        for pause, end, (_, seconds) in zip(pauses, of(world, PauseEnded), waits, strict=True):
            assert seconds is None or pause.planned_s == seconds
            assert end.real_s == pytest.approx(pause.planned_s)
            named = None if pause.wait is Wait.QUOTA else PLAIN
            assert (pause.trial_id, pause.attempt is None) == (named, named is None)
        laws.hold(world, Shape())

    @pytest.mark.rule("R2.6")
    @pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
    def test_a_clock_that_is_set_meanwhile(self, seconds: float) -> None:
        """A pause that a runner rests through takes its seconds, whatever the clock says."""
        fates = {PLAIN: ("overloaded",)}
        begun = blow_at("appended PauseBegun", Shape(), fates=fates)
        # Its first rest is the act behind its beginning.
        blow = Blow(after=begun.after + 1, what="set", seconds=seconds)
        for blows in ([], [blow]):
            world = made(Shape(), fates=fates, blows=blows)
            run_on(world, Shape())
            assert world.trace[blow.after] == "rests"
            assert laws.took_s(world, PauseBegun, PauseEnded) == pytest.approx(60, abs=LOOK_S)


class TestInTheWay:
    """Something that is in the runner's own way ends the run, and loses nothing."""

    @pytest.mark.rule("E11", "R6.1", "R6.5")
    def test_what_goes_on_is_judged(self) -> None:
        """The other pair's attempt is seen to its end and judged; then why is said, and raised."""
        world = made(TWO_PAIRS, broken={"MB-01-r2-with-skill"})
        with pytest.raises(Refused, match="the task's folder is gone"):
            run_once(world, TWO_PAIRS)
        (stopped,) = of(world, StudyStopped)
        assert stopped.reason is StopReason.FAILED
        assert (stopped.detail, stopped.retry_at) == ("the task's folder is gone", None)
        assert [begun.trial_id for begun in of(world, TrialBegun)] == [PLAIN]
        assert kinds(world) == [None]
        assert all(job.ended for job in fold(world.log.events).jobs.values())
        world.broken.clear()
        assert [stop.reason for stop in run_on(world, TWO_PAIRS)] == [StopReason.DONE]
        laws.hold(world, TWO_PAIRS)

    @pytest.mark.rule("E11", "R6.1", "R6.5")
    def test_what_cannot_be_judged(self) -> None:
        """Of two that go on the first cannot be judged: the other ends before the run does."""
        world = made(TWO_PAIRS, unjudged={PLAIN}, fates={"MB-01-r2-with-skill": ("timeout",)})
        with pytest.raises(Refused, match="the task's folder is gone"):
            run_once(world, TWO_PAIRS)
        assert [stop.reason for stop in of(world, StudyStopped)] == [StopReason.FAILED]
        assert len(of(world, TrialBegun)) == 2
        assert all(job.ended for job in fold(world.log.events).jobs.values())
        world.unjudged.clear()
        assert [stop.reason for stop in run_on(world, TWO_PAIRS)] == [StopReason.DONE]
        laws.hold(world, TWO_PAIRS)

    @pytest.mark.rule("R2.1", "R6.5")
    @pytest.mark.parametrize(
        ("fields", "fates", "failed"),
        [
            ({"broken": {"MB-01-r2-with-skill"}}, {PLAIN: ("slow",)}, "prepares"),
            ({"unjudged": {PLAIN}}, {"MB-01-r2-with-skill": ("slow",)}, "judges"),
        ],
    )
    def test_asked_to_end_meanwhile(
        self, fields: dict[str, set[str]], fates: dict[str, tuple[str, ...]], failed: str
    ) -> None:
        """Whoever asks twice while it sees out what goes on ends that, too."""
        first = made(TWO_PAIRS, fates=fates, **fields)
        with pytest.raises(Refused):
            run_once(first, TWO_PAIRS)
        last = max(at for at, act in enumerate(first.trace) if act == failed)
        blows = [Blow(after=first.trace.index(RESTS, last), what="stop twice")]
        world = made(TWO_PAIRS, fates=fates, blows=blows, **fields)
        with pytest.raises(Refused):
            run_once(world, TWO_PAIRS)
        assert (world.hits, len(of(world, StudyStopped))) == ([RESTS], 1)
        assert all(job.ended for job in fold(world.log.events).jobs.values())
        assert laws.took_s(world, RunnerStarted, StudyStopped) < 60
        assert laws.took_s(first, RunnerStarted, StudyStopped) > 120


class TestSmoke:
    """Trying things out."""

    @pytest.mark.rule("R6.3")
    def test_it_never_counts(self) -> None:
        """It does all its trials, each time, pays for them, and leaves all of the study to do."""
        world = made(Shape(), fates={f"SMOKE-{PLAIN}": ("crash", "crash", "crash", "ok")})
        for number in (1, 2):
            stopped = run_once(world, Shape(), smoke=True, number=number)
            assert stopped
            assert stopped.reason is StopReason.DONE
        assert kinds(world, f"SMOKE-{PLAIN}") == [InfraKind.CLIENT_CRASH] * 3 + [None]
        assert kinds(world, f"SMOKE-{SKILL}") == [None, None]
        laws.no_money_is_forgotten(world)
        run_on(world, Shape())
        assert kinds(world) == kinds(world, SKILL) == [None]
        laws.hold(world, Shape())

    @pytest.mark.rule("R6.3")
    def test_a_clock_that_was_set_back(self) -> None:
        """What this run tried out it does not try out again."""
        world = made(ONE, blows=[at_rest("set", -3600.0)])
        stopped = run_once(world, ONE, smoke=True)
        assert stopped
        assert len(of(world, TrialBegun)) == 1


class TestTheLog:
    """What a run records."""

    @pytest.mark.rule("R6.1")
    def test_the_house_is_kept(self) -> None:
        """When a run begins, and behind each judgement: others see at once what was spent."""
        world = made(Shape(), fates={PLAIN: ("crash",)})
        run_on(world, Shape())
        events = world.log.events
        told = (RunnerStarted, AttemptConcluded)
        due = [at for at, event in enumerate(events, 1) if isinstance(event, told)]
        assert len(due) == 4
        assert {*due} <= {*world.kept}

    @pytest.mark.rule("R6.1")
    def test_it_can_be_written_down(self) -> None:
        """The history of a run in lines of bytes folds to the same state."""
        world = made(Shape(), fates={PLAIN: ("five", "overloaded"), SKILL: ("timeout",)})
        run_on(world, Shape())
        log = MemoryLog()
        with log.writing() as writer:
            writer.append(Author(verb="study run", host="h", pid=1), world.log.events, START)
        live = Live(log=MemoryLog(log.data), clock=world.clock, author=world.others.author)
        assert live.refresh() == fold(world.log.events)
