"""What a supervisor has heard of its client: events for the log, and signs of life."""

from collections.abc import Sequence
from datetime import datetime

from forks_core.claude.stream import Parser
from forks_core.decider.jobs import Hear
from forks_core.reducer.stream import summed
from forks_core.registry import SILENT, Stream
from forks_core.rules.supervision import Watch
from forks_core.system.client_process import Chunk
from forks_events import Said


class Listener:
    """The stream of one job, as it comes.

    Args:
        job: The job.
        started_s: When its client was started, in monotonic seconds.
    """

    def __init__(self, job: str, started_s: float) -> None:
        self._job = job
        self._parser = Parser(job)
        self._started_s = started_s
        self._output_s: float | None = None
        self._resulted_s: float | None = None
        self._recorded = 0
        self.said: tuple[Said, ...] = ()
        self.stream: Stream = SILENT
        self.output_at: datetime | None = None

    def take(self, chunks: Sequence[Chunk], now_s: float) -> None:
        """Hear what came."""
        for chunk in chunks:
            self.output_at, self._output_s = chunk.at, now_s
            for line in chunk.lines:
                said = self._parser.feed(line, chunk.at)
                self.said += said
                self.stream = summed(said, self.stream)
        if not self._parser.listening.resulted:
            self._resulted_s = None
        elif self._resulted_s is None:
            self._resulted_s = now_s

    def news(self) -> Hear | None:
        """What is not recorded yet, as a command; None when there is nothing."""
        new = self.said[self._recorded :]
        return Hear(job=self._job, after=self._recorded, said=new) if new else None

    def recorded(self) -> None:
        """All that was heard is in the log now."""
        self._recorded = len(self.said)

    def watch(self, now_s: float, orchestrator_silent_s: float | None) -> Watch:
        """What the rules of supervision want to know."""
        listening = self._parser.listening
        since = self._started_s if self._output_s is None else self._output_s
        return Watch(
            ran_s=now_s - self._started_s,
            quiet_s=now_s - since,
            printed=self._output_s is not None,
            refused=listening.refused,
            resulted_s=None if self._resulted_s is None else now_s - self._resulted_s,
            background=listening.background_agents,
            orchestrator_silent_s=orchestrator_silent_s,
            open_tools=len(listening.open_tools),
            retry_s=(listening.retry_ms or 0) / 1000,
        )
