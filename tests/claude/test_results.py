"""A result line becomes an event."""

from datetime import UTC, datetime
from typing import Any

import pytest

from forks_core.claude.stream import Parser
from forks_events.stream import (
    StreamResulted,
)
from forks_events.values import Usage
from forks_events.words import ErrorKind
from tests.claude.lines import (
    JOB,
    MODEL,
    banner,
    counted,
    events,
    failure,
    limit,
    result,
    says,
    system,
    wire,
)


def resulted(*lines: dict[str, Any]) -> StreamResulted:
    """Give the last result."""
    last = events(*lines)[-1]
    assert isinstance(last, StreamResulted)
    return last


class TestResulted:
    """A result is told in numbers and names; its words stay in the raw file."""

    def test_fields(self) -> None:
        """What the client counts is kept apart from what was seen."""
        event = resulted(
            result(
                0.25,
                {
                    MODEL: counted(1, 2, 3, 4)
                    | {"costUSD": 0.25, "cacheCreationEphemeral1hInputTokens": 2}
                },
                num_turns=7,
                result="é",
                terminal_reason="completed",
                subagent_stats={"killed": {"system": 3, "user": 1}},
            )
        )
        assert event.spent is not None
        assert event.spent.cost_usd == 0.25
        assert event.spent.models[MODEL].usage == Usage(
            input=1, output=4, cache_creation=2, cache_creation_1h=2, cache_read=3
        )
        assert (event.num_turns, event.text_bytes, event.killed_work) == (7, 2, 3)
        assert (event.error_kind, event.terminal_reason) == (None, "completed")

    @pytest.mark.parametrize(
        "cost",
        [
            *(b"null", b"true", b'"0.1"', b"-1", b"[]", b"NaN", b"-Infinity", b"1e999", b"1" * 400),
            *(b"1e308", b"1000000000.1"),
        ],
    )
    def test_no_cost(self, cost: bytes) -> None:
        """A total that no call could cost is unknown, and the rest of the line is read."""
        (event,) = Parser(JOB).feed(wire(result("COST")).replace(b'"COST"', cost), None)
        assert isinstance(event, StreamResulted)
        assert (event.spent, event.num_turns) == (None, 1)

    @pytest.mark.parametrize("cost", [b"-1", b"NaN", b"1e308", b"1000000000.1"])
    def test_no_cost_of_a_model(self, cost: bytes) -> None:
        """Of a model it is not counted, and the total and its tokens are."""
        models = {MODEL: counted(7) | {"costUSD": "COST"}, f"{MODEL}[1m]": counted(1)}
        line = wire(result(0.1, models)).replace(b'"COST"', cost)
        (event,) = Parser(JOB).feed(line, None)
        assert isinstance(event, StreamResulted)
        assert event.spent is not None
        assert event.spent.cost_usd == 0.1
        assert event.spent.models[MODEL].cost_usd == 0.0
        assert event.spent.models[MODEL].usage.input == 7

    def test_the_dearest(self) -> None:
        """A thousand million is an amount still."""
        spent = resulted(result(1e9, {MODEL: counted(1) | {"costUSD": 1e9}})).spent
        assert spent is not None
        assert (spent.cost_usd, spent.models[MODEL].cost_usd) == (1e9, 1e9)

    def test_zero_is_known(self) -> None:
        """An explicit zero stays a zero."""
        spent = resulted(result(0, {})).spent
        assert spent is not None
        assert spent.cost_usd == 0.0

    def test_canonical_model(self) -> None:
        """A provider's spelling gives way to the canonical name; a mere suffix stays."""
        models = {
            "us.anthropic.claude-opus-4-5-v1:0": counted(1) | {"canonicalModel": MODEL},
            MODEL: counted(2) | {"canonicalModel": MODEL},
            "claude-sonnet-4-5[1m]": counted(4) | {"canonicalModel": "claude-sonnet-4-5"},
            "broken": None,
        }
        spent = resulted(result(0.1, models)).spent
        assert spent is not None
        assert {model: of.usage.input for model, of in spent.models.items()} == {
            MODEL: 3,
            "claude-sonnet-4-5[1m]": 4,
        }

    def test_without_text(self) -> None:
        """An interrupted turn has no text, and is a result."""
        line = result(subtype="error_during_execution", is_error=True, errors=[])
        del line["result"]
        event = resulted(line)
        assert (event.text_bytes, event.error_kind) == (None, ErrorKind.OTHER)

    @pytest.mark.rule("D16")
    def test_denials(self) -> None:
        """A call that was denied counts once, also when later results list it again."""

        def denied(tool: str, call: Any) -> dict[str, Any]:
            return {"tool_name": tool, "tool_use_id": call, "tool_input": {"secret": 1}}

        first = result(permission_denials=[denied("Bash", "t1"), denied("Write", None), 7])
        second = result(permission_denials=[denied("Bash", "t1"), denied("Bash", "t2")])
        one, two = events(first, second)
        assert isinstance(one, StreamResulted)
        assert isinstance(two, StreamResulted)
        assert one.denials == ("Bash", "Write")
        assert two.denials == ("Bash", "Bash")

    def test_bare(self) -> None:
        """A result that tells nothing is still one."""
        (event,) = Parser(JOB).feed(b'{"type":"result"}', None)
        assert isinstance(event, StreamResulted)
        assert (event.subtype, event.is_error, event.num_turns) == ("unknown", False, None)


