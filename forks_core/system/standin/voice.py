"""Standard output, a line at a time: every line is out before the next thing happens."""

import json
import os
import sys
import time
import uuid
import zlib
from typing import Any, NoReturn


class Voice:
    """Says the lines of one session."""

    def __init__(self, session_id: str) -> None:
        """Speak for a session; its id goes into every line."""
        self.session_id = session_id

    def line(self, record: dict[str, Any]) -> None:
        """Say one JSON line, with the session's id and a new uuid unless the record has them."""
        self.raw(self.encoded(record) + b"\n")

    def encoded(self, record: dict[str, Any]) -> bytes:
        """Return the bytes of a line without its newline."""
        marks = {"session_id": self.session_id, "uuid": str(uuid.uuid4())}
        text = json.dumps(record | (marks | record), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")

    def shuffled(self, record: dict[str, Any]) -> None:
        """Say one line whose keys are in no order that a reader could rely on: never type first."""
        salt = str(uuid.uuid4())
        marked = {"session_id": self.session_id, "uuid": salt} | record
        order = sorted(marked, key=lambda key: zlib.crc32(f"{salt}{key}".encode()))
        if order[0] == "type":
            order.append(order.pop(0))
        self.line({key: marked[key] for key in order})

    def raw(self, data: bytes) -> None:
        """Put bytes on standard output; a reader that has gone ends the program quietly."""
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            leave(1)


def complain(text: str) -> None:
    """Put a text on standard error, at once."""
    sys.stderr.write(text)
    sys.stderr.flush()


def leave(code: int) -> NoReturn:
    """End the program here and now, without any of the interpreter's last duties."""
    os._exit(code)


def stamp() -> str:
    """Return the time as the client writes it: UTC, milliseconds, a Z."""
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
