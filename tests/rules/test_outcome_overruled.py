"""How a job ended when somebody ended it, and what is flagged."""

from functools import partial
from typing import Any

import pytest
from attrs import evolve
from hypothesis import find, given, settings
from hypothesis import strategies as st

from forks_core.registry import SILENT
from forks_core.rules.outcome import Conclusion, Imposed
from forks_events.jobs import KillRequested
from forks_events.words import ErrorKind, Flag, Reason, Status
from tests.claude.lines import (
    failure,
    init,
    limit,
    result,
    says,
    stream,
    usage,
)
from tests.rules.calls import GOOD, KILL, OK, RESTRICTED, end


@pytest.mark.rule("B25.3")
class TestKill:
    """A wish to kill turns all but ok into killed."""

    def test_survives(self) -> None:
        """An ok job survives it, also when the signal met a client that was done."""
        assert end(stream(*GOOD), kill=KILL) == OK
        for code in (-9, 143, None):
            told = end(stream(*GOOD), kill=KILL, exit_code=code)
            assert told == Conclusion(status=Status.OK, flags=(Flag.KILLED_AFTER_RESULT,))

    @pytest.mark.parametrize(
        "lines", [(init(),), (init(), RESTRICTED), (failure(),), (result(0, {}, usage=usage()),)]
    )
    def test_killed(self, lines: tuple[dict[str, Any], ...]) -> None:
        """Anything else is killed, with its reason."""
        told = end(stream(*lines), kill=KILL, exit_code=-9)
        assert (told.status, told.reason) == (Status.KILLED, Reason.KILL)

    @pytest.mark.parametrize(
        ("code", "status"), [(1, Status.KILLED), (128, Status.KILLED), (129, Status.OK)]
    )
    def test_exit_code_of_its_own(self, code: int, status: Status) -> None:
        """An exit code that no signal gives is the client's own failure, and so killed."""
        assert end(stream(*GOOD), kill=KILL, exit_code=code).status is status

    def test_what_went_wrong(self) -> None:
        """What its result complained of, and when that ends, stays known, whoever ended it."""
        heard = stream(init(), limit("rejected", resetsAt=1796052649), failure())
        own = end(heard)
        assert own.resets_at is not None
        imposed = Imposed(status=Status.TIMEOUT)
        for told in (end(heard, kill=KILL), end(heard, imposed=imposed)):
            assert (told.error_kind, told.resets_at) == (ErrorKind.RATE_LIMIT, own.resets_at)

    @pytest.mark.rule("B21.7", "B30.3")
    @pytest.mark.parametrize(
        ("reason", "flags"),
        [
            (Reason.KILL, ()),
            (Reason.EXPIRE, (Flag.EXPIRED,)),
            (Reason.ORPHANED, (Flag.ORPHANED,)),
        ],
    )
    def test_why(self, reason: Reason, flags: tuple[Flag, ...]) -> None:
        """An expired job and an orphan are flagged as such, whoever says how they ended."""
        wish = evolve(KILL, reason=reason)
        imposed = Imposed(status=Status.KILLED, reason=reason)
        for told in (end(SILENT, kill=wish), end(SILENT, kill=wish, imposed=imposed)):
            assert (told.status, told.reason, told.flags) == (Status.KILLED, reason, flags)


class TestImposed:
    """Whoever ended the job itself has said how."""

    @pytest.mark.rule("B25.2")
    def test_kept(self) -> None:
        """Status, reason, detail and kind are theirs, whatever the stream holds."""
        imposed = Imposed(
            status=Status.FAILED,
            reason=Reason.NO_RESULT,
            detail="silent",
            error_kind=ErrorKind.STARTUP,
            flags=(Flag.STALLED, Flag.STALLED),
        )
        for heard in (SILENT, stream(*GOOD)):
            assert end(heard, imposed=imposed, kill=KILL) == Conclusion(
                status=Status.FAILED,
                reason=Reason.NO_RESULT,
                detail="silent",
                error_kind=ErrorKind.STARTUP,
                flags=(Flag.STALLED,),
            )

    @pytest.mark.rule("B25.2", "D8")
    def test_lost(self) -> None:
        """A lost job stays lost, and a result that is there is told."""
        lost = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)
        recovered = end(stream(*GOOD), imposed=lost)
        assert (recovered.status, recovered.flags) == (Status.LOST, (Flag.RESULT_RECOVERED,))
        assert end(stream(init(), says()), imposed=lost).flags == ()
        assert end(stream(failure("overloaded")), imposed=lost).error_kind is ErrorKind.OVERLOADED

    @pytest.mark.parametrize("status", [None, Status.OK])
    def test_helped_to_exit(self, status: Status | None) -> None:
        """A client that was ended after its result is judged by it, and not by its exit code."""
        helped = Imposed(status=status, flags=(Flag.KILLED_AFTER_RESULT,))
        assert end(stream(*GOOD), imposed=helped, exit_code=-9) == evolve(OK, flags=helped.flags)
        assert end(stream(failure()), imposed=helped, exit_code=-9).reason is Reason.IS_ERROR


