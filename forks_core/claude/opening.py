"""The client's introduction: the line that tells its version and what its prompt is made of."""

import hashlib
from datetime import datetime

from immutables import Map

from forks_core.claude import fields
from forks_core.claude.fields import Json
from forks_events.stream import StreamOpened

_UNCONNECTED = frozenset({"failed", "needs-auth"})


def opened(
    line: Json, job: str, *, parser: int, seen_at: datetime | None, at: datetime
) -> StreamOpened:
    """Read an init line.

    Args:
        line: The line.
        job: The job.
        parser: Version of the parser.
        seen_at: When the line came, or None.
        at: The time of the event.
    """
    return StreamOpened(
        at=at,
        job=job,
        seen_at=seen_at,
        parser=parser,
        session=fields.name(line, "session_id"),
        model=fields.name(line, "model"),
        client_version=fields.name(line, "claude_code_version"),
        runtime=_runtime(line),
        mcp_failed=_unconnected(line),
    )


def _runtime(line: Json) -> Map[str, str]:
    # Only what the cache prefix may depend on; the order of a list is the client's whim.
    tools, agents = fields.names(line, "tools"), fields.names(line, "agents")
    found = {
        "tools": None if tools is None else _digest(tools),
        "permissionMode": fields.name(line, "permissionMode"),
        "plugins": _plugins(line),
        "agents": None if agents is None else ",".join(sorted(agents)),
        "apiKeySource": fields.name(line, "apiKeySource"),
    }
    return Map({key: value for key, value in found.items() if value is not None})


def _digest(tools: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(tools)).encode()).hexdigest()


def _plugins(line: Json) -> str | None:
    if not isinstance(line.get("plugins"), list):
        return None
    return ",".join(sorted(filter(None, map(_plugin, fields.items(line, "plugins")))))


def _plugin(plugin: Json) -> str:
    name, version = fields.name(plugin, "name"), fields.name(plugin, "version")
    return f"{name}@{version}" if name and version else name or ""


def _unconnected(line: Json) -> tuple[str, ...]:
    servers = fields.items(line, "mcp_servers")
    failed = [server for server in servers if fields.name(server, "status") in _UNCONNECTED]
    skipped = fields.items(line, "mcp_server_errors")
    names = (fields.name(server, "name") for server in (*failed, *skipped))
    return tuple(sorted({name for name in names if name}))
