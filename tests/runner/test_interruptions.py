"""A study that is stopped and resumed at any moment ends as one that was not.

The runner is hit before and after everything that it does: each event that it records, each
working copy, supervisor, check and kill. It is gone, or asked to stop once or twice, or its clock
is set; a while later another one goes on, which knows nothing but the log. Jobs go on meanwhile.
"""

from collections.abc import Sequence

import pytest
from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.reducer import fold
from forks_events.trials import PauseBegun, StopReason, StudyStopped, Wait
from tests.fates import AGAIN, FATES, OVER
from tests.runner import laws
from tests.runner.driving import blow_at, made, rows, run_on
from tests.runner.laws import open_trials
from tests.runner.world import RESTS, Blow, World
from tests.strategies import drawn
from tests.studies import Shape

PLAIN = "MB-01-r1-plain"
BLOWS = ("crash", "stop", "stop twice", "ask", "set")
AWAY_S = (0.0, 3.0, 130.0, 600.0)
SETS_S = (-3600.0, -30.0, 30.0, 3600.0)


@frozen(kw_only=True)
class Story:
    """A study, what becomes of its attempts, and what happens to its runner."""

    shape: Shape
    fates: Map[str, tuple[str, ...]]
    blows: tuple[Blow, ...]


def fates_of(shape: Shape) -> st.SearchStrategy[Map[str, tuple[str, ...]]]:
    """Draw what becomes of the attempts at a few trials."""
    names = [entry.trial_id for block in shape.blocks for entry in block.entries]
    of_one = st.tuples(
        st.lists(st.sampled_from(AGAIN), max_size=5).map(tuple), st.sampled_from(OVER)
    ).map(lambda parts: (*parts[0], parts[1]))
    return st.dictionaries(st.sampled_from(names), of_one, max_size=3).map(Map)


SHAPES = st.sampled_from(
    [
        Shape(),
        Shape(tasks=("MB-01", "MB-02")),
        Shape(phase2=1),
        Shape(phase1=2, plan=Map(concurrency=2)),
        Shape(phase1=2, phase2=2, plan=Map(concurrency=3)),
        Shape(tasks=("MB-01", "MB-02"), arms=1, phase1=2, phase2=1),
    ]
)
SECONDS = {what: SETS_S if what == "set" else AWAY_S for what in BLOWS}
BLOWS_DRAWN = st.sampled_from(BLOWS).flatmap(
    lambda what: st.builds(
        Blow,
        after=st.integers(0, 25),
        what=st.just(what),
        seconds=st.sampled_from(SECONDS[what]),
    )
)
STORIES = SHAPES.flatmap(
    lambda shape: st.builds(
        Story,
        shape=st.just(shape),
        fates=fates_of(shape),
        blows=st.lists(BLOWS_DRAWN, max_size=6).map(tuple),
    )
)


def told(story: Story, blows: Sequence[Blow] = ()) -> World:
    """Run a study to its end."""
    world = made(story.shape, fates=story.fates, blows=list(blows))
    run_on(world, story.shape)
    return world


def ends_the_same(story: Story) -> World:
    """What a study that was interrupted came to is what it comes to undisturbed."""
    calm, world = told(story), told(story, story.blows)
    laws.hold(calm, story.shape)
    laws.hold(world, story.shape)
    assert rows(fold(world.log.events)) == rows(fold(calm.log.events))
    assert laws.lanes(world.log.events) == laws.lanes(calm.log.events)
    if story.shape.plan.get("concurrency", 1) == 1:
        order = [entry.trial_id for block in story.shape.blocks for entry in block.entries]
        assert laws.first_begins(world.log.events) == order
        assert laws.first_begins(calm.log.events) == order
    return world


