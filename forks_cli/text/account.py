"""An account for people: what the quota permits, what is known of it, and what was spent."""

from collections.abc import Iterator

from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import Column, Part, Row, rows
from forks_cli.words import counted

_STYLES = {"go": "green", "unknown": "yellow", "wait": "yellow", "stop": "red", "gated": "red"}
_WINDOWS = (
    Column("window", lambda row: cells.name(row["window"]), elastic=True),
    Column("used", lambda row: _share(row["utilization"]), right=True),
    Column("age", lambda row: cells.seconds(row["age_s"]), right=True),
    Column("resets", lambda row: cells.moment(row["resets_at"])),
    Column("", lambda row: Text("lapsed" if row["lapsed"] else "", style="yellow")),
)
_SUMS = (
    Column("cost", lambda row: cells.money(row["usd"]), right=True),
    Column("estimated", lambda row: _guess(row["estimated_usd"]), right=True),
    Column("calls", lambda row: cells.count(row["calls"]), right=True),
    Column("unknown", lambda row: _some(row["unknown"]), right=True),
    Column("last", lambda row: cells.moment(row["last_at"])),
)
_TABLES = {
    "by_who": (
        Column("who", lambda row: cells.name(row["who"]), elastic=True),
        Column("what for", lambda row: cells.name(row["purpose"])),
        *_SUMS,
    ),
    "by_run": (
        Column("run", lambda row: cells.name(row["run"]), elastic=True),
        Column("state", lambda row: cells.name(row["source"]), elastic=True),
        *_SUMS,
    ),
    "by_day": (Column("day (UTC)", lambda row: cells.name(row["day"])), *_SUMS),
}


def gate_line(content: Row, _width: int = 0) -> Iterator[Part]:
    """Whether a study may be launched, why, and when to come back."""
    yield _sentence(content, content.get("retry_at"))


def quota_page(content: Row, width: int) -> Iterator[Part]:
    """Each window with its age, then what may be done."""
    if content["windows"]:
        yield rows(_WINDOWS, content["windows"], width)
    else:
        yield Text(f"Nothing was read of the account {content['account']} yet.")
    yield ""
    yield _sentence(content["gate"], content["gate"]["wait_until"])


def spend_page(content: Row, width: int) -> Iterator[Part]:
    """All of it in one number, then by who and what for, by run, by day."""
    if not content["calls"]:
        yield Text(f"Nothing was booked to the account {content['account']}.")
        return
    unknown = content["unknown"]
    guess = content["estimated_usd"]
    more = f", {unknown:,} of them of unknown cost" if unknown else ""
    more += f", and at least {cells.money(guess).plain} more by estimate" if guess else ""
    yield Text.assemble(
        (cells.money(content["usd"]).plain, "bold"),
        f" by the account {content['account']} in {counted(content['calls'], 'call')}{more}",
    )
    for name, columns in _TABLES.items():
        yield ""
        yield rows(columns, content[name], width)


def _sentence(gate: Row, until: str | None) -> Text:
    told = Text.assemble(
        (gate["action"], _STYLES[gate["action"]]), ": ", cells.name(gate["reason"])
    )
    return Text.assemble(told, "; come back at ", cells.moment(until)) if until else told


def _share(value: float | None) -> Text:
    return Text(cells.NONE if value is None else f"{value:.1%}")


def _guess(usd: float) -> Text:
    return cells.cost(None, usd) if usd else Text("")


def _some(count: int) -> Text:
    return Text(f"{count:,}" if count else "")
