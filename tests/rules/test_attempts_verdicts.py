"""How an attempt ended, whether its work is right, and whether it is tried again."""

from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.rules.attempts import (
    has_passed,
    infra_kind,
    is_evaluator_error,
    trial_status,
    verdict,
)
from forks_events.study import Attempts
from forks_events.trials import InfraKind, TrialStatus, Wait
from tests.claude.lines import Line, counted, failure, init, limit, result, says
from tests.fates import FATES, LOST, TIMED_OUT, Told, fate, told
from tests.studies import PASSED, concluded, opened, tried, went
from tests.studies import begun as begin
from tests.studies import ended as end

TRIAL = "MB-01-r1-plain"
REJECTED = limit("rejected")
UNCONNECTED: Line = init(mcp_servers=[{"name": "db", "status": "failed"}])
LIMITS = Attempts(overloaded=4, other=2, auth=2)
RATE, OVER, AUTH = InfraKind.RATE_LIMIT, InfraKind.OVERLOADED, InfraKind.AUTH
MCP, CRASH, OURS = InfraKind.MCP_START, InfraKind.CLIENT_CRASH, InfraKind.RUNNER


def status_of(call: Told) -> TrialStatus:
    """How an attempt ended whose call goes like this."""
    found = went(call)
    return trial_status(found, infra_kind(found))


GOOD = (init(), says(), result())


def cut(subtype: str, **fields: Any) -> Line:
    """A result that is called so."""
    return result(subtype=subtype, is_error=True, **fields)


@pytest.mark.rule("R3.7")
class TestStatus:
    """How an attempt ended, for who compares arms."""

    @pytest.mark.parametrize(
        ("call", "status"),
        [
            pytest.param(
                told(init(), REJECTED, imposed=TIMED_OUT), TrialStatus.TIMEOUT, id="time, infra"
            ),
            pytest.param(
                told(init(), cut("error_max_turns"), imposed=TIMED_OUT),
                TrialStatus.TIMEOUT,
                id="time, turns",
            ),
            pytest.param(told(*GOOD, imposed=TIMED_OUT), TrialStatus.TIMEOUT, id="time, good"),
            pytest.param(
                told(UNCONNECTED, cut("error_max_turns")),
                TrialStatus.INFRA_ERROR,
                id="infra, turns",
            ),
            pytest.param(told(exit_code=1), TrialStatus.INFRA_ERROR, id="infra, no result"),
            pytest.param(told(UNCONNECTED, *GOOD[1:]), TrialStatus.INFRA_ERROR, id="infra, good"),
            pytest.param(told(init(), cut("error_max_turns")), TrialStatus.MAX_TURNS, id="turns"),
            pytest.param(
                told(init(), cut("error_max_budget_usd")), TrialStatus.MAX_BUDGET, id="budget"
            ),
            pytest.param(
                told(init(), cut("error_during_execution")), TrialStatus.AGENT_ERROR, id="error"
            ),
            pytest.param(told(init(), failure("?")), TrialStatus.AGENT_ERROR, id="called an error"),
            pytest.param(told(init(), says()), TrialStatus.AGENT_ERROR, id="no result"),
            pytest.param(told(*GOOD), TrialStatus.COMPLETED, id="good"),
        ],
    )
    def test_first_match(self, call: Told, status: TrialStatus) -> None:
        """The first that holds counts."""
        assert status_of(call) is status

    @pytest.mark.parametrize(
        "call",
        [
            pytest.param(told(*GOOD, exit_code=1), id="it exited badly"),
            pytest.param(told(*GOOD, imposed=LOST, exit_code=None), id="its supervisor died"),
        ],
    )
    def test_a_good_result_is_completed(self, call: Told) -> None:
        """A good result completes the attempt, whatever became of the process then."""
        assert status_of(call) is TrialStatus.COMPLETED

    @pytest.mark.parametrize(
        "lines",
        [
            pytest.param(
                (init(), says(), result(modelUsage={"other-model": {"outputTokens": 1}})),
                id="of another model",
            ),
            pytest.param((init(), result(0, {}, usage={})), id="of nothing"),
        ],
    )
    def test_no_work_is_an_error(self, lines: tuple[Line, ...]) -> None:
        """A result that calls itself good and is none completes nothing."""
        assert status_of(told(*lines)) is TrialStatus.AGENT_ERROR


