"""A run's state folder, as somebody reads it who knows nothing but JSON lines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.processes import BOUND_S, marked, until

Line = dict[str, Any]


class LogView:
    """A state folder, and what its log says.

    Args:
        state: The folder; it need not be there yet.
    """

    def __init__(self, state: Path) -> None:
        self.state = state

    @property
    def log_file(self) -> Path:
        """The log."""
        return self.state / "events.jsonl"

    def log(self) -> list[Line]:
        """The lines of the log, parsed."""
        data = self.log_file.read_bytes() if self.log_file.exists() else b""
        lines: list[Line] = [json.loads(line) for line in data.split(b"\n")[:-1]]
        # An append that is half written counts for nobody yet.
        return [line for line in lines if line["commit"] <= lines[-1]["seq"]]

    def events(self, kind: str, job: str | None = None) -> list[Line]:
        """The data of the events of a type, of one job if given."""
        found = [line["data"] for line in self.log() if line["type"] == kind]
        return [data for data in found if job in (None, data.get("job"))]

    def kinds(self, job: str) -> list[str]:
        """The types of a job's events, in order."""
        return [line["type"] for line in self.log() if line["data"].get("job") == job]

    def end_of(self, job: str, within_s: float = BOUND_S) -> Line:
        """Wait for a job's end, and return it."""
        self.wait_for(lambda: bool(self.events("JobEnded", job)), within_s)
        ends = self.events("JobEnded", job)
        assert len(ends) == 1
        return ends[0]

    def started(self, job: str) -> Line:
        """Wait for a job's client, and return who it is."""
        self.wait_for(lambda: bool(self.events("ClientStarted", job)))
        client: Line = self.events("ClientStarted", job)[0]["client"]
        return client

    def opened_stream(self, job: str) -> None:
        """Wait until a job's client has introduced itself."""
        self.wait_for(lambda: bool(self.events("StreamOpened", job)))

    def supervisor(self, job: str) -> int:
        """Wait for a job's supervisor, and return its pid."""
        self.wait_for(lambda: bool(self.events("JobLaunched", job)))
        return int(self.events("JobLaunched", job)[0]["supervisor"]["pid"])

    def raw(self, job: str) -> bytes:
        """What a job's client printed."""
        return (self.state / "raw" / f"{job}.jsonl").read_bytes()

    def supervisor_log(self, job: str) -> str:
        """The diagnostics of a job's supervisor."""
        path = self.state / "raw" / f"{job}.sup.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def snapshot(self) -> dict[str, bytes | None]:
        """Every byte of the state folder, but of locks and the cache; folders are None."""
        return {
            str(path.relative_to(self.state)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.state.rglob("*"))
            if path.suffix != ".lock" and path.parent.name != "cache"
        }

    def wait_for(self, condition: Callable[[], bool], within_s: float = BOUND_S) -> None:
        """Wait for a condition; fail when it does not come true in time."""
        until(condition, within_s)

    def job_processes(self, job: str) -> list[int]:
        """The living processes that carry a job's mark."""
        run = next(line["data"]["run"] for line in self.log() if line["type"] == "RunOpened")
        return marked(f"FORKS_JOB={run}/{job}")

    def readable(self) -> list[Line]:
        """The lines of the log, or none where a test has damaged it."""
        try:
            return self.log()
        except ValueError:
            return []