@pytest.mark.rule("B25.5")
class TestFlags:
    """Flags tell what is worth a look, whatever the status says; each once, in order."""

    @pytest.mark.parametrize(
        ("lines", "told", "flag"),
        [
            ((says(), result(permission_denials=[{}])), {}, Flag.NEEDS_ATTENTION),
            ((says(), result(subagent_stats={"killed": {"system": 1}})), {}, Flag.KILLED_WORK),
            ((says(), result(result="")), {}, Flag.RESULT_TEXT_RECOVERED),
            ((init(), says(), result()), {"session": "other"}, Flag.SESSION_MISMATCH),
        ],
    )
    def test_ok_with_a_flag(
        self, lines: tuple[dict[str, Any], ...], told: dict[str, Any], flag: Flag
    ) -> None:
        """The job is ok all the same."""
        assert end(stream(*lines), **told) == evolve(OK, flags=(flag,))

    def test_error_after_success(self) -> None:
        """A real turn that failed after a good one fails the job, and is flagged."""
        told = end(stream(init(), says(), result(0.1), failure(total_cost_usd=0.1)))
        assert told.reason is Reason.IS_ERROR
        assert told.flags == (Flag.ERROR_AFTER_SUCCESS,)
        assert end(stream(init(), says(), failure())).flags == (), "nothing had been good"

    @pytest.mark.parametrize(
        "note", [result(0.1, num_turns=0, is_error=True), failure(total_cost_usd=0)]
    )
    def test_an_error_that_is_no_turn(self, note: dict[str, Any]) -> None:
        """What fails after a good turn, and is no turn itself, leaves it ok, and is flagged."""
        flagged = evolve(OK, flags=(Flag.ERROR_AFTER_SUCCESS,))
        assert end(stream(init(), says(), result(0.1), note)) == flagged


class TestLaws:
    """What holds for any end."""

    LINES = st.lists(
        st.sampled_from(
            [init(), says(), result(), failure(), RESTRICTED, result(subtype="error_max_turns")]
        ),
        max_size=4,
    )
    CODES = st.sampled_from([0, 1, -9, 143, None])
    KILLS = st.sampled_from([None, KILL])

    @pytest.mark.rule("B25.4")
    @settings(deadline=None)
    @given(LINES, CODES, KILLS)
    def test_law_ok_has_no_reason(
        self, lines: list[dict[str, Any]], code: int | None, kill: KillRequested | None
    ) -> None:
        """Ok has neither reason nor error kind, and anything else has a reason."""
        told = end(stream(*lines), exit_code=code, kill=kill)
        assert (told.status is Status.OK) == (told.reason is None)
        assert told.status is not Status.OK or told.error_kind is None

    @settings(deadline=None)
    @given(LINES, CODES)
    def test_law_a_kill_never_makes_it_better_than_its_result(
        self, lines: list[dict[str, Any]], code: int | None
    ) -> None:
        """A killed job is ok only where its client's own result is good."""
        heard = stream(*lines)
        killed = end(heard, exit_code=code, kill=KILL)
        assert killed.status in {Status.OK, Status.KILLED}
        assert killed.status is not Status.OK or end(heard, exit_code=0).status is Status.OK

    @pytest.mark.rule("B25.4")
    def test_reachability(self) -> None:
        """All reasons that a stream can give are reached."""
        drawn = st.tuples(self.LINES, self.CODES, self.KILLS)
        for reason in (
            None,
            Reason.MODEL_REFUSED,
            Reason.NO_RESULT,
            Reason.EXIT_CODE,
            Reason.IS_ERROR,
            Reason.KILL,
        ):
            assert find(drawn, partial(self.is_for, reason))

    @staticmethod
    def is_for(
        reason: Reason | None, drawn: tuple[list[dict[str, Any]], int | None, KillRequested | None]
    ) -> bool:
        """Tell whether such a job ends for a reason."""
        lines, code, kill = drawn
        return end(stream(*lines), exit_code=code, kill=kill).reason is reason
