"""The script that tells the stand-in what to do.

It is a JSON document `{"steps": [...], ...options}`, given in a fenced block of the prompt whose
language is `standin`, or in the file that FORKS_STANDIN_SCRIPT names; the prompt wins, and of
several blocks the last. A step is an object with one key, its verb.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_FENCE = "```standin"
_OPTIONS = frozenset(
    {"steps", "version", "carry", "cache", "shuffle", "model", "init", "exit_code", "ttl_s"}
)


class ScriptError(Exception):
    """The script cannot be followed; the text says why."""


class Script(NamedTuple):
    """Steps in their order, and the options that hold for the whole call."""

    steps: list[tuple[str, Any]]
    options: Mapping[str, Any]


def find(prompt: str, environment: Mapping[str, str]) -> Script:
    """Return the script of a call, an empty one if there is none; raise ScriptError."""
    named = environment.get("FORKS_STANDIN_SCRIPT")
    if _FENCE in prompt:
        text = prompt.rpartition(_FENCE)[2].partition("```")[0]
    elif named:
        text = _file(Path(named))
    else:
        return Script([], {})
    try:
        return _read(json.loads(text))
    except json.JSONDecodeError as error:
        raise ScriptError(f"the script is not JSON: {error}") from error


def _file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptError(f"cannot read {path}: {error.strerror}") from error


def _read(document: Any) -> Script:
    if not isinstance(document, dict) or not isinstance(document.get("steps", []), list):
        raise ScriptError("a script is an object with a list of steps")
    unknown = sorted(set(document) - _OPTIONS)
    if unknown:
        raise ScriptError(f"unknown option '{unknown[0]}'")
    return Script([_step(step) for step in document.get("steps", [])], document)


def _step(step: Any) -> tuple[str, Any]:
    if not isinstance(step, dict) or len(step) != 1:
        raise ScriptError(f"a step is an object with one verb, not {json.dumps(step)}")
    return next(iter(step.items()))


def settings(value: Any, key: str) -> dict[str, Any]:
    """Return a verb's settings: an object as it is, anything else as the value of its main key."""
    return value if isinstance(value, dict) else {key: value}
