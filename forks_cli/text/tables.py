"""Bases, jobs and results as tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from forks_cli.text import cells

Row = Mapping[str, Any]


def list_tables(content: Row) -> Iterable[RenderableType]:
    """Bases and jobs, as ``list`` answers them."""
    yield Text(content["state"], style="bold")
    if not content["bases"] and not content["jobs"]:
        yield Text("Nothing was trained yet.")
        return
    yield _bases(content["bases"])
    yield _jobs(content["jobs"])
    if content["lost_now"]:
        yield Text(f"Lost, and booked just now: {', '.join(content['lost_now'])}", style="red")


def wait_tables(content: Row) -> Iterable[RenderableType]:
    """What was delivered, and what is still running."""
    if content["done"]:
        yield results(content["done"])
    if content["running"]:
        yield _running(content["running"])
    yield Text("met" if content["met"] else "the time is up", style="bold")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        right = column in {"context", "cost", "forks", "turns", "time", "last output"}
        table.add_column(
            column, justify="right" if right else "left", overflow="fold", no_wrap=column == "job"
        )
    return table


def _bases(rows: Sequence[Row]) -> Table:
    table = _table(
        "bases", "base", "status", "cache", "warm until", "context", "cost", "forks", "due"
    )
    for row in rows:
        due = [name for name in ("rebase", "retrain") if row[f"{name}_due"]]
        table.add_row(
            row["name"],
            cells.word(row["status"]),
            cells.word(row["base_state"]),
            cells.moment(row["warm_until"]),
            cells.count(row["context_tokens"]),
            cells.money(row["training_cost_usd"]),
            str(len(row["forks"])),
            ", ".join(due),
        )
    return table


def _jobs(rows: Sequence[Row]) -> Table:
    table = _table(
        "jobs", "job", "kind", "base", "block", "status", "cache", "turns", "time", "cost", ""
    )
    for row in rows:
        table.add_row(
            row["job"],
            row["kind"],
            row["base"],
            row["block"] or "",
            _status(row),
            cells.word(row["cache"]),
            cells.count(row["turns"]),
            cells.seconds(row.get("elapsed_s", row["wall_s"])),
            cells.money(row["cost_delta_usd"]) if "elapsed_s" not in row else cells.plain(None),
            cells.flags(row["flags"]),
        )
    return table


def results(rows: Sequence[Row]) -> Table:
    """Results, as ``wait`` delivers them."""
    table = _table("done", "job", "kind", "block", "status", "cache", "turns", "time", "cost", "")
    for row in rows:
        table.add_row(
            row["job"],
            row["kind"],
            row["block"] or "",
            _status(row),
            cells.word(row["cache"]),
            cells.count(row["turns"]),
            cells.seconds(row["wall_s"]),
            cells.money(row["cost_delta_usd"]),
            cells.flags(row["flags"]),
        )
    return table


def _running(rows: Sequence[Row]) -> Table:
    table = _table("running", "job", "block", "turns", "time", "last output")
    for row in rows:
        table.add_row(
            row["job"],
            row["block"] or "",
            cells.count(row["turns"]),
            cells.seconds(row["elapsed_s"]),
            cells.seconds(row["last_event_s_ago"]),
        )
    return table


def _status(row: Row) -> Text:
    status = cells.word(row["status"])
    why = " ".join(filter(None, (row["reason"], row["error_kind"])))
    return Text.assemble(status, f" ({why})") if why else status
