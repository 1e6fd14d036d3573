"""How a job ended."""

from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve as change

from forks_core.registry import SILENT
from forks_core.rules.models import is_same_model
from forks_events.words import ErrorKind, Flag, Reason, Status
from tests.claude.lines import (
    MODEL,
    failure,
    init,
    limit,
    result,
    says,
    stream,
    system,
    usage,
)
from tests.rules.calls import GOOD, OK, RESTRICTED, end


@pytest.mark.rule("B25.2", "D6")
class TestModelRefused:
    """A refused model fails the job first of all."""

    def test_announced(self) -> None:
        """An announcement is enough, also when the client was killed for it."""
        for lines in ((init(), RESTRICTED), (*GOOD, RESTRICTED)):
            told = end(stream(*lines), exit_code=-9)
            assert (told.reason, told.detail) == (Reason.MODEL_REFUSED, "other")
            assert told.error_kind is ErrorKind.MODEL

    def test_other_models_ran(self) -> None:
        """A good result of other models alone is a refusal."""
        told = end(stream(*GOOD), models_used=("a", "b"))
        assert (told.reason, told.detail) == (Reason.MODEL_REFUSED, "a,b")

    def test_helpers(self) -> None:
        """Helper models beside it are none."""
        assert end(stream(*GOOD), models_used=("haiku", MODEL)) == OK

    def test_no_models(self) -> None:
        """A result that names no models says nothing of them."""
        assert end(stream(*GOOD), models_used=()) == OK

    def test_error(self) -> None:
        """An error that other models gave is the error."""
        assert end(stream(failure()), models_used=("haiku",)).reason is Reason.IS_ERROR

    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            ("claude-opus-5-5[1m]", "claude-opus-5-5", True),
            ("claude-opus-5-5", "claude-opus-5-5[1m]", True),
            ("claude-haiku-4-5", "claude-haiku-4-5-20251001", True),
            ("claude-haiku-4-5", "claude-haiku-4-5@20251001", True),
            ("claude-haiku-4-5@20251001", "claude-haiku-4-5-20251001[1m]", True),
            ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20260101", False),
            ("claude-opus-4-5", "claude-opus-4", False),
            ("claude-opus-4-5", "claude-sonnet-4-5", False),
        ],
    )
    def test_identity(self, one: str, other: str, *, same: bool) -> None:
        """Neither the context suffix nor the date of the snapshot makes another model."""
        assert is_same_model(one, other) is is_same_model(other, one) is same
        refused = end(stream(*GOOD), model=one, models_used=(other,)).reason
        assert (refused is None) is same

    def test_what_ran_instead(self) -> None:
        """It is what was announced, else what was counted, else unknown."""
        warning = system("informational", level="warning", content="That model is restricted.")
        for models, detail in (((), None), (("a",), "a"), (("a", "b"), "a,b")):
            told = end(stream(init(), warning), models_used=models)
            assert (told.reason, told.detail) == (Reason.MODEL_REFUSED, detail)
        assert end(stream(init(), RESTRICTED), models_used=("a",)).detail == "other"


@pytest.mark.rule("B25.2")
class TestNoResult:
    """Without a result a job failed, by the exit code when it is not zero."""

    def test_exit_code(self) -> None:
        """The code is the detail."""
        told = end(stream(init(), says()), exit_code=143)
        assert (told.status, told.reason, told.detail) == (Status.FAILED, Reason.EXIT_CODE, "143")
        assert told.error_kind is None

    @pytest.mark.parametrize("code", [0, None])
    def test_silent_end(self, code: int | None) -> None:
        """A final answer without a result is no success."""
        told = end(stream(init(), says()), exit_code=code)
        assert (told.status, told.reason) == (Status.FAILED, Reason.NO_RESULT)

    def test_never_started(self) -> None:
        """A client that never introduced itself did not start, whatever it says else."""
        assert end(SILENT, exit_code=1).error_kind is ErrorKind.STARTUP
        assert end(SILENT).error_kind is ErrorKind.STARTUP
        told = end(SILENT, exit_code=1, stderr_kind=ErrorKind.SESSION_MISSING)
        assert told.error_kind is ErrorKind.SESSION_MISSING

    def test_started(self) -> None:
        """One that did start has no start-up error."""
        told = end(stream(init()), exit_code=1, stderr_kind=ErrorKind.STARTUP)
        assert told.error_kind is None

    def test_answered_without_an_introduction(self) -> None:
        """One that has answered did start, unless it says itself that it could not."""
        assert end(stream(says()), exit_code=1).error_kind is None
        told = end(stream(says()), exit_code=1, stderr_kind=ErrorKind.STARTUP)
        assert told.error_kind is ErrorKind.STARTUP

    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (529, ErrorKind.OVERLOADED),
            (401, ErrorKind.AUTH),
            (429, ErrorKind.RATE_LIMIT),
            (None, ErrorKind.NETWORK),
            (403, ErrorKind.AUTH),
            (500, ErrorKind.OVERLOADED),
            (499, ErrorKind.OTHER),
            (404, ErrorKind.OTHER),
        ],
    )
    def test_retrying(self, status: int | None, kind: ErrorKind) -> None:
        """What it was trying to get over is what went wrong."""
        heard = stream(init(), system("api_retry", error_status=status))
        assert end(heard, exit_code=137).error_kind is kind


