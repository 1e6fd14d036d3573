"""The lines of the stream, as records: what the client says, without when it says it."""

from collections.abc import Sequence
from typing import Any

from forks_core.system.standin.prices import Usage

Record = dict[str, Any]

BUILT_IN_TOOLS = ("Bash", "Edit", "Glob", "Grep", "Read", "Skill", "Write")
_NO_SERVER_TOOLS = {"web_search_requests": 0, "web_fetch_requests": 0}


def usage_record(usage: Usage) -> Record:
    """Return the usage of a response: the prompt side, with the cache's lifetimes apart."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.write_5m,
            "ephemeral_1h_input_tokens": usage.write_1h,
        },
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def init(*, model: str, mode: str, version: str, tools: Sequence[str], **more: Any) -> Record:
    """Return `system/init`; `more` holds cwd, mcp_servers, apiKeySource and the like."""
    return {
        "type": "system",
        "subtype": "init",
        "tools": list(tools),
        "mcp_servers": [],
        "model": model,
        "permissionMode": mode,
        "slash_commands": ["clear", "compact", "context"],
        "apiKeySource": "none",
        "claude_code_version": version,
        "output_style": "default",
        "agents": ["Explore", "general-purpose", "Plan"],
        "skills": [],
        "plugins": [],
        **more,
    }


def assistant(message_id: str, model: str, content: Record, usage: Usage) -> Record:
    """Return the line of one content block; several blocks may share a message id."""
    return {
        "type": "assistant",
        "message": {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [content],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_record(usage),
            "context_management": None,
        },
        "parent_tool_use_id": None,
    }


def synthetic(text: str, error: str) -> Record:
    """Return the line by which the client itself speaks, after a request that was refused."""
    line = assistant("", "<synthetic>", {"type": "text", "text": text}, Usage())
    line["message"] |= {"stop_reason": "stop_sequence", "stop_sequence": ""}
    line["message"]["usage"] |= {"service_tier": None, "server_tool_use": _NO_SERVER_TOOLS}
    return line | {"error": error}


def tool_use(tool_id: str, name: str, given: Record) -> Record:
    """Return the content block by which the model asks for a tool."""
    return {"type": "tool_use", "id": tool_id, "name": name, "input": given}


def tool_result(tool_id: str, output: str, *, is_error: bool) -> Record:
    """Return the user line that holds what a tool gave."""
    shown = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    content = {
        "tool_use_id": tool_id,
        "type": "tool_result",
        "content": output,
        "is_error": is_error,
    }
    return {
        "type": "user",
        "message": {"role": "user", "content": [content]},
        "parent_tool_use_id": None,
        "tool_use_result": f"Error: {output}" if is_error else shown,
    }


def api_retry(attempt: int, status: int, error: str, delay_ms: int, limit: int = 10) -> Record:
    """Return the line that is said before a refused request is tried again."""
    return {
        "type": "system",
        "subtype": "api_retry",
        "attempt": attempt,
        "max_retries": limit,
        "retry_delay_ms": delay_ms,
        "error_status": status,
        "error": error,
    }


def result(usage: Usage, more: Record, *, modern: bool) -> Record:
    """Return a result; `more` holds what the call knows, such as cost, turns and text."""
    spent = usage_record(usage) | {"server_tool_use": _NO_SERVER_TOOLS}
    record: Record = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "permission_denials": [],
        "usage": spent,
    }
    if modern:
        spent |= {"output_tokens_details": {"thinking_tokens": 0}, "inference_geo": ""}
        record |= {
            "stop_reason": "end_turn",
            "terminal_reason": "completed",
            "api_error_status": None,
            "fast_mode_state": "off",
            "queued_turn_count": 0,
        }
    return record | more
