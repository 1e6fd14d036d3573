"""Lines as a client prints them, made small, and streams made of them."""

from itertools import count
from pathlib import Path
from typing import Any

import orjson

from forks_core.claude.stream import Parser, parse
from forks_core.reducer.stream import summed
from forks_core.registry import Stream
from forks_events import Said

RECORDINGS = Path(__file__).parent.parent / "recordings"
MODEL = "claude-opus-4-5"
SESSION = "11111111-1111-4111-8111-111111111111"
JOB = "j0001"

_numbers = count(1)

Line = dict[str, Any]


def _line(kind: str, fields: Line) -> Line:
    return {"type": kind, "session_id": SESSION, "uuid": f"u{next(_numbers)}"} | fields


def init(**fields: Any) -> Line:
    """An introduction."""
    told = {"subtype": "init", "model": MODEL, "claude_code_version": "2.1.332"}
    return _line("system", told | fields)


def system(subtype: str, **fields: Any) -> Line:
    """Any other line of the system."""
    return _line("system", {"subtype": subtype} | fields)


def usage(  # noqa: D417 - named as the client names them
    prompt: int = 0, written: int = 0, read: int = 0, output: int = 0, **more: Any
) -> Line:
    """Tokens of a response.

    Args:
        prompt: Tokens that were neither written nor read.
        written: Tokens written to the cache.
        read: Tokens read from it.
        output: Tokens answered.
    """
    return {
        "input_tokens": prompt,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    } | more


def says(
    identity: str | None = "m1",
    spent: Any = None,
    *,
    model: str = MODEL,
    parent: str | None = None,
    content: Any = None,
    **fields: Any,
) -> Line:
    """A line of a response: 10 fresh tokens unless told otherwise."""
    message = {
        "id": identity,
        "role": "assistant",
        "model": model,
        "content": content or [{"type": "text", "text": "Hello."}],
        "usage": usage(10) if spent is None else spent,
    }
    return _line("assistant", {"message": message, "parent_tool_use_id": parent} | fields)


def banner(error: str | None = None, text: str = "Error") -> Line:
    """The client's own line where an answer would be."""
    content = [{"type": "text", "text": text}]
    more = {} if error is None else {"error": error}
    return says("banner", usage(), model="<synthetic>", content=content, **more)


def calls(tool: str, identity: str | None = None, **fields: Any) -> Line:
    """A response that calls a tool."""
    content = [{"type": "tool_use", "id": tool, "name": "Bash", "input": {}}]
    return says(identity or f"m-{tool}", content=content, **fields)


def answers(tool: str) -> Line:
    """A tool's result."""
    content = [{"type": "tool_result", "tool_use_id": tool, "content": "ok"}]
    return _line("user", {"message": {"role": "user", "content": content}})


def counted(prompt: int = 0, written: int = 0, read: int = 0, output: int = 0) -> Line:
    """A model's counters."""
    return {
        "inputTokens": prompt,
        "outputTokens": output,
        "cacheReadInputTokens": read,
        "cacheCreationInputTokens": written,
    }


def result(cost: Any = 0.1, models: Any = None, **fields: Any) -> Line:
    """A result: a good one of one turn with 10 tokens unless told otherwise."""
    told = {
        "subtype": "success",
        "is_error": False,
        "num_turns": 1,
        "result": "Done.",
        "total_cost_usd": cost,
        "usage": usage(10, output=1),
        "modelUsage": {MODEL: counted(10, output=1)} if models is None else models,
        "permission_denials": [],
    }
    return _line("result", told | fields)


def failure(text: str = "Something broke", **fields: Any) -> Line:
    """A result that is an error before any answer."""
    told = {"is_error": True, "result": text, "usage": usage()}
    return result(0, {}, **(told | fields))


def limit(status: str, window: str = "five_hour", **fields: Any) -> Line:
    """A quota reading."""
    return _line(
        "rate_limit_event",
        {"rate_limit_info": {"status": status, "rateLimitType": window} | fields},
    )


def wire(*lines: Line) -> bytes:
    """The lines as bytes."""
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def events(*lines: Line) -> tuple[Said, ...]:
    """What the lines come to."""
    return parse(wire(*lines), JOB)


def listener(*lines: Line) -> Parser:
    """A parser that heard the lines."""
    parser = Parser(JOB)
    for line in lines:
        parser.feed(orjson.dumps(line), None)
    return parser


def fold(heard: tuple[Said, ...]) -> Stream:
    """A stream out of its events."""
    return summed(heard)


def stream(*lines: Line) -> Stream:
    """A stream out of its lines."""
    return fold(events(*lines))


def recording(version: str, scenario: str) -> bytes:
    """What a real client printed."""
    return (RECORDINGS / version / f"{scenario}.jsonl").read_bytes()


def every_recording() -> list[Path]:
    """The files of all recordings."""
    return sorted(RECORDINGS.glob("*/*.jsonl"))
