"""A message as the API gives it: whole, or as server-sent events."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

from forks_core.system.loopback.answers import Answer
from forks_core.system.loopback.prefix import Usage

_LETTERS_A_TOKEN = 4

Record = dict[str, Any]


def message(answer: Answer, model: str, usage: Usage) -> Record:
    """Return an answer as one message."""
    content: list[Record] = [{"type": "text", "text": answer.text}] if answer.text else []
    letters = len(answer.text)
    if answer.call is not None:
        given = dict(answer.call.given)
        tool_id = f"toolu_{uuid.uuid4().hex[:20]}"
        named = {"id": tool_id, "name": answer.call.tool, "input": given}
        content.append({"type": "tool_use"} | named)
        letters += len(json.dumps(given))
    output = answer.output_tokens
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "end_turn" if answer.call is None else "tool_use",
        "stop_sequence": None,
        "usage": usage.record(letters // _LETTERS_A_TOKEN + 1 if output is None else output),
    }


def events(whole: Record) -> Iterator[bytes]:
    """Yield a message as the events of a stream, ending with `message_stop`."""
    first = {"content": [], "stop_reason": None, "usage": whole["usage"] | {"output_tokens": 1}}
    yield _event("message_start", message=whole | first)
    for index, block in enumerate(whole["content"]):
        start, delta = _parts(block)
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    output = {"output_tokens": whole["usage"]["output_tokens"]}
    yield _event("message_delta", delta=end, usage=output)
    yield _event("message_stop")


def _parts(block: Record) -> tuple[Record, Record]:
    if block["type"] == "text":
        return block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    given = json.dumps(block["input"])
    return block | {"input": {}}, {"type": "input_json_delta", "partial_json": given}


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()
