"""Opening and configuring the run, and seeing its orchestrator."""

from datetime import timedelta

import pytest
from attrs import evolve

from forks_core.decider import decide
from forks_core.decider.run import Init, SeeOrchestrator, changed_fields, settings_of
from forks_core.decider.train import Train
from forks_core.errors import Refused
from forks_core.reducer import fold
from forks_core.registry import INITIAL
from forks_core.rules.fingerprint import fingerprint
from forks_events.run import LaunchFixed, OrchestratorSeen, RunConfigured, RunOpened
from tests.decider.world import INIT, LAUNCH, SETTINGS, START, World, call, trained


class TestInit:
    """A run is opened once, and configured until its first base exists."""

    @pytest.mark.rule("B13.8")
    def test_the_first_init_opens_fixes_and_configures(self) -> None:
        """A new run is opened, its launch fixed under its fingerprint, its settings recorded."""
        opened, fixed, configured = decide(INIT, INITIAL, START)
        assert isinstance(opened, RunOpened)
        assert (opened.run, opened.format, opened.lab) == ("run-1", 1, True)
        assert fixed == LaunchFixed(at=START, fingerprint=fingerprint(LAUNCH), launch=LAUNCH)
        assert isinstance(configured, RunConfigured)
        assert (configured.fingerprint, configured.settings) == (fixed.fingerprint, SETTINGS)

    @pytest.mark.rule("B13.11", "B13.12")
    def test_the_same_init_again_says_nothing(self) -> None:
        """An init without a difference records nothing, whatever id it would have given."""
        world = World()
        world.do(INIT)
        assert world.do(evolve(INIT, run="another", binary_resolved_by="PATH")) == ()

    def test_a_run_that_was_only_opened(self) -> None:
        """It is configured by the next init, which changes nothing that was told before."""
        opened = fold(decide(INIT, INITIAL, START)[:1])
        for registry in (INITIAL, opened):
            assert changed_fields(INIT, registry) == ()
            with pytest.raises(Refused, match="call init first"):
                settings_of(registry)
        said = decide(INIT, opened, START)
        assert [type(event) for event in said] == [LaunchFixed, RunConfigured]

    @pytest.mark.rule("B13.11")
    @pytest.mark.parametrize(
        "changed",
        [
            evolve(INIT, launch=evolve(LAUNCH, effort="low")),
            evolve(INIT, settings=evolve(SETTINGS, parallel_cap=3)),
        ],
    )
    def test_a_difference_before_any_base_replaces_the_config(self, changed: Init) -> None:
        """Until a base exists, other values are recorded, and the run is not opened again."""
        world = World()
        world.do(INIT)
        fixed, configured = world.do(changed)
        assert isinstance(fixed, LaunchFixed)
        assert isinstance(configured, RunConfigured)
        assert world.registry.run is not None
        assert world.registry.run.configured == configured

    @pytest.mark.rule("B13.11")
    def test_a_difference_is_refused_once_a_base_exists(self) -> None:
        """A base of any status forbids another launch, and the refusal names the fields."""
        world = World()
        world.do(INIT, *(Train(base=name, call=call(f"s-{name}")) for name in "hgfedcba"))
        with pytest.raises(Refused, match="init values differ and a base exists") as refused:
            world.do(evolve(INIT, launch=evolve(LAUNCH, effort="low", tools=("Bash",))))
        assert refused.value.fields["fields"] == ["launch.effort", "launch.tools"]
        assert refused.value.fields["bases"] == [*"abcdefgh"]


@pytest.mark.rule("B27.1")
class TestSeenOrchestrator:
    """The orchestrator is recorded again only when the last time is old enough to matter."""

    def test_within_a_minute_nothing_is_said(self) -> None:
        """At 60 s the last time is still fresh; beyond, it is said again."""
        world = World()
        world.do(INIT)
        first = world.do(SeeOrchestrator())
        assert first == (OrchestratorSeen(at=world.now),)
        world.later(59)
        assert world.do(SeeOrchestrator()) == ()
        world.later(0.5)
        assert world.do(SeeOrchestrator()) == (OrchestratorSeen(at=world.now),)

    def test_a_short_limit_is_never_missed_by_saying_it_seldom(self) -> None:
        """With a small orphan_after, a quarter of it is the rest between two records."""
        world = World()
        world.do(evolve(INIT, settings=evolve(SETTINGS, orphan_after=20)), SeeOrchestrator())
        world.later(4)
        assert world.do(SeeOrchestrator()) == ()
        world.later(2)
        assert world.do(SeeOrchestrator()) == (OrchestratorSeen(at=world.now),)

    def test_launching_sees_the_orchestrator_in_the_same_commit(self) -> None:
        """Train and fork record it themselves, first."""
        world = World()
        world.do(INIT)
        assert isinstance(world.do(Train(base="main", call=call()))[0], OrchestratorSeen)

    def test_it_needs_an_init(self) -> None:
        """Before init there is no run to have an orchestrator."""
        with pytest.raises(Refused, match="call init first"):
            decide(SeeOrchestrator(), INITIAL, START)


def test_a_trained_world_is_reachable() -> None:
    """The world that the other tests begin with has an active base that was hit."""
    base = trained().registry.bases["main"]
    assert base.last_hit is not None
    assert base.last_hit - START < timedelta(minutes=1)
