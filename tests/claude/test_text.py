"""The answer's text, out of the raw file."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.claude.text import answer_text, error_text
from tests.claude.lines import (
    Line,
    answers,
    calls,
    every_recording,
    failure,
    init,
    recording,
    result,
    says,
    wire,
)
from tests.projections.builders import reached

LINES: list[Line] = [
    init(),
    says("A", content=[{"type": "text", "text": "spoken"}]),
    says("B", content=[{"type": "text", "text": "deep"}], parent="t"),
    calls("t"),
    answers("t"),
    result(result=""),
    result(result="answered"),
]
WIRES = st.lists(st.sampled_from(LINES), max_size=6)


def speaks(*texts: str, **fields: Any) -> Line:
    """A response of these texts, a block each."""
    return says(content=[{"type": "text", "text": text} for text in texts], **fields)


class TestAnswer:
    """It is the last text that a result holds; without one, the main thread's last text."""

    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            ([], None),
            ([init()], None),
            ([speaks("Hello."), result(result="Done.")], "Done."),
            ([result(result="First."), result(result="Second.")], "Second."),
            ([result(result="First."), result(result="")], "First."),
            ([speaks("Hello."), result(result="")], "Hello."),
            ([speaks("Hello."), result(result=None)], "Hello."),
            ([speaks("One."), speaks("Two.")], "Two."),
            ([speaks("One.", "Two.")], "Two."),
            ([speaks("One."), calls("t"), answers("t")], "One."),
            ([speaks("Main."), speaks("Deep.", parent="t")], "Main."),
            ([speaks("Deep.", parent="t")], None),
            ([calls("t"), answers("t")], None),
            ([failure("It broke")], "It broke"),
        ],
    )
    def test_told(self, lines: list[Line], expected: str | None) -> None:
        """A subagent's words, a tool's, and empty ones are no answer."""
        assert answer_text(wire(*lines)) == expected

    @pytest.mark.parametrize("version", ["2.1.332", "2.0.76"])
    def test_recordings(self, version: str) -> None:
        """A real client's answer is found, and one that was killed had none to give."""
        assert answer_text(recording(version, "train"))
        assert answer_text(recording(version, "session-id-in-use")) is None

    @settings(deadline=None)
    @given(WIRES)
    def test_law_a_result_wins(self, lines: list[Line]) -> None:
        """Wherever it stands, a result's text is preferred to what was only spoken."""
        told = answer_text(wire(*lines))
        if LINES[-1] in lines:
            assert told == "answered"
        elif LINES[1] in lines:
            assert told == "spoken"
        else:
            assert told is None

    def test_reachability(self) -> None:
        """The law looks at streams of each kind."""
        for expected in ("answered", "spoken", None):
            told = WIRES.map(lambda lines: answer_text(wire(*lines)))
            assert reached(told, is_(expected))


class TestNoise:
    """Whatever else is printed is passed over."""

    def test_lines_that_are_none(self) -> None:
        """Noise, torn lines and other JSON cost nothing but themselves."""
        raw = b'[debug] x\n\n{"type":"result","resu\n[1]\nnull\r\n' + wire(result(result="Done."))
        assert answer_text(raw) == "Done."

    def test_no_final_newline(self) -> None:
        """A last line without its end is read."""
        assert answer_text(wire(result(result="Done.")).rstrip()) == "Done."

    def test_odd_shapes(self) -> None:
        """Fields of a wrong type hold no text."""
        odd = [
            says(content="text"),
            says(content=[None, 7, {"type": "text"}, {"type": "text", "text": 7}]),
            result(result={"text": "x"}),
            {"type": "assistant", "message": None},
            {"type": ["result"], "result": "x"},
        ]
        assert answer_text(wire(*odd)) is None

    def test_half_a_pair(self) -> None:
        """Half a surrogate pair becomes a replacement: an answer can always be printed."""
        told = answer_text(b'{"type":"result","result":"a\\ud83d"}')
        assert told == "a?"

    def test_big(self) -> None:
        """An answer is as long as it likes."""
        assert answer_text(wire(result(result="x" * 1_200_000))) == "x" * 1_200_000

    @settings(deadline=None)
    @given(st.binary(max_size=60), st.sampled_from(every_recording()))
    def test_law_any_bytes(self, noise: bytes, path: Any) -> None:
        """Nothing raises, and whole lines of noise change no answer."""
        answer_text(noise)
        raw = path.read_bytes()
        harmless = noise.replace(b"{", b"")
        assert answer_text(harmless + b"\n" + raw + b"\n" + harmless) == answer_text(raw)


def is_(expected: str | None) -> Any:
    """Whether something is exactly this."""
    return lambda told: told == expected


class TestError:
    """What the last result says of its error, for whoever wants to read why."""

    @pytest.mark.rule("R5.1")
    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            ([], None),
            ([speaks("It broke.")], None),
            ([result(result="The limit is 5.")], None),
            ([failure("It broke")], "It broke"),
            ([failure("It broke", errors=["First.", "Second."])], "First.\nSecond.\nIt broke"),
            ([failure("", errors=["Only."])], "Only."),
            ([failure("", subtype="error_max_turns", errors=[])], "error_max_turns"),
            ([result(result="An answer.", subtype="error_max_budget_usd")], "error_max_budget_usd"),
            ([failure("Gone"), result(result="Done.")], None),
            ([result(result="Done."), failure("Gone")], "Gone"),
        ],
    )
    def test_told(self, lines: list[Line], expected: str | None) -> None:
        """Its errors, then its text where it is one, else what it is called; no answer's words."""
        assert error_text(wire(*lines)) == expected
