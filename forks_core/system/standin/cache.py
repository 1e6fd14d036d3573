"""The prompt cache: a prefix is warm only if a response to it was finished, and not long ago.

A request is tools and system text first, then the launch's own part (directory, appended
prompt), then the conversation. Two points of it are remembered when its response is done: the
end of the static part, which any launch with the same model, effort and tools shares, and the
end of the whole request, where a fork or a continued session goes on.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forks_core.system.standin.sessions import Block

STATIC_TOKENS = 7_500
LAUNCH_TOKENS = 7_500
_LETTERS_A_TOKEN = 4
_AROUND_A_MESSAGE = {"user": 40, "assistant": 4}


class Point(NamedTuple):
    """A place in a request: the digest of everything before it, and how many tokens that is."""

    digest: str
    tokens: int


def tokens_of(text: str) -> int:
    """Return the size of a text in tokens, by its length alone."""
    return max(1, len(text) // _LETTERS_A_TOKEN)


def block(role: str, text: str) -> Block:
    """Return the message that a text makes."""
    return Block(role, _digest(role, text), tokens_of(text) + _AROUND_A_MESSAGE[role])


class Launch(NamedTuple):
    """What a launch puts before the conversation."""

    model: str
    effort: str
    tools: Sequence[str]
    cwd: str
    appended: str

    def points(self, blocks: Sequence[Block]) -> list[Point]:
        """Return the static end, the launch's end, then the end of each message."""
        static = Point(_digest(self.model, self.effort, *sorted(self.tools)), STATIC_TOKENS)
        own = LAUNCH_TOKENS + len(self.appended) // _LETTERS_A_TOKEN
        points = [
            static,
            Point(_digest(static.digest, self.cwd, self.appended), static.tokens + own),
        ]
        for message in blocks:
            before = points[-1]
            digest = _digest(before.digest, message.digest)
            points.append(Point(digest, before.tokens + message.tokens))
        return points


class Cache:
    """The record of prefixes that were written: one small file each, so that writers never meet."""

    def __init__(self, home: Path, ttl_s: float) -> None:
        """Look below the stand-in's home; prefixes older than `ttl_s` seconds are cold."""
        self._folder = home / "prefixes"
        self._ttl_s = ttl_s

    def warm_tokens(self, points: Sequence[Point]) -> int:
        """Return how many tokens of a request can be read: its longest warm prefix, or 0."""
        return next((p.tokens for p in reversed(points) if self._is_warm(p)), 0)

    def finished(self, points: Sequence[Point]) -> None:
        """Remember a request whose response is done; the warm prefixes it began with live on too."""
        self._folder.mkdir(parents=True, exist_ok=True)
        again = {point for point in points if self._is_warm(point)}
        for point in {points[0], points[-1]} | again:
            # No rename: the file is so small that a torn read looks like a cold prefix.
            record = json.dumps({"at": time.time(), "tokens": point.tokens})
            (self._folder / point.digest).write_text(record, encoding="utf-8")

    def _is_warm(self, point: Point) -> bool:
        try:
            written = json.loads((self._folder / point.digest).read_bytes())
        except (FileNotFoundError, json.JSONDecodeError):
            return False
        return time.time() - float(written["at"]) < self._ttl_s


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
