"""The answer's text, out of the raw file: texts lie nowhere else."""

from forks_core.claude import fields
from forks_core.claude.fields import Json
from forks_core.claude.framing import Framer
from forks_core.claude.results import error_words, is_error


def answer_text(raw: bytes) -> str | None:
    """Find what the client answered.

    Args:
        raw: All that it printed.

    Returns:
        The last text that a result holds; without one, the main thread's last text that was not
        retracted; or None.
    """
    framer = Framer()
    answers: list[str] = []
    said: list[tuple[str | None, str]] = []
    retracted: set[str] = set()
    for line in (*framer.feed(raw), *framer.close()):
        obj = fields.load(line) or {}
        match obj.get("type"):
            case "result":
                answers += filter(None, [fields.text(obj, "result")])
            case "assistant" if obj.get("parent_tool_use_id") is None:
                said += [(fields.name(obj, "uuid"), text) for text in _texts(obj)]
            case "system":
                retracted |= set(fields.names(obj, "retracted_message_uuids") or [])
            case _:
                pass
    found = answers or [text for uuid, text in said if uuid not in retracted]
    return found[-1] if found else None


def error_text(raw: bytes) -> str | None:
    """Find what the last result says of its error: its errors, its text, else what it is called.

    Args:
        raw: All that the client printed.

    Returns:
        The text; None when the last result is no error, or there is none.
    """
    framer = Framer()
    lines = (fields.load(line) or {} for line in (*framer.feed(raw), *framer.close()))
    last = next((obj for obj in reversed([*lines]) if obj.get("type") == "result"), None)
    if last is None or not is_error(last):
        return None
    return error_words(last) or fields.name(last, "subtype")


def _texts(line: Json) -> list[str]:
    blocks = fields.items(fields.child(line, "message"), "content")
    texts = (fields.text(block, "text") for block in blocks if block.get("type") == "text")
    return [text for text in texts if text]


def tool_calls(raw: bytes) -> int:
    """Count the tools that an agent and its subagents called, each call once.

    Args:
        raw: All that the client printed.
    """
    framer = Framer()
    calls: set[str] = set()
    for line in (*framer.feed(raw), *framer.close()):
        obj = fields.load(line) or {}
        if obj.get("type") == "assistant":
            blocks = fields.items(fields.child(obj, "message"), "content")
            uses = (block for block in blocks if block.get("type") == "tool_use")
            calls |= {name for use in uses if (name := fields.name(use, "id"))}
    return len(calls)
