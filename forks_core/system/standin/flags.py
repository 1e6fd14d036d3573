"""The command line, as the real client reads it.

Written by hand because the real client's messages differ from argparse's, and because a
program that is started a hundred times in a test run should not import what it does not need.
"""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_SWITCH, _VALUE, _SEVERAL = 0, 1, 2
_SHORT = {"-p": "--print", "-r": "--resume", "-v": "--version"}
_FLAGS = {
    "--print": (_SWITCH, ""),
    "--version": (_SWITCH, ""),
    "--verbose": (_SWITCH, ""),
    "--strict-mcp-config": (_SWITCH, ""),
    "--fork-session": (_SWITCH, ""),
    "--include-partial-messages": (_SWITCH, ""),
    "--output-format": (_VALUE, "format"),
    "--model": (_VALUE, "model"),
    "--effort": (_VALUE, "level"),
    "--permission-mode": (_VALUE, "mode"),
    "--append-system-prompt-file": (_VALUE, "file"),
    "--settings": (_VALUE, "file-or-json"),
    "--max-turns": (_VALUE, "turns"),
    "--agent": (_VALUE, "agent"),
    "--resume": (_VALUE, "sessionId"),
    "--session-id": (_VALUE, "uuid"),
    "--max-budget-usd": (_VALUE, "amount"),
    "--tools": (_SEVERAL, "tools..."),
    "--allowedTools": (_SEVERAL, "tools..."),
    "--disallowedTools": (_SEVERAL, "tools..."),
    "--mcp-config": (_SEVERAL, "configs..."),
}
_MODES = ("acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan", "default")


class UsageError(Exception):
    """The command line was refused; the text is what goes to standard error."""


class Flags(NamedTuple):
    """A command line that was read: the values of each flag, and the words outside flags."""

    values: Mapping[str, Sequence[str]]
    words: Sequence[str]

    def has(self, name: str) -> bool:
        """Tell whether a flag was given."""
        return name in self.values

    def one(self, name: str, default: str = "") -> str:
        """Return the last value of a flag, or the default if it was not given."""
        return self.values[name][-1] if self.values.get(name) else default

    def rules(self, name: str) -> list[str]:
        """Return tool rules: values split at commas and spaces outside of parentheses."""
        return [rule for value in self.values.get(name, ()) for rule in _split(value)]


def parse(arguments: Sequence[str]) -> Flags:
    """Read a command line without the program's name; raise UsageError as the client would."""
    values: dict[str, list[str]] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words.extend(rest)
            break
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        name, equals, inline = word.partition("=")
        name = _SHORT.get(name, name)
        if name not in _FLAGS:
            raise UsageError(f"error: unknown option '{word}'")
        values.setdefault(name, []).extend([inline] if equals else _take(name, rest))
    return Flags(values, words)


def _take(name: str, rest: list[str]) -> list[str]:
    arity, holder = _FLAGS[name]
    if arity == _SWITCH:
        return []
    if not rest:
        raise UsageError(f"error: option '{name} <{holder}>' argument missing")
    taken = [rest.pop(0)]
    while arity == _SEVERAL and rest and not rest[0].startswith("-"):
        taken.append(rest.pop(0))
    return taken


def _split(value: str) -> list[str]:
    depth, rules = 0, [""]
    for letter in value:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter in ", \n" and depth <= 0:
            rules.append("")
        else:
            rules[-1] += letter
    return [rule for rule in rules if rule]


def check(flags: Flags) -> None:
    """Refuse what the client refuses before it prints a line; raise UsageError."""
    _check_printing(flags)
    _check_values(flags)
    _check_session(flags)
    _check_files(flags)


def _check_printing(flags: Flags) -> None:
    if not flags.has("--print"):
        raise UsageError("Error: the stand-in only knows --print")
    if flags.one("--output-format") != "stream-json":
        raise UsageError("Error: the stand-in only knows --output-format stream-json")
    if not flags.has("--verbose"):
        raise UsageError(
            "Error: When using --print, --output-format=stream-json requires --verbose"
        )


def _check_values(flags: Flags) -> None:
    mode = flags.one("--permission-mode", "default")
    if mode not in _MODES:
        raise UsageError(
            f"error: option '--permission-mode <mode>' argument '{mode}' is invalid. "
            f"Allowed choices are {', '.join(_MODES[:-1])}."
        )
    for name, holder in (("--max-budget-usd", "amount"), ("--max-turns", "turns")):
        if flags.has(name) and not _positive(flags.one(name)):
            raise UsageError(
                f"error: option '{name} <{holder}>' argument '{flags.one(name)}' is invalid. "
                f"{name} must be a number greater than 0"
            )


def _positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _check_session(flags: Flags) -> None:
    if not flags.has("--session-id"):
        return
    if flags.has("--resume") and not flags.has("--fork-session"):
        raise UsageError(
            "Error: --session-id with --continue or --resume also needs --fork-session."
        )
    if not is_uuid(flags.one("--session-id")):
        raise UsageError("Error: Invalid session ID. Must be a valid UUID.")


def is_uuid(text: str) -> bool:
    """Tell whether a text is a UUID in its usual form, 36 characters with dashes."""
    try:
        return len(text) == 36 and str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _check_files(flags: Flags) -> None:
    append = flags.one("--append-system-prompt-file")
    if append and not Path(append).is_file():
        raise UsageError(f"Error: Append system prompt file not found: {append}")
    settings = flags.one("--settings")
    if settings and not settings.lstrip().startswith("{") and not Path(settings).is_file():
        raise UsageError(f"Error: Settings file not found: {settings}")
    for config in flags.values.get("--mcp-config", ()):
        if not config.lstrip().startswith("{") and not Path(config).is_file():
            raise UsageError(
                f"Error: Invalid MCP configuration:\nMCP config file not found: {config}"
            )
