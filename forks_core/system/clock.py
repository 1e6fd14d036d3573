"""Time."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """Tell the wall clock's time, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Tell seconds of a clock that is never set."""
        return time.monotonic()
