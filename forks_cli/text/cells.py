"""Values as people read them: local times, thousands, money, and a colour for a status."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

NONE = "-"
_STYLES = {
    "ok": "green",
    "active": "green",
    "warm": "green",
    "hit": "green",
    "running": "cyan",
    "created": "cyan",
    "training": "cyan",
    "expiring": "yellow",
    "partial": "yellow",
    "cold": "dim",
    "miss": "red",
    "failed": "red",
    "timeout": "red",
    "killed": "red",
    "lost": "red",
}


def word(value: Any) -> Text:
    """A word, in the colour that it has everywhere."""
    text = NONE if value is None else str(value)
    return Text(text, style=_STYLES.get(text, ""))


def plain(value: Any) -> Text:
    """Any value: true and false as yes and no, lists with commas, times in local time."""
    if value is None or value == []:
        return Text(NONE)
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, int):
        return Text(f"{value:,}")
    if isinstance(value, list):
        return Text(", ".join(str(item) for item in value))
    return moment(value) if _is_moment(value) else word(value)


def moment(value: str | None, now: datetime | None = None) -> Text:
    """A recorded time in local time; without its date when that is today's."""
    if value is None:
        return Text(NONE)
    local = datetime.fromisoformat(value).astimezone()
    today = (now or datetime.now(UTC)).astimezone().date()
    return Text(local.strftime("%H:%M:%S" if local.date() == today else "%Y-%m-%d %H:%M:%S"))


def _is_moment(value: Any) -> bool:
    if not isinstance(value, str) or "T" not in value:
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def count(value: int | None) -> Text:
    """A number of tokens or turns."""
    return Text(NONE if value is None else f"{value:,}")


def money(value: float | None) -> Text:
    """USD; what is not known is not zero."""
    return Text("unknown" if value is None else f"${value:,.4f}")


def seconds(value: float | None) -> Text:
    """A duration, as hours, minutes and seconds."""
    if value is None:
        return Text(NONE)
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return Text(f"{hours}h {minutes:02}m")
    return Text(f"{minutes}m {rest:02}s" if minutes else f"{value:.1f}s")


def flags(values: Sequence[str]) -> Text:
    """Flags, to be seen."""
    return Text(" ".join(values), style="yellow")
