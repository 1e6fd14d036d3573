"""Bases, jobs and results as tables."""

from collections.abc import Iterable

from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import Column, Part, Row, rows


def _due(row: Row) -> Text:
    return Text(", ".join(name for name in ("rebase", "retrain") if row[f"{name}_due"]))


def _cost(row: Row) -> Text:
    """What a job cost, or at least did; of one that runs nothing is said."""
    if "elapsed_s" in row:
        return Text("")
    return cells.cost(row["cost_delta_usd"], row["cost_estimate_usd"])


def _status(row: Row) -> Text:
    """How it stands, and what is to be seen about it."""
    flags = cells.flags(row.get("flags") or ())
    return Text(" ").join([cells.status(row), flags] if flags.plain else [cells.status(row)])


_JOB = Column("job", lambda row: cells.word(row["job"]))
_KIND = Column("kind", lambda row: cells.word(row["kind"]))
_BASE = Column("base", lambda row: cells.name(row["base"]), elastic=True)
_BLOCK = Column("block", lambda row: cells.name(row["block"]), elastic=True)
_STATUS = Column("status", _status, elastic=True)
_CACHE = Column("cache", lambda row: cells.word(row["cache"] or ""))
_TURNS = Column("turns", lambda row: cells.count(row["turns"]), right=True)
_COST = Column("cost", _cost, right=True)
_TIME = Column("time", lambda row: cells.seconds(row.get("elapsed_s", row["wall_s"])), right=True)

_BASES = (
    Column("base", lambda row: cells.name(row["name"]), elastic=True),
    Column("status", lambda row: cells.word(row["status"])),
    Column("cache", lambda row: cells.word(row["base_state"])),
    Column("warm until", lambda row: cells.moment(row["warm_until"])),
    Column("context", lambda row: cells.count(row["context_tokens"]), right=True),
    Column("cost", lambda row: cells.money(row["training_cost_usd"]), right=True),
    Column("forks", lambda row: cells.count(len(row["forks"])), right=True),
    Column("due", _due),
)
_JOBS = (_JOB, _KIND, _BASE, _BLOCK, _STATUS, _CACHE, _TURNS, _TIME, _COST)
_RUNNING = (
    _JOB,
    _BLOCK,
    _TURNS,
    Column("time", lambda row: cells.seconds(row["elapsed_s"]), right=True),
    Column("last output", lambda row: cells.seconds(row["last_event_s_ago"]), right=True),
)
_PLAYED = (
    _JOB,
    _KIND,
    _BLOCK,
    _STATUS,
    _CACHE,
    Column("cost", lambda row: cells.money(row["cost_usd"]), right=True),
    Column("tokens", lambda row: cells.tokens(row["tokens"])),
)


def list_tables(content: Row, width: int) -> Iterable[Part]:
    """Bases and jobs, as ``list`` answers them."""
    yield cells.name(content["state"])
    if not content["bases"] and not content["jobs"]:
        yield "Nothing was trained yet."
        return
    yield ""
    yield rows(_BASES, content["bases"], width)
    yield ""
    yield rows(_JOBS, content["jobs"], width)
    if content["lost_now"]:
        yield Text(f"Lost, and booked just now: {', '.join(content['lost_now'])}", style="red")


def wait_tables(content: Row, width: int) -> Iterable[Part]:
    """What was delivered, what still runs, and how the wait stands."""
    if content["done"]:
        yield rows(_JOBS, content["done"], width)
        yield ""
    if content["running"]:
        yield rows(_RUNNING, content["running"], width)
        yield ""
    yield Text(_verdict(content), style="bold")


def played(content: Row, width: int) -> Iterable[Part]:
    """What came of a demonstration."""
    yield rows(_PLAYED, content["jobs"], width)
    yield ""
    same = "the same" if content["replay_equals_live"] else "ANOTHER"
    yield Text(
        f"{'All is well' if content['ok'] else 'It did not go well'}: "
        f"client {content['client']}, {content['events']} events, "
        f"which a fresh process folded to {same} registry.",
        style="bold",
    )
    if content["state"]:
        yield cells.name(f"kept: {content['state']}")


def _verdict(content: Row) -> str:
    running = ", ".join(row["job"] for row in content["running"])
    if not content["met"]:
        return f"The time is up; still running: {running}"
    return f"Met; still running: {running}" if running else "Met: nothing that is waited for runs."
