"""The script that tells the stand-in what to do.

It is a JSON document `{"steps": [...], ...options}`, given in a fenced block of the prompt whose
language is `standin`, or in the file that FORKS_STANDIN_SCRIPT names; the prompt wins, and of
several blocks the last. A step is an object with one key, its verb.

Or it is `{"calls": [script, script, ...]}`: the n-th call that is given this very text follows the
n-th script, the last one for ever. Calls are counted in the stand-in's home, also those that are
ended early; whoever asks only for the version is not counted.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from forks_core.system.standin import calls

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
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ScriptError(f"the script is not JSON: {error}") from error
    if not isinstance(document, dict) or "calls" not in document:
        return _read(document)
    # All of them are looked at by every call: a mistake shows at once, not in the n-th.
    scripts = _several(document)
    return scripts[min(calls.count(calls.home(environment), text), len(scripts) - 1)]


def _file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptError(f"cannot read {path}: {error.strerror}") from error


def _several(document: dict[str, Any]) -> list[Script]:
    scripts = document["calls"]
    if len(document) > 1 or not isinstance(scripts, list) or not scripts:
        raise ScriptError("calls is a list of scripts, and all there is")
    return [_read(script) for script in scripts]


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
