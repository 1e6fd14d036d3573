"""The fingerprint of a launch, and what of a launch has drifted."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from forks_events.codec import unstructure
from forks_events.values import Binary, Launch

Change = dict[str, Any]
"""What was, and what is."""


def fingerprint(launch: Launch) -> str:
    """SHA-256 of the launch's canonical JSON: sorted keys, no spaces, ASCII; 64 hex digits."""
    canonical = json.dumps(
        unstructure(launch), sort_keys=True, separators=(",", ":"), ensure_ascii=True
    )
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


@frozen(kw_only=True)
class Found:
    """What a launch's files are now.

    Args:
        binary: The client as it is now; a missing file is no drift, it is refused before.
        append_system_prompt: SHA-256 of the preamble, or None when unreadable or not used.
        agent: SHA-256 of the agent's file, or None when unreadable or not used.
        settings: SHA-256 of the settings file, or None when unreadable or not used.
    """

    binary: Binary
    append_system_prompt: str | None
    agent: str | None
    settings: str | None


def launch_drift(launch: Launch, found: Found) -> tuple[str, ...]:
    """Name what differs from the launch as it was fixed; drift is recorded and never blocks."""
    differs = {
        "agent": launch.agent is not None and launch.agent.sha256 != found.agent,
        "append_system_prompt": launch.append_system_prompt is not None
        and launch.append_system_prompt.sha256 != found.append_system_prompt,
        "binary": (launch.binary.version, launch.binary.size)
        != (found.binary.version, found.binary.size),
        "settings": launch.settings is not None and launch.settings.sha256 != found.settings,
    }
    return tuple(name for name, differing in differs.items() if differing)


def differences(before: Any, after: Any) -> tuple[str, ...]:
    """Name the fields, by dotted paths, in which two values differ; lists are compared whole."""
    return tuple(changes(before, after))


def changes(before: Any, after: Any) -> dict[str, Change]:
    """Tell in what two values differ: by dotted paths, what was there and what is."""
    return dict(_changes(unstructure(before), unstructure(after), ""))


def _changes(before: Any, after: Any, path: str) -> Iterator[tuple[str, Change]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted({*before, *after}):
            yield from _changes(before.get(name), after.get(name), f"{path}.{name}")
    elif before != after:
        yield path.removeprefix("."), {"was": before, "is": after}
