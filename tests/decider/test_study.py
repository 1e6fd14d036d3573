"""Scheduling a study: once, and a plan that was changed since is refused with what differs."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.decider import decide
from forks_core.decider.study import Schedule, is_moved
from forks_core.errors import IllegalHistory, Refused
from forks_core.reducer import fold
from forks_core.rules.fingerprint import fingerprint
from forks_events.run import LaunchFixed, RunConfigured, RunOpened
from forks_events.study import Arm, Plan, StudyScheduled
from forks_events.values import FileDigest
from tests.decider.world import START, World
from tests.histories import ENTRY, LAUNCH, PLAN, SCHEDULE

LOW = evolve(LAUNCH, effort="low")
OTHER = Arm(name="low", fingerprint=fingerprint(LOW), base=None)
TWO = evolve(SCHEDULE, launches=(LAUNCH, LOW), plan=evolve(PLAN, arms=(*PLAN.arms, OTHER)))


def planned(**changes: Any) -> Schedule:
    """The same study with another plan."""
    return evolve(SCHEDULE, plan=evolve(PLAN, **changes))


@pytest.mark.rule("E7")
class TestOnce:
    """A study is scheduled before anything else, and once."""

    @pytest.mark.rule("E10")
    def test_first(self) -> None:
        """The run, a launch an arm, the settings, and the schedule: all at the time it was asked."""
        world = World()
        opened, *fixed, configured, scheduled = world.do(TWO)
        assert isinstance(opened, RunOpened)
        assert [type(event) for event in fixed] == [LaunchFixed, LaunchFixed]
        assert isinstance(configured, RunConfigured)
        assert scheduled == StudyScheduled(at=world.now, plan=TWO.plan, entries=(ENTRY,))
        assert (opened.run, opened.lab, configured.settings) == (TWO.run, True, TWO.settings)
        assert configured.fingerprint == PLAN.arms[0].fingerprint
        assert (configured.binary_resolved_by, configured.model_admission) == ("study", "study")
        assert {event.at for event in world.events} == {world.now}
        assert set(world.registry.launches) == {arm.fingerprint for arm in TWO.plan.arms}

    def test_a_shared_launch(self) -> None:
        """Arms of one launch have it fixed once."""
        twin = Arm(name="twin", fingerprint=fingerprint(LAUNCH), base=None)
        plan = evolve(PLAN, arms=(*PLAN.arms, twin))
        said = World().do(evolve(SCHEDULE, launches=(LAUNCH, LAUNCH), plan=plan))
        assert sum(isinstance(event, LaunchFixed) for event in said) == 1

    def test_again(self) -> None:
        """The same plan says nothing, whatever id the run would have been given."""
        world = World()
        world.do(SCHEDULE)
        assert world.do(SCHEDULE, evolve(SCHEDULE, run="another", forks_version="9")) == ()

    @pytest.mark.parametrize(
        ("other", "fields"),
        [
            (planned(file=FileDigest(path="study.toml", sha256="0" * 64)), ["file.sha256"]),
            (planned(id="x", phase1_runs=2), ["id", "phase1_runs"]),
            (planned(pins=Map({"client_version": "2"})), ["pins.client_version"]),
            (planned(pins=Map()), ["pins.client_version"]),
            (planned(tasks=(evolve(PLAN.tasks[0], timeout_s=9.0),)), ["tasks.MB-01.timeout_s"]),
            (
                planned(tasks=(evolve(PLAN.tasks[0], workdir=FileDigest(path="w", sha256="0")),)),
                ["tasks.MB-01.workdir"],
            ),
            (
                planned(arms=(evolve(PLAN.arms[0], name="other"),)),
                ["arms.other", "arms.plain", "order_of_arms"],
            ),
            (planned(arms=(evolve(PLAN.arms[0], base="b"),)), ["arms.plain.base"]),
            (
                evolve(
                    SCHEDULE,
                    launches=(LOW,),
                    plan=evolve(PLAN, arms=(evolve(OTHER, name="plain"),)),
                ),
                ["arms.plain.launch.effort"],
            ),
            (TWO, ["arms.low", "order_of_arms"]),
        ],
    )
    def test_changed(self, other: Schedule, fields: list[str]) -> None:
        """Another plan is refused with what differs, by the names of arms and tasks."""
        world = World()
        world.do(SCHEDULE)
        with pytest.raises(Refused, match="its plan has changed since") as caught:
            world.do(other)
        assert caught.value.fields["fields"] == fields
        assert list(caught.value.fields["changes"]) == fields

    def test_the_order_is_the_plan(self) -> None:
        """Arms, and tasks, in another order are another plan."""
        first, second = PLAN.tasks[0], evolve(PLAN.tasks[0], id="MB-02")
        swaps: tuple[Callable[[Plan], Plan], ...] = (
            lambda plan: evolve(plan, arms=plan.arms[::-1]),
            lambda plan: evolve(plan, tasks=plan.tasks[::-1]),
        )
        before = evolve(TWO, plan=evolve(TWO.plan, tasks=(first, second)))
        for swap, field in zip(swaps, ("order_of_arms", "order_of_tasks"), strict=True):
            world = World()
            world.do(before)
            with pytest.raises(Refused) as caught:
                world.do(evolve(before, plan=swap(before.plan)))
            assert caught.value.fields["fields"] == [field]

    def test_from_what_to_what(self) -> None:
        """A change tells what was there, and what is."""
        world = World()
        world.do(SCHEDULE)
        with pytest.raises(Refused) as caught:
            world.do(planned(phase1_runs=PLAN.phase1_runs + 1))
        assert caught.value.fields["changes"] == {
            "phase1_runs": {"was": PLAN.phase1_runs, "is": PLAN.phase1_runs + 1}
        }

    @pytest.mark.parametrize(
        ("paths", "moved"),
        [
            (["arms.a.launch.cwd"], True),
            (["arms.a.b.launch.mcp.config", "arms.c.launch.append_system_prompt.path"], True),
            (["arms.a.launch.append_system_prompt.path"], False),
            (["arms.a.launch.cwd", "arms.a.launch.append_system_prompt.sha256"], False),
            (["arms.a.launch.cwd", "arms.a.launch.append_system_prompt"], False),
            (["arms.a.launch.cwd", "file.sha256"], False),
            (["tasks.a.launch.cwd"], False),
            (["arms.a.launch.mcp.strict", "arms.a.launch.cwd"], False),
            ([], False),
        ],
    )
    def test_moved(self, paths: list[str], *, moved: bool) -> None:
        """A study was moved where its own state lies elsewhere, and nothing but places differs."""
        assert is_moved(paths) is moved


class TestReducer:
    """What no decision could have led to is refused."""

    def test_twice(self) -> None:
        """A second schedule is no history."""
        said = decide(SCHEDULE, World().registry, START)
        with pytest.raises(IllegalHistory, match="scheduled before"):
            fold((*said, said[-1]))

    def test_kept(self) -> None:
        """The registry holds the schedule as it was said."""
        said = decide(SCHEDULE, World().registry, START)
        assert fold(said).study == said[-1]