@pytest.mark.rule("R6.1", "E11")
class TestAnyMoment:
    """Stopped and resumed at any event, any number of times."""

    @given(STORIES)
    @settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_law_the_same_rows(self, story: Story) -> None:
        """Rows, their order and the money are those of a run that nothing disturbed."""
        ends_the_same(story)

    def test_reachability(self) -> None:
        """Runners are hit at most of what they do, by everything there is; every fate is drawn."""
        stories = drawn(STORIES, 60)
        worlds = [told(story, story.blows) for story in stories]
        hits = {hit for world in worlds for hit in world.hits}
        assert len(hits & OFTEN) > len(OFTEN) / 2
        assert {blow.what for world in worlds for blow in world.struck} == {*BLOWS}
        fates = {name for story in stories for names in story.fates.values() for name in names}
        assert fates == {*FATES}
        assert max(len(world.struck) for world in worlds) > 3
        events = [event for world in worlds for event in world.log.events]
        assert {event.wait for event in events if isinstance(event, PauseBegun)} == {*Wait}
        assert {event.reason for event in events if isinstance(event, StudyStopped)} == {
            StopReason.DONE,
            StopReason.USER,
            StopReason.QUOTA,
            StopReason.AUTH,
        }
        assert max(len(going) for world in worlds for going in open_trials(world.log.events)) > 1


OFTEN = {
    *(RESTS, "prepares", "prepared", "begins", "has begun", "judges", "judged"),
    *("appends TrialBegun", "appended TrialBegun", "appends AttemptConcluded"),
    *("appended AttemptConcluded", "appends RunnerStarted", "appends StudyStopped"),
}
"""What every runner does; of what it appends, by the last event."""
SELDOM = {
    *("appends PauseBegun", "appended PauseBegun", "appends PauseEnded", "appended PauseEnded"),
    *("appends JobEnded", "appended JobEnded", "appended StudyStopped"),
}
ENDING = [
    *("appends KillRequested", "appended KillRequested", "killed"),
    *("appends JobEnded", "appended JobEnded", "appends AttemptAborted"),
    *("appended AttemptAborted", "appends StudyStopped", "appended StudyStopped"),
]
LONG = Story(
    shape=Shape(arms=1), fates=Map({PLAIN: ("five", "overloaded", "lost", "ok")}), blows=()
)
WIDE = Story(
    shape=Shape(phase1=2, plan=Map(concurrency=2)),
    fates=Map({PLAIN: ("auth", "auth", "wrong"), "MB-01-r2-with-skill": ("overloaded", "slow")}),
    blows=(),
)


@pytest.mark.rule("R6.1", "R2.1")
class TestEveryMoment:
    """One interruption, at each of the moments that there are."""

    @pytest.mark.parametrize("what", ["crash", "stop", "stop twice"])
    @pytest.mark.parametrize("story", [LONG, WIDE], ids=["one trial", "pairs at once"])
    def test_law_the_same_rows(self, story: Story, what: str) -> None:
        """Whatever the runner was about, the study ends as if nothing had happened."""
        calm = told(story)
        expected = rows(fold(calm.log.events))
        for after in range(0, len(calm.trace), 1 if what == "crash" else 4):
            world = told(story, [Blow(after=after, what=what, seconds=130.0)])
            assert len(world.struck) == 1
            assert rows(fold(world.log.events)) == expected, world.hits
            laws.hold(world, story.shape)

    def test_law_the_same_rows_broken_off(self) -> None:
        """The same holds when the runner is gone amid ending what goes on."""
        expected = rows(fold(told(LONG).log.events))
        stop = blow_at(RESTS, LONG.shape, "stop twice", fates=LONG.fates)
        hits = []
        for after in range(len(ENDING)):
            crash = Blow(after=after, what="crash", seconds=130.0)
            world = told(LONG, [stop, crash])
            assert rows(fold(world.log.events)) == expected, world.hits
            laws.hold(world, LONG.shape)
            hits.append(world.hits[-1])
        assert hits == ENDING

    def test_reachability(self) -> None:
        """The moments are all that there are."""
        assert {*told(LONG).trace, *told(WIDE).trace} >= OFTEN | SELDOM