@pytest.mark.rule("R3.7")
class TestWork:
    """Whether the work is right, and whether the attempt counts."""

    @pytest.mark.parametrize(
        ("code", "passed", "broken"),
        [
            (0, True, False),
            (1, False, False),
            (2, False, True),
            (-9, False, True),
            (None, False, True),
        ],
    )
    def test_the_check(self, code: int | None, passed: bool, broken: bool) -> None:  # noqa: FBT001
        """0 passed, 1 failed, and all else is an error of the check."""
        check = evolve(PASSED, exit_code=code)
        assert has_passed(went(told(*GOOD)), check, None) is passed
        assert is_evaluator_error(check) is broken
        said = tried(opened(), TRIAL, told(*GOOD), check)
        assert (said.passed, said.evaluator_error, said.final) == (passed, broken, True)

    def test_no_check(self) -> None:
        """What nothing judged did not pass, and no check failed."""
        assert not has_passed(went(told(*GOOD)), None, None)
        assert not is_evaluator_error(None)

    def test_another_model(self) -> None:
        """What another model did is not the arm's, however right it is."""
        other = told(init(), says(), result(0.1, {"claude-haiku-4-5": counted(10, output=1)}))
        said = tried(opened(), TRIAL, other)
        assert (said.status, said.passed, said.excluded) == (TrialStatus.AGENT_ERROR, False, False)

    @pytest.mark.parametrize("name", FATES)
    def test_passed_and_excluded(self, name: str) -> None:
        """However the agent ended it may have passed, but not where the infrastructure failed."""
        said = tried(opened(), TRIAL, fate(name, opened().now))
        infra = said.infra_kind is not None
        assert said.passed is not infra
        assert said.final is not infra
        assert said.excluded is (infra and said.final)

    def test_the_record(self) -> None:
        """The judgement keeps what judged it, and what the windows stood at."""
        world = opened()
        end(world, begin(world, TRIAL), fate("ok", world.now, seven=0.61))
        said = concluded(world, TRIAL)
        assert said.check == PASSED
        assert said.quota == Map({"five_hour": 0.4, "seven_day": 0.61})


class TestVerdicts:
    """What follows from an attempt."""

    @pytest.mark.rule("R3.2")
    def test_rate_limit(self) -> None:
        """It is waited for without limit."""
        for count in (1, 2, 50):
            judged = verdict([RATE] * count, LIMITS)
            assert (judged.final, judged.excluded, judged.gives_up) == (False, False, False)
            assert (judged.wait, judged.wait_s) == (Wait.RATE_LIMIT, None)

    @pytest.mark.rule("R3.3")
    def test_overloaded(self) -> None:
        """It is tried again behind 60, 120 and 240 s; the fourth attempt is final, and excluded."""
        for count, seconds in enumerate((60, 120, 240), start=1):
            judged = verdict([OVER] * count, LIMITS)
            assert (judged.final, judged.wait, judged.wait_s) == (False, Wait.OVERLOADED, seconds)
        assert verdict([OVER] * 4, LIMITS).final
        assert verdict([OVER] * 4, LIMITS).excluded

    @pytest.mark.rule("R3.4", "E4")
    def test_auth(self) -> None:
        """It is tried again once, behind 30 s; then it is not final, and the run gives up."""
        first, second = verdict([AUTH], LIMITS), verdict([AUTH, AUTH], LIMITS)
        assert (first.final, first.wait, first.wait_s) == (False, Wait.AUTH, 30)
        assert (second.final, second.excluded, second.wait) == (False, False, None)
        assert second.gives_up

    @pytest.mark.rule("R3.5")
    @pytest.mark.parametrize("kind", [MCP, CRASH, OURS])
    def test_other(self, kind: InfraKind) -> None:
        """It is tried again once, behind 5 s; then it is final, and excluded."""
        first, second = verdict([kind], LIMITS), verdict([kind, kind], LIMITS)
        assert (first.final, first.wait, first.wait_s) == (False, Wait.OTHER, 5)
        assert (second.final, second.excluded, second.gives_up) == (True, True, False)

    @pytest.mark.rule("R3.5")
    def test_the_one_retry_is_shared(self) -> None:
        """A refused credential and any other failure use up the same retry."""
        assert verdict([CRASH, AUTH], LIMITS).gives_up
        assert verdict([AUTH, CRASH], LIMITS).final
        assert verdict([MCP, CRASH], LIMITS).final

    @pytest.mark.rule("R3.2", "R3.3", "R3.5")
    def test_limits_and_overload_use_up_nothing_of_it(self) -> None:
        """Each of them is counted by itself."""
        many = [RATE, OVER, RATE, OVER, OVER]
        assert verdict([*many, CRASH], LIMITS).wait is Wait.OTHER
        assert verdict([*many, AUTH], LIMITS).wait is Wait.AUTH
        assert verdict([CRASH, *many], LIMITS).wait_s == 240
        assert verdict([CRASH, *many, OVER], LIMITS).final

    @pytest.mark.rule("R3.6")
    def test_none(self) -> None:
        """What did not fail is final, is not excluded, and is never tried again."""
        for before in ([], [RATE], [OVER] * 3, [AUTH], [CRASH]):
            judged = verdict([*before, None], LIMITS)
            assert (judged.final, judged.excluded, judged.wait) == (True, False, None)

    @pytest.mark.rule("R3.3", "R3.4", "R3.5")
    def test_the_limits_are_the_plan_s(self) -> None:
        """How often a trial is tried is what the study says."""
        once = Attempts(overloaded=1, other=1, auth=1)
        assert verdict([OVER], once).final
        assert verdict([CRASH], once).final
        assert verdict([AUTH], once).gives_up
        more = Attempts(overloaded=6, other=3, auth=4)
        assert [verdict([OVER] * n, more).wait_s for n in (4, 5)] == [480, 900]
        assert verdict([OVER] * 6, more).final
        assert [verdict([CRASH] * n, more).final for n in (1, 2, 3)] == [False, False, True]
        assert [verdict([AUTH] * n, more).gives_up for n in (3, 4)] == [False, True]
