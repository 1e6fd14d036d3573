"""Liveness of clients: what ends one, and when it is stalled."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.supervision import (
    Limits,
    Overdue,
    Timings,
    Watch,
    is_stalled,
    overdue,
)
from tests.projections.builders import reached

LIMITS = Limits(
    max_s=100.0,
    stall_after_s=50.0,
    no_output_s=20.0,
    orphan_after_s=70.0,
    result_linger_s=5.0,
    background_linger_s=30.0,
)
WELL = Watch(
    ran_s=1.0,
    quiet_s=0.0,
    printed=True,
    refused=False,
    resulted_s=None,
    background=0,
    orchestrator_silent_s=0.0,
    open_tools=0,
    retry_s=0.0,
)
SECONDS = st.integers(0, 15).map(lambda tens: tens * 10.0)
WATCHES = st.builds(
    Watch,
    ran_s=SECONDS,
    quiet_s=SECONDS,
    printed=st.booleans(),
    refused=st.booleans(),
    resulted_s=st.none() | SECONDS,
    background=st.integers(0, 1),
    orchestrator_silent_s=st.none() | SECONDS,
    open_tools=st.integers(0, 1),
    retry_s=st.sampled_from([0.0, 30.0]),
)
RANK = [Overdue.REFUSED, Overdue.LINGERS, Overdue.TIMEOUT, Overdue.NO_OUTPUT, Overdue.ORPHANED]


def later(watch: Watch, seconds: float) -> Watch:
    """The same client, when that much time has passed and nothing has happened."""
    result, orchestrator = watch.resulted_s, watch.orchestrator_silent_s
    return evolve(
        watch,
        ran_s=watch.ran_s + seconds,
        quiet_s=watch.quiet_s + seconds,
        resulted_s=None if result is None else result + seconds,
        orchestrator_silent_s=None if orchestrator is None else orchestrator + seconds,
    )


@pytest.mark.rule("B33.1", "D19")
class TestTimings:
    """The seconds that everything keeps to, unless it is told otherwise."""

    def test_defaults(self) -> None:
        """Ten seconds a beat, two minutes until lost, 35 s to exit, ten minutes for subagents."""
        assert Timings() == Timings(
            heartbeat_s=10,
            lost_after_s=120,
            tick_s=0.25,
            orphan_check_s=1,
            wait_poll_s=2,
            kill_verify_s=10,
            reader_join_s=10,
            result_linger_s=35,
            background_linger_s=600,
            orchestrator_seen_s=60,
            lock_wait_s=45,
        )


@pytest.mark.rule("B21.7")
class TestOverdue:
    """A client ends when it is refused its model, overstays, stays mute, or is alone."""

    def test_within_all_limits(self) -> None:
        """A client that is well goes on."""
        assert overdue(WELL, LIMITS) is None

    @pytest.mark.parametrize(
        ("told", "expected"),
        [
            ({"ran_s": 100.0}, None),
            ({"ran_s": 100.1}, Overdue.TIMEOUT),
            ({"printed": False, "quiet_s": 20.0}, None),
            ({"printed": False, "quiet_s": 20.1}, Overdue.NO_OUTPUT),
            ({"printed": True, "quiet_s": 99.0}, None),
            ({"orchestrator_silent_s": 70.0}, None),
            ({"orchestrator_silent_s": 70.1}, Overdue.ORPHANED),
            ({"orchestrator_silent_s": None}, None),
            ({"resulted_s": 5.0}, None),
            ({"resulted_s": 5.1}, Overdue.LINGERS),
            ({"resulted_s": 35.0, "background": 1}, None),
            ({"resulted_s": 35.1, "background": 1}, Overdue.LINGERS),
            ({"refused": True}, Overdue.REFUSED),
        ],
    )
    def test_limits_are_strict(self, told: dict[str, Any], expected: Overdue | None) -> None:
        """At its limit a client is still within it; an orchestrator never seen orphans nobody."""
        assert overdue(evolve(WELL, **told), LIMITS) is expected

    def test_precedence(self) -> None:
        """A refusal comes first, then the wall time, then muteness, then the orchestrator."""
        all_of_it = evolve(
            WELL,
            refused=True,
            ran_s=101.0,
            printed=False,
            quiet_s=101.0,
            orchestrator_silent_s=101.0,
        )
        assert overdue(all_of_it, LIMITS) is Overdue.REFUSED
        unrefused = evolve(all_of_it, refused=False)
        assert overdue(unrefused, LIMITS) is Overdue.TIMEOUT
        young = evolve(unrefused, ran_s=99.0)
        assert overdue(young, LIMITS) is Overdue.NO_OUTPUT
        assert overdue(evolve(young, printed=True), LIMITS) is Overdue.ORPHANED

    def test_a_result_is_kept(self) -> None:
        """A client that gave its result is only waited for: no other limit spoils it any more."""
        late = evolve(WELL, resulted_s=1.0, ran_s=999.0, orchestrator_silent_s=999.0)
        assert overdue(late, LIMITS) is None
        assert overdue(evolve(late, refused=True), LIMITS) is Overdue.REFUSED

    @settings(deadline=None)
    @given(WATCHES, SECONDS)
    def test_law_monotone_in_time(self, watch: Watch, seconds: float) -> None:
        """What is overdue stays so while nothing happens, and never for a lesser cause."""
        before, after = overdue(watch, LIMITS), overdue(later(watch, seconds), LIMITS)
        if before is not None:
            assert after is not None
            assert RANK.index(after) <= RANK.index(before)

    @settings(deadline=None)
    @given(WATCHES)
    def test_law_all_end(self, watch: Watch) -> None:
        """Nothing runs for ever: every client is overdue in the end."""
        assert overdue(later(watch, 101.0), LIMITS) is not None

    @pytest.mark.parametrize("cause", [None, *Overdue])
    def test_reachability(self, cause: Overdue | None) -> None:
        """Each cause is met among the clients that the laws look at, and none at all too."""
        assert reached(WATCHES, lambda watch: overdue(watch, LIMITS) is cause)


@pytest.mark.rule("B21.7")
class TestStalled:
    """A silent stream is flagged, unless a tool, an announced retry or a result explains it."""

    @pytest.mark.parametrize(
        ("told", "expected"),
        [
            ({"quiet_s": 50.0}, False),
            ({"quiet_s": 50.1}, True),
            ({"quiet_s": 50.1, "printed": False}, True),
            ({"quiet_s": 720.0, "open_tools": 1}, False),
            ({"quiet_s": 720.1, "open_tools": 1}, True),
            ({"quiet_s": 80.0, "retry_s": 30.0}, False),
            ({"quiet_s": 80.1, "retry_s": 30.0}, True),
            ({"quiet_s": 999.0, "resulted_s": 1.0}, False),
        ],
    )
    def test_told(self, told: dict[str, Any], *, expected: bool) -> None:
        """The limit is strict; a tool has 12 minutes; an announced wait is added."""
        assert is_stalled(evolve(WELL, **told), LIMITS) is expected

    def test_stalled_is_not_overdue(self) -> None:
        """Silence alone ends nobody who has spoken."""
        silent = evolve(WELL, quiet_s=99.0)
        assert is_stalled(silent, LIMITS)
        assert overdue(silent, LIMITS) is None
