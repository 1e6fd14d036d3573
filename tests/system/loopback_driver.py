"""Requests to the loopback API, as the client sends them."""

import itertools
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from forks_core.system.loopback import LoopbackApi

Body = dict[str, Any]

EPHEMERAL = {"type": "ephemeral", "ttl": "1h"}
TOOL = {"name": "Bash", "description": "run a command", "input_schema": {}}
SYSTEM = [{"type": "text", "text": "Be brief. " * 200, "cache_control": EPHEMERAL}]


def ask(*texts: str, **more: Any) -> Body:
    """Return a request: user and assistant by turns, the last message marked for the cache."""
    roles = itertools.cycle(["user", "assistant"])
    messages = [
        {"role": role, "content": [{"type": "text", "text": text}]}
        for role, text in zip(roles, texts, strict=False)
    ]
    body: Body = {"model": "claude-opus-4-5", "tools": [TOOL], "system": SYSTEM, "stream": True}
    return body | {"messages": messages} | more


def post(api: LoopbackApi, body: Body, path: str = "/v1/messages?beta=true") -> tuple[Body, str]:
    """Send a request; return the answer's headers and its body."""
    data, kind = json.dumps(body).encode(), {"content-type": "application/json"}
    request = urllib.request.Request(api.url + path, data, kind)
    with urllib.request.urlopen(request, timeout=10) as response:
        return dict(response.headers), response.read().decode()


def refusal(api: LoopbackApi) -> urllib.error.HTTPError:
    """Send a request that is refused, and return the refusal."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(api, ask("hello"))
    return caught.value


def events(stream: str) -> list[Body]:
    """Return the events of a stream; each names its type twice."""
    found = []
    for event in stream.strip().split("\n\n"):
        name, data = event.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def usage(stream: str) -> Body:
    """Return the usage that a stream begins with."""
    told: Body = events(stream)[0]["message"]["usage"]
    return told


def until(condition: Callable[[], bool], within_s: float = 10.0) -> None:
    """Wait for a condition; fail if it does not come true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
