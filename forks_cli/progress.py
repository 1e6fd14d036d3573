"""How far a run of a study is, for whoever watches: a line whenever something has changed."""

from collections.abc import Callable, Sequence
from datetime import datetime

from forks_core.projections.study_status import study_status
from forks_core.rules.schedule import Block
from forks_core.transact import Live


class Progress:
    """Says how far a run is.

    Args:
        live: The study's log.
        blocks: All blocks of the study.
        say: Tells a line.
    """

    def __init__(
        self,
        live: Live,
        blocks: Sequence[Block],
        say: Callable[[str], None],
    ) -> None:
        self._live = live
        self._blocks = blocks
        self._say = say
        self._seq = 0
        self._said = ""

    def show(self) -> None:
        """Say it, when it is not what was said last."""
        if self._live.head.seq == self._seq:
            return
        self._seq = self._live.head.seq
        line = self._line()
        if line != self._said:
            self._said = line
            self._say(line)

    def _line(self) -> str:
        now = self._live.clock.now()
        status = study_status(self._live.registry, self._blocks, now)
        states = status["states"]
        going = sum(states.get(state, 0) for state in ("running", "judging"))
        parts = [
            f"{status['done']}/{status['trials']} trials",
            f"{status['blocks_complete']}/{status['blocks']} blocks",
            *([f"{going} going on"] if going else []),
            f"{'~' * bool(status['costs_estimated'])}${status['spent_usd']:.4f}",
            *_windows(status["quota"]),
            *([f"{_hours(status['left_s'])} left"] if status["left_s"] else []),
        ]
        if waits := status["waits"]:
            until = datetime.fromisoformat(waits["until"]).astimezone()
            parts.append(f"waits for {waits['for']} until {until:%H:%M:%S}")
        return ", ".join(parts)


def _windows(quota: dict[str, float | None]) -> list[str]:
    return [
        f"{name} {used:.0%}"
        for name in ("five_hour", "seven_day")
        if (used := quota[name]) is not None
    ]


def _hours(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60}h {minutes % 60:02}m" if minutes >= 60 else f"{minutes}m"
