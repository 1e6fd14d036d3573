"""Lines out of bytes."""

from time import process_time

from hypothesis import find, given, settings
from hypothesis import strategies as st

from forks_core.claude.framing import Framer

CUT = st.lists(
    st.sampled_from([b"", b"a", b"\n", b"\r", b"\r\n", b"bb", "é".encode()]), max_size=12
)
CAPS = st.sampled_from([1, 2, 3, 100])


def framed(chunks: list[bytes], cap: int = 100) -> tuple[list[bytes], int]:
    """Feed all chunks and close."""
    framer = Framer(cap)
    lines = [line for chunk in chunks for line in framer.feed(chunk)]
    return [*lines, *framer.close()], framer.oversize


class TestLines:
    """A line ends with LF or CRLF, and the last one may lack its end."""

    def test_ends(self) -> None:
        """Neither kind of end is part of a line."""
        assert framed([b"a\r\nb\n\nc"]) == ([b"a", b"b", b"", b"c"], 0)

    def test_unterminated_rest(self) -> None:
        """What lacks its end is given when the stream closes, and only then."""
        framer = Framer()
        assert framer.feed(b'{"type":"result"}') == []
        assert framer.close() == [b'{"type":"result"}']
        assert framer.close() == []

    def test_characters_stay_whole(self) -> None:
        """A character that two chunks share is not cut."""
        encoded = "é".encode()
        assert framed([encoded[:1], encoded[1:] + b"\n"]) == ([encoded], 0)

    @settings(deadline=None)
    @given(CUT, CAPS)
    def test_law_any_split_gives_the_same_lines(self, chunks: list[bytes], cap: int) -> None:
        """How the bytes were cut into chunks changes nothing."""
        assert framed(chunks, cap) == framed([b"".join(chunks)], cap)

    @settings(deadline=None)
    @given(CUT)
    def test_law_nothing_is_lost(self, chunks: list[bytes]) -> None:
        """Below the cap the lines are the bytes, without the ends."""
        joined = b"".join(chunks)
        lines, oversize = framed(chunks)
        assert oversize == 0
        assert lines == [
            line.removesuffix(b"\r")
            for line in (
                joined.split(b"\n") if not joined.endswith(b"\n") else joined[:-1].split(b"\n")
            )
            if joined
        ]

    def test_reachability(self) -> None:
        """The chunks of the laws do cut CRLF apart, and do exceed caps."""
        assert find(CUT, lambda chunks: b"\r" in chunks and b"\n" in chunks)
        assert find(st.tuples(CUT, CAPS), lambda given: framed(*given)[1] > 1)


class TestCap:
    """A line over the cap is dropped and counted, and reading goes on."""

    def test_over_the_cap(self) -> None:
        """Only the long line is missing."""
        assert framed([b"ok\n", b"12345\n", b"ok\n"], cap=4) == ([b"ok", b"ok"], 1)

    def test_at_the_cap(self) -> None:
        """A line of exactly the cap is kept, whichever end it has."""
        assert framed([b"1234\n1234\r\n1234"], cap=4) == ([b"1234"] * 3, 0)

    def test_unterminated(self) -> None:
        """A long line that never ends is counted too."""
        assert framed([b"123", b"45"], cap=4) == ([], 1)

    def test_memory_is_bounded(self) -> None:
        """A line that is too long already is not held."""
        framer = Framer(cap=10)
        for _ in range(100):
            framer.feed(b"12345678")
        assert sum(map(len, framer._parts)) <= 11


def test_a_huge_line_takes_linear_time() -> None:
    """Eight times the chunks take far less than sixty-four times as long."""

    def seconds(chunks: int) -> float:
        framer, chunk = Framer(), b"x" * 1000
        started = process_time()
        for _ in range(chunks):
            framer.feed(chunk)
        framer.close()
        return process_time() - started

    few, many = max(seconds(2000), 1e-3), seconds(16000)
    assert many < 32 * few
