"""Lines out of bytes, however the pipe cut them."""

CAP = 64 * 1024 * 1024


class Framer:
    """Cuts a byte stream into lines, in time linear in its length.

    A line ends with LF or CRLF. Bytes are never decoded here, so that a character that two chunks
    share stays whole. A line that is longer than the cap is dropped while it still arrives, and
    counted; the lines after it are read as ever.

    Args:
        cap: Longest line that is kept, in bytes without its end.
    """

    def __init__(self, cap: int = CAP) -> None:
        self.oversize = 0
        self._cap = cap
        self._parts: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take bytes in, and give the lines that they complete, without their ends."""
        *ended, rest = chunk.split(b"\n")
        lines = [line for part in ended for line in self._end(part)]
        self._hold(rest)
        return lines

    def close(self) -> list[bytes]:
        """Give the last line where it lacks its end; afterwards the framer is as new."""
        return self._end(b"") if self._length else []

    def _hold(self, part: bytes) -> None:
        self._length += len(part)
        # One byte more than the cap may still be the CR of a line that fits.
        if self._length > self._cap + 1:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _end(self, part: bytes) -> list[bytes]:
        self._hold(part)
        fits = self._length <= self._cap + 1
        line = b"".join(self._parts).removesuffix(b"\r") if fits else b""
        self._parts.clear()
        self._length = 0
        if not fits or len(line) > self._cap:
            self.oversize += 1
            return []
        return [line]
