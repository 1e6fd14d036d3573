"""The orchestrator's silence, whatever the clocks do."""

from datetime import UTC, datetime, timedelta

import pytest

from forks_core.system.orchestrator_watch import OrchestratorWatch

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """A time after noon."""
    return NOON + timedelta(seconds=seconds)


@pytest.mark.rule("D20")
class TestSilence:
    """Silence counts in monotonic seconds from when each sign of the orchestrator was read."""

    @pytest.mark.rule("B21.7")
    def test_never_seen(self) -> None:
        """Without any sign nothing is known, and so nobody is an orphan."""
        assert OrchestratorWatch().silent_s(None, NOON, 7.0) is None

    def test_it_grows(self) -> None:
        """A sign that was read late was given earlier: its age counts, and grows from there."""
        watch = OrchestratorWatch()
        assert watch.silent_s(NOON, after(5), 100.0) == 5
        assert watch.silent_s(NOON, after(15), 110.0) == 15

    def test_a_new_sign(self) -> None:
        """Each new sign begins anew."""
        watch = OrchestratorWatch()
        watch.silent_s(NOON, NOON, 100.0)
        assert watch.silent_s(after(60), after(61), 161.0) == 1

    def test_a_clock_that_is_set(self) -> None:
        """A wall clock that jumps after the sign was read changes nothing."""
        for jump in (-86_400, 86_400):
            watch = OrchestratorWatch()
            watch.silent_s(NOON, NOON, 100.0)
            assert watch.silent_s(NOON, after(jump), 110.0) == 10

    def test_a_sign_from_the_future(self) -> None:
        """A sign that lies ahead of our clock is a sign of now."""
        assert OrchestratorWatch().silent_s(after(30), NOON, 100.0) == 0
