"""Requests as the prompt cache sees them: tools, then system, then messages, block by block."""

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_LETTERS_A_TOKEN = 4
_UNCACHED_TOKENS = 12


class Usage(NamedTuple):
    """The prompt side of a request in tokens, as it is answered; and how long writes live."""

    input: int = 0
    written: int = 0
    read: int = 0
    one_hour: bool = True

    @property
    def context(self) -> int:
        """The whole request in tokens."""
        return self.input + self.written + self.read

    def record(self, output: int) -> dict[str, Any]:
        """Return the usage as the API writes it."""
        hour = self.written if self.one_hour else 0
        return {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written - hour,
                "ephemeral_1h_input_tokens": hour,
            },
            "output_tokens": output,
            "service_tier": "standard",
        }


class Request(NamedTuple):
    """One request that was seen, and what it was answered."""

    method: str
    path: str
    session_id: str
    model: str
    body: Mapping[str, Any]
    points: tuple[str, ...]
    """A digest for each block of the request, of everything up to and with it."""
    usage: Usage
    status: int

    @property
    def digest(self) -> str:
        """The digest of the whole request, or an empty text if it has no blocks."""
        return self.points[-1] if self.points else ""

    def starts_with(self, earlier: "Request") -> bool:
        """Tell whether this request begins with the whole of an earlier one."""
        return bool(earlier.points) and earlier.digest in self.points


class Prefix(NamedTuple):
    """The digests of a request's blocks, each of everything up to it, and the tokens so far."""

    points: tuple[str, ...]
    tokens: tuple[int, ...]


def measure(body: Mapping[str, Any]) -> Prefix:
    """Return the prefix of a Messages API request; `cache_control` has no part in it."""
    so_far = hashlib.sha256(json.dumps([body.get("model"), body.get("output_config")]).encode())
    points: list[str] = []
    tokens: list[int] = []
    letters = 0
    for block in _blocks(body):
        so_far.update(block.encode("utf-8", "replace") + b"\0")
        letters += len(block)
        points.append(so_far.hexdigest()[:32])
        tokens.append(letters // _LETTERS_A_TOKEN + 1)
    return Prefix(tuple(points), tuple(tokens))


def _blocks(body: Mapping[str, Any]) -> Iterator[str]:
    for tool in body.get("tools") or ():
        yield "tool " + _plain(tool)
    for block in _contents(body.get("system")):
        yield "system " + _plain(block)
    for message in body.get("messages") or ():
        for block in _contents(message.get("content")):
            yield f"{message.get('role')} {_plain(block)}"


def _contents(content: Any) -> Iterable[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or ()


def _plain(block: Any) -> str:
    kept = (
        {k: v for k, v in block.items() if k != "cache_control"}
        if isinstance(block, dict)
        else block
    )
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


class PromptCache:
    """Which prefixes were finished. A request that was not finished has written nothing."""

    def __init__(self) -> None:
        """Begin cold."""
        self._finished: set[str] = set()
        self._lock = threading.Lock()

    def ask(self, body: Mapping[str, Any], prefix: Prefix) -> Usage:
        """Return the usage of a request as things stand now; only marked requests are cached."""
        whole = prefix.tokens[-1] if prefix.tokens else 0
        marks = json.dumps(body)
        if '"cache_control"' not in marks:
            return Usage(input=whole)
        read = self._read(prefix)
        uncached = min(_UNCACHED_TOKENS, whole - read)
        return Usage(uncached, whole - read - uncached, read, '"ttl": "1h"' in marks)

    def _read(self, prefix: Prefix) -> int:
        with self._lock:
            warm = [
                t for p, t in zip(prefix.points, prefix.tokens, strict=True) if p in self._finished
            ]
        return max(warm, default=0)

    def finish(self, prefix: Prefix) -> None:
        """Remember a request whose answer was given whole."""
        with self._lock:
            self._finished.update(prefix.points)

    def forget(self) -> None:
        """Let everything grow cold."""
        with self._lock:
            self._finished.clear()