@pytest.mark.rule("E6", "D14")
class TestLimits:
    """A window that was announced as exhausted explains the error after it, and when it ends."""

    RESET = datetime(2026, 11, 30, 13, 20, tzinfo=UTC)
    SECONDS = int(RESET.timestamp())

    def test_rejected(self) -> None:
        """The end is the rejected window's."""
        event = resulted(limit("rejected", resetsAt=self.SECONDS), failure("no words"))
        assert (event.error_kind, event.resets_at) == (ErrorKind.RATE_LIMIT, self.RESET)

    def test_end_in_the_windows(self) -> None:
        """It may be told among the windows only."""
        windows = {"five_hour": {"resetsAt": self.SECONDS}, "seven_day": {"resetsAt": 1}}
        event = resulted(limit("rejected", unifiedWindows=windows), failure())
        assert event.resets_at == self.RESET

    @pytest.mark.parametrize("seconds", [10**15, -5, 0, "soon", True, None, 1e308])
    def test_no_date(self, seconds: Any) -> None:
        """A time that no calendar holds is unknown."""
        event = resulted(limit("rejected", resetsAt=seconds), failure())
        assert (event.error_kind, event.resets_at) == (ErrorKind.RATE_LIMIT, None)

    @pytest.mark.parametrize(
        "line",
        [
            limit("rejected", isUsingOverage=True),
            limit("allowed", overageStatus="rejected"),
            limit("allowed_warning"),
        ],
    )
    def test_no_stop(self, line: dict[str, Any]) -> None:
        """Paid credits in use, none to be had, and warnings are no limits hit."""
        assert resulted(line, failure()).error_kind is ErrorKind.OTHER

    @pytest.mark.parametrize("line", [says(), limit("allowed")])
    def test_over(self, line: dict[str, Any]) -> None:
        """A response, or a better reading, ends it."""
        event = resulted(limit("rejected"), line, failure())
        assert event.error_kind is ErrorKind.OTHER

    def test_good_answer(self) -> None:
        """A good answer may come after it, and may speak of limits."""
        text = "You've hit your weekly limit · resets 7am"
        assert resulted(limit("rejected"), result(result=text)).error_kind is None

    def test_end_in_the_text(self) -> None:
        """An old text tells the end in epoch seconds."""
        event = resulted(failure(f"Claude AI usage limit reached|{self.SECONDS}"))
        assert (event.error_kind, event.resets_at) == (ErrorKind.RATE_LIMIT, self.RESET)


class TestHiddenErrors:
    """An error that is not called one is one: it ended on a banner, a status or a refusal."""

    def test_banner(self) -> None:
        """The last line was the client's own, with an error."""
        assert resulted(banner("overloaded"), result()).error_kind is ErrorKind.OVERLOADED

    def test_banner_passed(self) -> None:
        """An answer after it is an answer."""
        assert resulted(banner("overloaded"), says(), result()).error_kind is None

    def test_subagent(self) -> None:
        """A subagent's error is not the main thread's."""
        line = banner("overloaded") | {"parent_tool_use_id": "t"}
        assert resulted(says(), line, result()).error_kind is None

    def test_refusal(self) -> None:
        """The model would not answer."""
        assert resulted(result(stop_reason="refusal")).error_kind is ErrorKind.REFUSAL

    def test_a_refusal_that_the_result_does_not_tell(self) -> None:
        """The last response's stop, or the client's word that nobody else answers, tells it, too."""
        refuses = says("m1")
        refuses["message"]["stop_reason"] = "refusal"
        silent = system("model_refusal_no_fallback")
        for lines in ((refuses,), (says("m1"), silent), (refuses, silent)):
            assert resulted(*lines, result()).error_kind is ErrorKind.REFUSAL
            # Who has said something else since has answered.
            assert resulted(*lines, says("m2"), result()).error_kind is None

    def test_an_answer_beside_a_budget(self) -> None:
        """An error by its subtype alone has no error text: what it holds is an answer."""
        told = {"subtype": "error_max_budget_usd", "is_error": False}
        quoted = result(**told, result="It says: You've hit your session limit.")
        assert resulted(quoted).error_kind is ErrorKind.BUDGET

    def test_status(self) -> None:
        """The status of the error is there."""
        assert resulted(result(api_error_status=529)).error_kind is ErrorKind.OVERLOADED

    def test_each_result_has_its_own(self) -> None:
        """The error of one turn does not explain the next."""
        assert resulted(banner("overloaded"), failure(), result()).error_kind is None
