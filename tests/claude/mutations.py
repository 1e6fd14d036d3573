"""Changes of a client's output that must not matter."""

import json
import random
from collections.abc import Callable
from typing import Any

Lines = list[bytes]
Mutation = Callable[[Lines, random.Random], Lines]


def _shuffled(value: Any, dice: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffled(item, dice) for item in value]
    if isinstance(value, dict):
        keys = dice.sample(list(value), len(value))
        return {key: _shuffled(value[key], dice) for key in keys}
    return value


def shuffle_keys(lines: Lines, dice: random.Random) -> Lines:
    """Keys in any order, at any depth, and every odd character escaped."""
    return [json.dumps(_shuffled(json.loads(line), dice)).encode() for line in lines]


def scatter(lines: Lines, more: Lines, dice: random.Random) -> Lines:
    """Put lines anywhere between the others."""
    made = list(lines)
    for line in more:
        made.insert(dice.randint(0, len(made)), line)
    return made


def add_unknown(lines: Lines, dice: random.Random) -> Lines:
    """Types and subtypes that nobody has seen yet, and those that say nothing."""
    objects: list[dict[str, Any]] = [
        {"type": "novel", "uuid": "n1", "usage": {"input_tokens": 9**9}, "total_cost_usd": 99},
        {"type": "system", "subtype": "novel", "uuid": "n2", "model": "other", "is_error": True},
        {"type": "system", "subtype": "post_turn_summary", "uuid": "n3", "session_id": "other"},
        {"type": "command_lifecycle", "state": "refused", "uuid": "n4"},
        {"type": "control_request", "request_id": "r1", "request": {"subtype": "interrupt"}},
        {"type": "keep_alive"},
        {"type": "stream_event", "event": {"type": "ping"}, "uuid": "n5"},
        {"type": "tool_progress", "tool_use_id": "t", "uuid": "n6"},
        {"type": "user", "message": {"role": "user", "content": "again"}, "isReplay": True},
        {"type": None},
        {"type": ["result"]},
        {},
    ]
    return scatter(lines, [json.dumps(obj).encode() for obj in objects], dice)


def repeat(lines: Lines, dice: random.Random) -> Lines:
    """Lines with a uuid delivered again, at once or later."""
    made = list(lines)
    for line in lines:
        if json.loads(line).get("uuid") and dice.random() < 0.7:
            made.insert(dice.randint(made.index(line) + 1, len(made)), line)
    return made


def add_noise(lines: Lines, dice: random.Random) -> Lines:
    """What is no JSON object at all."""
    noise = [b"[SandboxDebug] Seccomp", b"", b"  ", b"Now using node v22", b"{broken", b"[]", b"7"]
    return scatter(lines, [*noise, b"\xff\xfe", b'"result"', b"null", b"{" * 999], dice)


def add_huge(lines: Lines, dice: random.Random) -> Lines:
    """A picture of 3 MB."""
    data = {"type": "base64", "data": "A" * 3_000_000}
    content = [{"type": "tool_result", "content": [{"type": "image", "source": data}]}]
    line = {"type": "user", "message": {"role": "user", "content": content}, "uuid": "huge"}
    return scatter(lines, [json.dumps(line).encode()], dice)


def spread(lines: Lines, dice: random.Random) -> Lines:
    """Spaces around the lines."""
    return [dice.choice([b"", b" ", b"\t"]) + line + dice.choice([b"", b"  "]) for line in lines]


MUTATIONS: list[Mutation] = [shuffle_keys, add_unknown, repeat, add_noise, add_huge, spread]
ENDS = [b"\n", b"\r\n"]
