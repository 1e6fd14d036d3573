"""The program: read the command line, the prompt and the script, then answer."""

import json
import os
import signal
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from forks_core.system.standin import flags as command_line
from forks_core.system.standin import lines, script, shell, steps
from forks_core.system.standin.cache import Cache, Launch
from forks_core.system.standin.call import Call, Terms
from forks_core.system.standin.calls import home
from forks_core.system.standin.dialect import DEFAULT_VERSION, Dialect, dialect
from forks_core.system.standin.flags import Flags, UsageError
from forks_core.system.standin.ledger import Ledger
from forks_core.system.standin.prices import Usage
from forks_core.system.standin.script import Script, ScriptError
from forks_core.system.standin.sessions import Session, Sessions
from forks_core.system.standin.voice import Voice, complain, leave

_TTL_S = {"1h": 3600.0, "5m": 300.0}


def main() -> int:
    """Run the stand-in on this process's arguments and input; return its exit code."""
    signal.signal(signal.SIGTERM, _stopped)
    signal.signal(signal.SIGINT, _stopped)
    try:
        return _answer(command_line.parse(sys.argv[1:]), os.environ)
    except UsageError as error:
        complain(f"{error}\n")
    except ScriptError as error:
        complain(f"error: {error}\n")
    finally:
        shell.end_all()
    return 1


def _stopped(number: int, _frame: FrameType | None) -> None:
    shell.end_all()
    leave(128 + number)


def _answer(flags: Flags, environment: Mapping[str, str]) -> int:
    version = environment.get("FORKS_STANDIN_VERSION", DEFAULT_VERSION)
    if flags.has("--version"):
        sys.stdout.write(f"{version} (Claude Code stand-in)\n")
        return 0
    command_line.check(flags)
    prompt = _prompt(flags)
    told = script.find(prompt, environment)
    steps.check(told)
    speech = dialect(str(told.options.get("version", version)))
    sessions = Sessions(home(environment))
    session = _session(flags, sessions, speech)
    ledger = _ledger(session, told, speech, environment)
    call = Call(_terms(flags, told, speech, environment), session, sessions, ledger)
    _open(call, flags, told, environment)
    call.hear(prompt)
    steps.follow(call, told)
    return int(told.options.get("exit_code", call.exit_code))


def _prompt(flags: Flags) -> str:
    prompt = " ".join(flags.words)
    if not prompt:
        prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not prompt.strip():
        raise UsageError(
            "Error: Input must be provided either through stdin "
            "or as a prompt argument when using --print"
        )
    return prompt


def _session(flags: Flags, sessions: Sessions, speech: Dialect) -> Session:
    chosen = flags.one("--session-id") or str(uuid.uuid4())
    if not flags.has("--resume"):
        return _created(Session(chosen), sessions)
    parent_id = flags.one("--resume")
    parent = sessions.load(parent_id) if command_line.is_uuid(parent_id) else None
    if parent is None:
        raise _unknown_session(parent_id, speech)
    return _created(parent.fork(chosen), sessions) if flags.has("--fork-session") else parent


def _created(session: Session, sessions: Sessions) -> Session:
    try:
        sessions.create(session)
    except FileExistsError as error:
        raise UsageError(f"Error: Session ID {session.id} is already in use.") from error
    return session


def _unknown_session(session_id: str, speech: Dialect) -> UsageError:
    text = f"No conversation found with session ID: {session_id}"
    if not command_line.is_uuid(session_id):
        text = (
            "Error: --resume requires a valid session ID or session title when used with --print. "
            f'Provided value "{session_id}" is not a UUID and does not match any session title.'
        )
    if speech.modern:
        told = {"subtype": "error_during_execution", "is_error": True, "errors": [text]}
        empty = {"num_turns": 0, "total_cost_usd": 0, "modelUsage": {}, "stop_reason": None}
        timing = {"duration_ms": 0, "duration_api_ms": 0, "result_index": 0}
        # Here the real client keeps `type` first, whatever its version.
        Voice(session_id).line(lines.result(Usage(), told | empty | timing, modern=False))
    return UsageError(text)


def _ledger(
    session: Session, told: Script, speech: Dialect, environment: Mapping[str, str]
) -> Ledger:
    asked = environment.get("FORKS_STANDIN_CARRY")
    carries = told.options.get("carry", speech.carries if asked is None else asked == "1")
    return Ledger(session.models, session.costs) if carries else Ledger({}, {})


def _terms(flags: Flags, told: Script, speech: Dialect, environment: Mapping[str, str]) -> Terms:
    lifetime = environment.get("CLAUDE_CODE_PROMPT_CACHE_TTL", "1h")
    ttl_s = environment.get("FORKS_STANDIN_CACHE_TTL_S", _TTL_S.get(lifetime, 3600.0))
    folder = home(environment)
    budget, turns = flags.one("--max-budget-usd"), flags.one("--max-turns")
    return Terms(
        home=folder,
        dialect=speech,
        launch=_launch(flags, told, speech),
        cache=Cache(folder, float(told.options.get("ttl_s", ttl_s))),
        one_hour=lifetime != "5m",
        forced=told.options.get("cache"),
        shuffle=bool(told.options.get("shuffle", speech.shuffles)),
        partial=flags.has("--include-partial-messages"),
        budget_usd=float(budget) if budget else None,
        max_turns=int(float(turns)) if turns else None,
        denied=flags.rules("--disallowedTools"),
    )


def _launch(flags: Flags, told: Script, speech: Dialect) -> Launch:
    append = flags.one("--append-system-prompt-file")
    asked = flags.one("--model", "claude-opus-4-5")
    instead = dict(told.steps).get("refuse_model", asked) if speech.modern else asked
    denied = flags.rules("--disallowedTools")
    tools = flags.rules("--tools") if flags.has("--tools") else list(lines.BUILT_IN_TOOLS)
    tools = list(lines.BUILT_IN_TOOLS) if tools == ["default"] else tools
    return Launch(
        model=str(told.options.get("model", instead)),
        effort=flags.one("--effort", "high"),
        tools=[tool for tool in tools if tool not in denied],
        cwd=str(Path.cwd()),
        appended=Path(append).read_text(encoding="utf-8", errors="replace") if append else "",
    )


def _open(call: Call, flags: Flags, told: Script, environment: Mapping[str, str]) -> None:
    changes = told.options.get("init", {})
    if changes is False:
        return
    launch = call.terms.launch
    key = "ANTHROPIC_API_KEY" if environment.get("ANTHROPIC_API_KEY") else "none"
    more = {"cwd": launch.cwd, "apiKeySource": key, "mcp_servers": _servers(flags)}
    record = lines.init(
        model=launch.model,
        mode=flags.one("--permission-mode", "default"),
        version=call.terms.dialect.version,
        tools=launch.tools,
        **(more | changes),
    )
    call.greet(record)
    if "refuse_model" in dict(told.steps) and call.terms.dialect.modern:
        call.voice.line(_restricted(flags.one("--model", "claude-opus-4-5"), launch.model))


def _servers(flags: Flags) -> list[dict[str, str]]:
    names: list[str] = []
    for config in flags.values.get("--mcp-config", ()):
        text = config if config.lstrip().startswith("{") else Path(config).read_text("utf-8")
        names.extend(json.loads(text).get("mcpServers", {}))
    return [{"name": name, "status": "connected"} for name in names]


def _restricted(requested: str, effective: str) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "informational",
        "level": "warning",
        "content": f'Model "{requested}" is restricted by your organization\'s settings. '
        f"Using {effective} instead.",
        "model_restriction": {"requested_model": requested, "effective_model": effective},
    }
