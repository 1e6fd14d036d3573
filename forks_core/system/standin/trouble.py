"""The verbs that go wrong on purpose: noise, crashes, refusals, children left behind."""

import base64
import os
import signal
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forks_core.system.standin import lines, shell
from forks_core.system.standin.cache import tokens_of
from forks_core.system.standin.call import Call
from forks_core.system.standin.prices import Usage
from forks_core.system.standin.quota import limit_text
from forks_core.system.standin.script import settings
from forks_core.system.standin.voice import complain, leave

_HALF = '{"type":"assistant","message":{"id":"msg_half","content":[{"type":"te'


def garbage(call: Call, value: Any) -> None:
    """Put what is no JSON on standard output: `text`, or bytes as `base64` or `latin1`."""
    told = settings(value, "text")
    call.voice.raw(_bytes(told) + (b"\n" if told.get("newline", True) else b""))


def _bytes(told: dict[str, Any]) -> bytes:
    if "base64" in told:
        return base64.b64decode(told["base64"])
    if "latin1" in told:
        return str(told["latin1"]).encode("latin-1")
    return str(told["text"]).encode()


def half(call: Call, value: Any) -> None:
    """Put the beginning of a line out, without a newline; with `exit` end there."""
    told = settings(value, "text")
    text = told.get("text")
    call.voice.raw((text if isinstance(text, str) else _HALF).encode())
    if "exit" in told:
        shell.end_all()
        leave(int(told["exit"]))


def big(call: Call, value: Any) -> None:
    """Say a response whose line has the given number of bytes."""
    size = int(settings(value, "bytes")["bytes"])
    call.respond([{"type": "text", "text": ""}], output=max(1, size // 4), pad_to=size)


def line(call: Call, value: Any) -> None:
    """Say any record as a line of this session."""
    call.voice.line(dict(value))


def stderr(_call: Call, value: Any) -> None:
    """Put a text on standard error."""
    complain(str(value))


def crash(_call: Call, value: Any) -> None:
    """End without a result: with an exit code, or by a signal to itself."""
    told = settings(value, "code")
    complain(told.get("stderr", ""))
    shell.end_all()
    if "signal" in told:
        number = signal.Signals[f"SIG{str(told['signal']).removeprefix('SIG')}"]
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    leave(int(told.get("code", 1)))


def deaf(_call: Call, _value: Any) -> None:
    """Ignore SIGTERM and SIGINT from now on."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def leave_children(_call: Call, value: Any) -> None:
    """Leave a `sleep` behind: `plain`, `setsid`, or `stdout`, which holds our output open.

    With `stubborn` it ignores SIGTERM.
    """
    told = settings(value, "kind")
    deaf_first = "trap '' TERM; " if told.get("stubborn") else ""
    seconds = float(told.get("seconds", 60))
    nap = f"sh -c {_quoted(f'{deaf_first}exec sleep {seconds:g}')}"
    kind = told.get("kind", "plain")
    if kind == "stdout":
        _reap(shell.start_with_our_output(f"{nap} &"))
    elif kind == "setsid":
        _reap(shell.start(f"setsid nohup {nap} &", Path(os.devnull), keep=True))
    elif kind == "plain":
        _reap(shell.start(f"{nap} &", Path(os.devnull), keep=True))
    else:
        raise ValueError(kind)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _reap(pid: int) -> None:
    os.waitpid(pid, 0)


def retry(call: Call, value: Any) -> None:
    """Say that a request is tried again: `count` times, pausing `pause_s` seconds after each."""
    told = settings(value, "count")
    for attempt in range(1, int(told.get("count", 1)) + 1):
        status, error = int(told.get("status", 529)), told.get("error", "overloaded")
        if call.terms.dialect.modern:
            delay_ms = int(told.get("delay_ms", 500 * 2 ** (attempt - 1)))
            call.voice.line(lines.api_retry(attempt, status, error, delay_ms))
        time.sleep(float(told.get("pause_s", 0)))


def overloaded(call: Call, value: Any) -> None:
    """End the turn with a 529, after retries (10 unless told)."""
    told = settings(value, "count")
    retry(call, {"count": 10} | told)
    text = "API Error: 529 Overloaded. This is a server-side issue, usually temporary."
    call.refused(text, 529, "server_error" if call.terms.dialect.modern else "unknown")


def auth(call: Call, value: Any) -> None:
    """End the turn with a 401, after two retries."""
    told = settings(value, "text")
    retry(call, {"count": 2, "status": 401, "error": "authentication_failed"})
    text = told.get("text")
    said = text if isinstance(text, str) else "invalid token"
    call.refused(f"Failed to authenticate. API Error: 401 {said}", 401, "authentication_failed")


def reject(call: Call, value: Any) -> None:
    """End the turn because a quota window (`five_hour`, `seven_day`) is used up."""
    told = settings(value, "window")
    window = told.get("window", "five_hour")
    resets_at = call.quota.reject(window, float(told.get("resets_in_s", 3600)))
    if call.terms.dialect.modern:
        call.voice.line(call.quota.line(window, windows=call.terms.dialect.windows))
    text = limit_text(window, resets_at, modern=call.terms.dialect.carries)
    call.refused(text, 429, "rate_limit")


def is_denied(command: str, rules: Sequence[str]) -> bool:
    """Tell whether a rule like `Bash(git push:*)` or `Bash(ls)` denies a command."""
    for rule in rules:
        if rule.startswith("Bash(") and rule.endswith(")"):
            pattern = rule[5:-1]
            start = pattern.rstrip("*").rstrip(":")
            if command == pattern or (pattern != start and command.startswith(start)):
                return True
    return False


def say_denied(call: Call, tool_id: str, name: str, given: lines.Record) -> None:
    """Say that a tool was denied, and tell the model so."""
    what = f" with command {given['command']}" if "command" in given else ""
    text = f"Permission to use {name}{what} has been denied."
    if call.terms.dialect.modern:
        denied = {"type": "system", "subtype": "permission_denied", "tool_name": name}
        call.voice.line(denied | {"tool_use_id": tool_id, "message": text})
    call.voice.line(lines.tool_result(tool_id, text, is_error=True))
    call.denials.append({"tool_name": name, "tool_use_id": tool_id, "tool_input": given})
    call.turns += 1
    call.hear(text)


def say_as_subagent(call: Call, tool_id: str, text: str) -> None:
    """Say a subagent's response: it counts in `modelUsage` and cost, not in `usage`."""
    usage = Usage(input=12, output=tokens_of(text), write_1h=8_000)
    message_id = f"msg_{uuid.uuid4().hex[:20]}"
    said = lines.assistant(message_id, call.model, {"type": "text", "text": text}, usage)
    call.voice.line(said | {"parent_tool_use_id": tool_id})
    call.ledger.spend(call.model, usage)
