"""Values as people read them: local times, thousands, money, and a colour for a status."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from forks_cli.tame import one_line
from forks_cli.text.layout import Row

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
_TIMES = frozenset({"at", "last_hit", "warm_until"})


def name(value: str | None) -> Text:
    """What somebody called something; it may hold anything, and stays on its line."""
    return Text(one_line(value or ""))


def word(value: str | None) -> Text:
    """One of our words, in the colour that it has everywhere."""
    text = NONE if value is None else value
    return Text(text, style=_STYLES.get(text, ""))


def plain(key: str, value: Any) -> Text:
    """Any value: true and false as yes and no, lists with commas, times in local time."""
    if value is None or value in ([], {}, ""):
        return Text(NONE)
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, list):
        return Text(", ".join(one_line(str(item)) for item in value))
    if isinstance(value, str) and _is_time(key, value):
        return moment(value)
    return Text(str(value))


def moment(value: str | None, now: datetime | None = None) -> Text:
    """A recorded time in local time; without its date when that is today's."""
    if value is None:
        return Text(NONE)
    local = datetime.fromisoformat(value).astimezone()
    today = (now or datetime.now(UTC)).astimezone().date()
    return Text(local.strftime("%H:%M:%S" if local.date() == today else "%Y-%m-%d %H:%M:%S"))


def _is_time(key: str, value: str) -> bool:
    """Tell a time of ours by its name, so that a block that is called so is left alone."""
    if not (key in _TIMES or key.endswith("_at")):
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


def cost(value: float | None, estimate: float | None) -> Text:
    """USD as the client told it, else an estimate, which is marked as one; else unknown."""
    if value is None and estimate is not None:
        return Text(f"~{money(estimate).plain}")
    return money(value)


def seconds(value: float | None) -> Text:
    """A duration, as hours, minutes and seconds."""
    if value is None:
        return Text(NONE)
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return Text(f"{hours}h {minutes:02}m")
    return Text(f"{minutes}m {rest:02}s" if minutes else f"{value:.1f}s")


def retry(value: Row | None) -> Text:
    """The retry that a client announced."""
    if value is None:
        return Text("")
    why = "the network" if value["error_status"] is None else f"HTTP {value['error_status']}"
    return Text(f"attempt {value['attempt']} after {why}", style="yellow")


def flags(values: Sequence[str]) -> Text:
    """Flags, to be seen."""
    return Text(" ".join(values), style="yellow")


def status(row: Row) -> Text:
    """A status, with why it is none to be glad of."""
    why = " ".join(filter(None, (row["reason"], row.get("error_kind"))))
    return Text.assemble(word(row["status"]), f" ({why})" if why else "")


def tokens(row: Row) -> Text:
    """The token columns on one line; nothing when they are not known."""
    if row.get("input") is None:
        return Text("")
    written = f"{row['cache_creation']:,} written"
    if short := row["cache_creation_5m"]:
        written += f" ({short:,} for 5 minutes)"
    read = f"{row['cache_read']:,} read"
    output = "unknown" if row["output"] is None else f"{row['output']:,}"
    return Text(f"{row['input']:,} in, {output} out; cache {read}, {written}")
