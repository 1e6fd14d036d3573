"""The `stream_event` lines that `--include-partial-messages` puts around a response."""

from typing import Any

from forks_core.system.standin.lines import Record, usage_record
from forks_core.system.standin.prices import Usage


def before(message_id: str, model: str, content: Record, usage: Usage) -> list[Record]:
    """Return the lines that precede a response whose first block is `content`."""
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "usage": usage_record(usage),
    }
    delta = {"type": "text_delta", "text": content.get("text", "")}
    return [
        _line({"type": "message_start", "message": message}),
        _line({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}),
        _line({"type": "content_block_delta", "index": 0, "delta": delta}),
    ]


def after(usage: Usage) -> list[Record]:
    """Return the lines that follow a response; only these tell its true output tokens."""
    tokens = {"output_tokens": usage.output}
    return [
        _line({"type": "content_block_stop", "index": 0}),
        _line({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": tokens}),
        _line({"type": "message_stop"}),
    ]


def _line(event: dict[str, Any]) -> Record:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None}