@pytest.mark.rule("B25.2", "D6")
class TestIsError:
    """An error result failed the job, by its flag, its subtype, or what ended it."""

    @pytest.mark.parametrize(
        ("fields", "detail", "kind"),
        [
            ({"is_error": True}, "success", ErrorKind.OTHER),
            ({"is_error": True, "api_error_status": 529}, "success", ErrorKind.OVERLOADED),
            ({"subtype": "error_max_budget_usd"}, "error_max_budget_usd", ErrorKind.BUDGET),
            ({"subtype": "error_max_turns"}, "error_max_turns", ErrorKind.TURNS),
            ({"subtype": "error_novel"}, "error_novel", ErrorKind.OTHER),
            ({"stop_reason": "refusal"}, "success", ErrorKind.REFUSAL),
        ],
    )
    @pytest.mark.parametrize("code", [0, 1])
    def test_error(self, fields: dict[str, Any], detail: str, kind: ErrorKind, code: int) -> None:
        """The detail is the subtype, whatever the exit code is."""
        told = end(stream(init(), says(), result(**fields)), exit_code=code)
        expected = (Status.FAILED, Reason.IS_ERROR, detail, kind)
        assert (told.status, told.reason, told.detail, told.error_kind) == expected

    @pytest.mark.parametrize(
        "told",
        [
            {"is_error": True},
            {"subtype": "error_max_turns"},
            {"error_kind": ErrorKind.BUDGET},
        ],
    )
    def test_each_alone(self, told: dict[str, Any]) -> None:
        """Flag, subtype and kind are errors each by itself, as the log may hold them."""
        heard = stream(*GOOD)
        assert heard.result is not None
        failed = end(change(heard, result=change(heard.result, **told)))
        assert (failed.status, failed.reason) == (Status.FAILED, Reason.IS_ERROR)
        assert failed.error_kind is told.get("error_kind", ErrorKind.OTHER)

    def test_reset(self) -> None:
        """A limit's end goes along."""
        heard = stream(limit("rejected", resetsAt=1796052649), failure())
        assert end(heard).resets_at == datetime(2026, 11, 30, 15, 30, 49, tzinfo=UTC)

    def test_more_turns_than_allowed(self) -> None:
        """The client's count of turns may exceed its limit on a good run."""
        assert end(stream(init(), says(), result(num_turns=108))) == OK


@pytest.mark.rule("B25.2")
class TestExitCode:
    """A good result of a client that exits with an error is a failure."""

    def test_exit_code(self) -> None:
        """The code decides, and standard error may tell why."""
        told = end(stream(*GOOD), exit_code=1, stderr_kind=ErrorKind.NETWORK)
        assert (told.reason, told.detail, told.error_kind) == (
            Reason.EXIT_CODE,
            "1",
            ErrorKind.NETWORK,
        )


class TestRecoveredText:
    """A good result may come without its text."""

    def test_flag(self) -> None:
        """Where the text is found before it, that is flagged; where there is none, nothing is."""
        heard = stream(init(), says(), result(result=""))
        assert end(heard).flags == (Flag.RESULT_TEXT_RECOVERED,)
        assert end(heard, has_text=False) == OK
        assert end(stream(*GOOD)) == OK


class TestNoWork:
    """A success without one response and one token is none."""

    def test_empty_answer(self) -> None:
        """The gateway answered nothing."""
        told = end(stream(init(), result(0, {}, result="", usage=usage())))
        assert (told.status, told.reason) == (Status.FAILED, Reason.NO_RESULT)
        assert told.error_kind is ErrorKind.NO_WORK

    @pytest.mark.parametrize("lines", [(says(),), (says(parent="t"),)])
    def test_some_answer(self, lines: tuple[dict[str, Any], ...]) -> None:
        """Any response is work, a subagent's too; and so is any token."""
        assert end(stream(init(), *lines, result(0, {}, usage=usage()))) == OK
        assert end(stream(init(), result(0, {}))) == OK

    def test_each_alone(self) -> None:
        """A response without tokens is work, and so is a model whose counters grew."""
        nothing = result(0, {}, usage=usage())
        heard = stream(init(), says(spent=usage()), nothing)
        assert end(heard, models_used=()) == OK
        assert end(stream(init(), nothing), models_used=(MODEL,)) == OK
