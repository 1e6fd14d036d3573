"""How long the orchestrator has been silent, whatever the wall clock does meanwhile."""

from datetime import datetime


class OrchestratorWatch:
    """Counts silence in monotonic seconds from when each sign of the orchestrator was read.

    The sign itself carries the wall time of another process. It is compared once, when it is new;
    from then on a clock that is set, or a machine that sleeps, makes no orphan.
    """

    def __init__(self) -> None:
        self._seen_at: datetime | None = None
        self._since_s = 0.0

    def silent_s(self, seen_at: datetime | None, now: datetime, now_s: float) -> float | None:
        """Tell the seconds of silence, or None when the orchestrator was never seen.

        Args:
            seen_at: When the log says that it was seen last.
            now: The wall clock.
            now_s: The monotonic clock.
        """
        if seen_at is None:
            return None
        if seen_at != self._seen_at:
            self._seen_at = seen_at
            self._since_s = now_s - max(0.0, (now - seen_at).total_seconds())
        return now_s - self._since_s
