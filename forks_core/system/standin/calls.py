"""The stand-in's home, and which call of a script this is: counted there, also by calls at once."""

import fcntl
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path


def home(environment: Mapping[str, str]) -> Path:
    """Return the folder where sessions, the prompt cache and counters lie."""
    named = environment.get("FORKS_STANDIN_HOME")
    return Path(named) if named else Path.home() / ".forks-standin"


def count(folder: Path, script: str) -> int:
    """Count one more call that follows this very text, and return its number, from 0."""
    counters = folder / "calls"
    counters.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(script.encode("utf-8", "replace")).hexdigest()[:32]
    with (counters / digest).open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # A byte a call: what a killed call wrote is whole. Where the end is counts under the lock.
        number = file.seek(0, os.SEEK_END)
        file.write(b".")
        return number
