"""How a client introduces itself: it is started as an arm would start it, and ended as soon as it has."""

import time
import uuid
from pathlib import Path
from typing import Any

from attrs import frozen

from forks_core.claude import fields
from forks_core.claude.argv import introduction
from forks_core.claude.environment import scrub
from forks_core.system.client import this_host
from forks_core.system.client_process import ClientProcess
from forks_core.system.open_run import OpenRun
from forks_events.values import Launch

PROMPT = b"Say OK, and nothing else.\n"
LIMIT_S = 60.0
_TICK_S = 0.1
_CLOSE_S = 5.0
_NAMED = ("tools", "agents", "mcp_servers", "plugins")


@frozen(kw_only=True)
class Introduction:
    """What a client reports of itself, by its own words for it.

    Args:
        told: model, claude_code_version, permissionMode and apiKeySource as texts; tools, agents,
            plugins and mcp_servers as sorted lists of names. None: it did not introduce itself.
        complaint: What its standard error says, when it did not.
    """

    told: dict[str, Any] | None
    complaint: str | None = None


def introduce(run: OpenRun, launch: Launch, folder: Path) -> Introduction:
    """Start a client, hear its introduction, and end it before it does any work.

    Args:
        run: The run whose mark it carries.
        launch: How it is launched, and where.
        folder: An empty folder for what it prints.

    Raises:
        OSError: It could not be started.
    """
    raw, errors = folder / "raw.jsonl", folder / "raw.err"
    session = str(uuid.uuid4())
    # Its own alone: whoever looks at the same time keeps its client.
    mark = run.marker(f"preflight/{session}")
    client = ClientProcess(
        introduction(launch, session),
        launch.cwd,
        PROMPT,
        raw,
        errors,
        env=scrub(this_host(), launch, mark),
    )
    try:
        told = _hear(client)
    finally:
        run.processes.end([client.process], mark)
        client.wait()
        client.close(_CLOSE_S)
    if told is not None:
        return Introduction(told=told)
    complaint = errors.read_bytes()[-2000:].decode(errors="replace").strip()
    return Introduction(told=None, complaint=complaint or "it said nothing")


def _hear(client: ClientProcess) -> dict[str, Any] | None:
    until_s = time.monotonic() + LIMIT_S
    while time.monotonic() < until_s and not client.drained:
        for chunk in client.chunks(_TICK_S):
            for line in chunk.lines:
                obj = fields.load(line) or {}
                if obj.get("type") == "system" and obj.get("subtype") == "init":
                    return _told(obj)
    return None


def _told(line: fields.Json) -> dict[str, Any]:
    words = ("model", "claude_code_version", "permissionMode", "apiKeySource")
    return {
        **{name: fields.name(line, name) for name in words},
        **{name: sorted(_names(line, name)) for name in _NAMED},
    }


def _names(line: fields.Json, key: str) -> list[str]:
    texts = fields.names(line, key) or []
    return texts or [fields.name(item, "name") or "?" for item in fields.items(line, key)]
