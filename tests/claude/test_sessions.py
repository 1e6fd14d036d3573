"""Which session a stream is of."""

from typing import Any

import pytest

from forks_core.rules.flags import session_of
from tests.claude.lines import SESSION, failure, init, result, says, stream


class TestSession:
    """It is the one that the client introduced itself with, until it begins anew."""

    @pytest.mark.rule("B22.2")
    def test_introduced(self) -> None:
        """The first introduction counts, whatever later lines say."""
        later = (init(session_id="later"), says(session_id="other"), result(session_id="third"))
        assert session_of(stream(init(), *later)) == SESSION

    def test_unknown(self) -> None:
        """Where no line tells there is none."""
        assert session_of(stream(init(session_id=None), says())) is None

    @pytest.mark.parametrize(
        ("reset", "expected"), [({"session_id": "anew"}, "anew"), ({"session_id": None}, SESSION)]
    )
    def test_reset(self, reset: dict[str, Any], expected: str) -> None:
        """A conversation that begins anew is another session, where it tells which."""
        line = {"type": "conversation_reset", "uuid": "r", "trigger": "clear"} | reset
        assert session_of(stream(init(), line)) == expected

    @pytest.mark.rule("B22.4")
    @pytest.mark.parametrize("line", [result(session_id="told"), failure(session_id="told")])
    def test_of_a_result(self, line: dict[str, Any]) -> None:
        """Where no introduction came the result's session is the one that is known."""
        assert session_of(stream(line)) == "told"
