"""What a script can tell the stand-in to do: a verb a function. The table is at the foot."""

import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forks_core.system.standin import lines, shell, trouble
from forks_core.system.standin.call import GREETING, Call, TurnOverError
from forks_core.system.standin.lines import Record
from forks_core.system.standin.script import Script, ScriptError, settings

Verb = Callable[[Call, Any], None]
_POLL_S = 0.005


def follow(call: Call, script: Script) -> None:
    """Do a script's steps in order, then what every call ends with; raise ScriptError."""
    try:
        for verb, value in script.steps:
            _do(call, verb, value)
        call.close()
    except TurnOverError:
        pass


def check(script: Script) -> None:
    """Refuse a script with a verb that is unknown; raise ScriptError."""
    for verb, _ in script.steps:
        if verb not in VERBS:
            raise ScriptError(f"unknown step '{verb}'")


def _do(call: Call, verb: str, value: Any) -> None:
    try:
        VERBS[verb](call, value)
    except (KeyError, TypeError, ValueError) as error:
        raise ScriptError(f"step '{verb}' cannot use {value!r}: {error!r}") from error


def _say(call: Call, value: Any) -> None:
    told = settings(value, "text")
    call.respond([{"type": "text", "text": told["text"]}], output=told.get("output_tokens"))


def _tool(call: Call, value: Any) -> None:
    told = settings(value, "command")
    name, given = told.get("name", "Bash"), _given(told)
    tool_id = _ask_for_tool(call, told, name, given)
    if name == "Bash" and trouble.is_denied(given["command"], call.terms.denied):
        trouble.say_denied(call, tool_id, name, given)
        return
    code, output = 0, str(told.get("output", ""))
    if name == "Bash":
        code, output = shell.run(given["command"], call.terms.home, told.get("timeout_s", 120))
    shown = "\n".join(filter(None, [f"Exit code {code}" if code else "", output]))
    call.voice.line(lines.tool_result(tool_id, shown, is_error=code != 0))
    call.turns += 1
    call.hear(shown)


def _given(told: dict[str, Any]) -> Record:
    if "input" in told:
        return dict(told["input"])
    return {"command": str(told["command"]), "description": "run"}


def _ask_for_tool(call: Call, told: dict[str, Any], name: str, given: Record) -> str:
    tool_id = f"toolu_{uuid.uuid4().hex[:20]}"
    text = {"type": "text", "text": told.get("say", "Running a command.")}
    call.respond([text, lines.tool_use(tool_id, name, given)])
    return tool_id


def _deny(call: Call, value: Any) -> None:
    told = settings(value, "command")
    name, given = told.get("tool", "Bash"), _given(told)
    trouble.say_denied(call, _ask_for_tool(call, told, name, given), name, given)


def _subagent(call: Call, value: Any) -> None:
    told = settings(value, "say")
    tool_id = _ask_for_tool(call, {}, "Agent", {"description": "look", "prompt": "look around"})
    trouble.say_as_subagent(call, tool_id, told.get("say", GREETING))
    call.voice.line(lines.tool_result(tool_id, told.get("say", GREETING), is_error=False))
    call.turns += 1
    call.hear(str(told.get("say", GREETING)))


def _sleep(_call: Call, value: Any) -> None:
    time.sleep(float(value))


def _wait_for(_call: Call, value: Any) -> None:
    told = settings(value, "path")
    path, within_s = Path(told["path"]), float(told.get("within_s", 30))
    deadline = time.monotonic() + within_s
    while not path.exists():
        if time.monotonic() > deadline:
            raise ScriptError(f"{path} did not appear within {within_s:g} s")
        time.sleep(_POLL_S)


def _touch(_call: Call, value: Any) -> None:
    Path(value).touch()


def _quota(call: Call, value: Any) -> None:
    call.quota.read(dict(value))


def _result(call: Call, value: Any) -> None:
    if value in (False, None, "none"):
        call.ended = True
        return
    told = settings(value, "result")
    without = [*told.pop("without", []), *(["result"] if "errors" in told else [])]
    call.finish(told, without)


def _linger(call: Call, value: Any) -> None:
    call.close()
    time.sleep(float(value))


def _second_result(call: Call, value: Any) -> None:
    call.close()
    told = settings(value, "text")
    call.turn_anew()
    _say(call, {"text": told.pop("text", GREETING)})
    origin = {"kind": "task-notification", "producer": "session-task"}
    call.finish({"origin": origin} | told)


def _budget(call: Call, value: Any) -> None:
    if not call.responses:
        _say(call, GREETING)
    call.over_budget(float(value))


def _before_init(_call: Call, _value: Any) -> None:
    """Do nothing: a refused model is known before the first line, so it was dealt with there."""


VERBS: dict[str, Verb] = {
    "say": _say,
    "tool": _tool,
    "deny": _deny,
    "subagent": _subagent,
    "sleep": _sleep,
    "wait_for": _wait_for,
    "touch": _touch,
    "quota": _quota,
    "result": _result,
    "linger": _linger,
    "second_result": _second_result,
    "budget": _budget,
    "refuse_model": _before_init,
    "garbage": trouble.garbage,
    "half": trouble.half,
    "big": trouble.big,
    "line": trouble.line,
    "stderr": trouble.stderr,
    "crash": trouble.crash,
    "deaf": trouble.deaf,
    "leave": trouble.leave_children,
    "retry": trouble.retry,
    "overloaded": trouble.overloaded,
    "auth": trouble.auth,
    "reject": trouble.reject,
}
