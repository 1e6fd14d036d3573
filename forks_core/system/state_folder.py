"""The state folder of a run, and what lies in it."""

from pathlib import Path

from attrs import frozen

from forks_core.rules.naming import note_name
from forks_core.system.files import make_private, sha256, storage, write_durably

_IGNORED = "raw/\ncache/\ncopies/\n*.lock\n"
_NO_MCP = '{\n "mcpServers": {}\n}\n'


@frozen
class StateFolder:
    """Where a run keeps its log, briefs, raw streams, notes and logs.

    Args:
        path: The folder, ``<run log without .md>-forks``.
    """

    path: Path

    @property
    def log(self) -> Path:
        """The event log."""
        return self.path / "events.jsonl"

    @property
    def notes(self) -> Path:
        """Where forks leave their notes."""
        return self.path / "notes"

    @property
    def logs(self) -> Path:
        """Where forks put long output."""
        return self.path / "logs"

    @property
    def preamble(self) -> Path:
        """What is appended to every system prompt: fixed at init, whatever is upgraded later."""
        return self.path / "preamble.md"

    @property
    def mcp_config(self) -> Path:
        """A configuration without any MCP server."""
        return self.path / "mcp-empty.json"

    def note(self, block: str) -> Path:
        """The note of a block."""
        return self.notes / note_name(block)

    def raw(self, job: str) -> Path:
        """The client's standard output, verbatim."""
        return self.path / "raw" / f"{job}.jsonl"

    def stderr(self, job: str) -> Path:
        """The client's standard error, verbatim."""
        return self.path / "raw" / f"{job}.err"

    def supervisor_log(self, job: str) -> Path:
        """The supervisor's diagnostics."""
        return self.path / "raw" / f"{job}.sup.log"

    def brief(self, digest: str) -> Path:
        """A prompt, by the SHA-256 of its bytes."""
        return self.path / "briefs" / f"{digest}.md"

    def working_copy(self, trial_id: str, attempt: int) -> Path:
        """The working copy of an attempt."""
        return self.path / "copies" / trial_id / f"a{attempt}"

    def agent(self, name: str) -> Path:
        """Where the clients of a study find an agent's definition."""
        return self.path / "copies" / ".claude" / "agents" / f"{name}.md"

    def kept(self, trial_id: str, attempt: int, what: str) -> Path:
        """What is kept of an attempt: its ``diff``, its ``result.json``, its ``check.out``."""
        return self.path / "trials" / trial_id / f"a{attempt}.{what}"

    @property
    def runner_lock(self) -> Path:
        """Whose it is goes through the trials."""
        return self.path / "runner.lock"

    def has_evidence(self) -> bool:
        """Whether earlier work has left prompts or streams here."""
        folders = (self.path / "briefs", self.path / "raw")
        return any(folder.is_dir() and any(folder.iterdir()) for folder in folders)

    def create(self, preamble: bytes) -> None:
        """Make what is missing of it; what is there stays as it is.

        Raises:
            StorageFailed: It cannot be written.
        """
        with storage(self.path):
            for name in ("", "briefs", "raw", "notes", "logs", "cache"):
                make_private(self.path / name)
            for path, data in (
                (self.path / ".gitignore", _IGNORED.encode()),
                (self.mcp_config, _NO_MCP.encode()),
                (self.preamble, preamble),
            ):
                if not path.exists():
                    write_durably(path, data)

    def create_copies(self) -> None:
        """Make the folder that working copies lie in, and that bases of a study are trained in.

        Raises:
            StorageFailed: It cannot be made.
        """
        with storage(self.path):
            make_private(self.path / "copies")

    def keep_brief(self, prompt: bytes) -> str:
        """Store a prompt durably under its digest, and return that.

        Raises:
            StorageFailed: It cannot be written.
        """
        digest = sha256(prompt)
        with storage(self.path):
            if not self.brief(digest).exists():
                write_durably(self.brief(digest), prompt)
        return digest
