"""Sessions on disk: one JSON file a session, always whole."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from forks_core.system.standin.prices import Usage


class Block(NamedTuple):
    """One message of a conversation: who said it, a digest of the text, its size in tokens."""

    role: str
    digest: str
    tokens: int


class Session:
    """What is remembered of one session, and the counters its next call may go on from."""

    def __init__(self, session_id: str, parent: str | None = None) -> None:
        """Begin a session without history."""
        self.id = session_id
        self.parent = parent
        self.blocks: list[Block] = []
        self.models: dict[str, Usage] = {}
        self.costs: dict[str, float] = {}

    def fork(self, session_id: str) -> "Session":
        """Return a new session with this one's history and counters."""
        child = Session(session_id, self.id)
        child.blocks = list(self.blocks)
        child.models = dict(self.models)
        child.costs = dict(self.costs)
        return child


class Sessions:
    """The folder of all sessions."""

    def __init__(self, home: Path) -> None:
        """Look below the stand-in's home; the folder is made when it is first written to."""
        self._folder = home / "sessions"

    def load(self, session_id: str) -> Session | None:
        """Return a session, or None if there is none of that name."""
        try:
            saved = json.loads(self._path(session_id).read_bytes())
        except FileNotFoundError:
            return None
        session = Session(saved["id"], saved["parent"])
        session.blocks = [Block(*block) for block in saved["blocks"]]
        session.models = {model: Usage(*usage) for model, usage in saved["models"].items()}
        session.costs = saved["costs"]
        return session

    def create(self, session: Session) -> None:
        """Save a session that must be new; raise FileExistsError if its name is taken."""
        written = self._write(session)
        try:
            self._path(session.id).hardlink_to(written)
        finally:
            written.unlink()

    def save(self, session: Session) -> None:
        """Save a session; a reader sees the old file or the new one, never a part."""
        self._write(session).replace(self._path(session.id))

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.json"

    def _write(self, session: Session) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{session.id}.{os.getpid()}.tmp"
        saved: dict[str, Any] = vars(session)
        path.write_text(json.dumps(saved), encoding="utf-8")
        return path
