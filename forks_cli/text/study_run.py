"""A study that is run, for people: the preflight, how it stands as a grid, how a run ended."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import INDENT, Column, Part, Row, pairs, rows
from forks_cli.words import counted

_LETTERS = {
    "pending": ("·", "dim"),
    "running": (">", "cyan"),
    "judging": ("?", "cyan"),
    "retrying": ("~", "yellow"),
    "passed": ("+", "green"),
    "failed": ("-", "red"),
    "excluded": ("x", "yellow"),
    "evaluator_error": ("!", "red"),
}


def _passed(row: Row) -> Text:
    """Whether the work is right; a check that failed itself does not say."""
    if row["evaluator_error"]:
        return Text("error", style=_LETTERS["evaluator_error"][1])
    return cells.plain("", row["passed"])


_FOUND = {"pass": "green", "warn": "yellow", "fail": "bold red"}
_LOOKS = (
    Column("look", lambda row: cells.name(row["name"]), elastic=True),
    Column("found", lambda row: Text(row["found"], style=_FOUND[row["found"]])),
    Column("detail", lambda row: cells.name(row["detail"]), elastic=True),
)


def _cost(row: Row) -> Text:
    estimated = row.get("cost_source") == "estimate"
    return Text.assemble("~" if estimated else "", cells.money(row.get("cost_usd")))


_ROWS = (
    Column("trial", lambda row: cells.name(row["trial_id"]), elastic=True),
    Column("attempt", lambda row: cells.count(row["attempt"]), right=True),
    Column("status", lambda row: cells.name(row["status"])),
    Column("passed", _passed),
    Column("score", lambda row: Text("" if row["score"] is None else f"{row['score']:.2f}")),
    Column("infra", lambda row: cells.name(row["infra_kind"])),
    Column("time", lambda row: cells.seconds(row.get("agent_wall_s")), right=True),
    Column("cost", _cost, right=True),
)
_PLAYED = (
    Column("trial", lambda row: cells.name(row["trial_id"]), elastic=True),
    Column("status", lambda row: cells.name(row["status"])),
    Column("passed", lambda row: cells.plain("", row["passed"])),
    Column("score", lambda row: Text("" if row["score"] is None else f"{row['score']:.2f}")),
    Column("cost", lambda row: cells.money(row["cost_usd"]), right=True),
)


def preflight_page(content: Row, width: int) -> Iterator[Part]:
    """What was looked at, and in what the arms' clients differ."""
    yield rows(_LOOKS, content["looks"], width)
    for name, values in content["differences"].items():
        yield Text(f"arms report another {name}", style="bold")
        yield pairs(
            [(arm, cells.plain(arm, value)) for arm, value in values.items()], width, INDENT
        )
    yield ""
    failed = ", ".join(content["failed"])
    yield Text(f"Failed: {failed}" if failed else "Nothing is in the way.", style="bold")


def run_page(content: Row, width: int) -> Iterator[Part]:
    """How a run of a study ended, or what of the preflight kept it from beginning."""
    if "looks" in content:
        yield from preflight_page(content, width)
    else:
        yield from _stopped(content)
    if content["retry_at"]:
        yield Text.assemble("come back at ", cells.moment(content["retry_at"]))


def _stopped(content: Row) -> Iterator[Part]:
    detail = f" ({content['detail']})" if content["detail"] else ""
    yield Text.assemble((content["reason"], "bold"), detail, ": ", _far(content))
    yield cells.name(f"state: {content['state']}")


def _far(content: Row) -> str:
    unknown = content["costs_unknown"]
    return (
        f"{content['done']} of {counted(content['trials'], 'trial')}, "
        f"{content['blocks_complete']} of {counted(content['blocks'], 'block')}, "
        f"{'~' * bool(content['costs_estimated'])}{cells.money(content['spent_usd']).plain}"
        + (f" and {counted(unknown, 'call')} of unknown cost" if unknown else "")
    )


def status_page(content: Row, width: int) -> Iterator[Part]:
    """A grid of tasks by arms, a letter a repeat, and what is going on."""
    yield Text.assemble((content["id"], "bold"), ": ", _far(content))
    yield ""
    yield rows(_grid_columns(content["by_trial"]), _grid(content["by_trial"]), width)
    used = {row["state"] for row in content["by_trial"]}
    legend = [f"{_LETTERS[state][0]} {state}" for state in _LETTERS if state in used]
    yield Text("  ".join(legend), style="dim")
    yield ""
    yield pairs([(name, value) for name, value in _going_on(content) if value.plain], width)


def _grid_columns(trials: Sequence[Row]) -> tuple[Column, ...]:
    arms = dict.fromkeys(row["arm"] for row in trials)
    task = Column("task", lambda row: cells.name(row["task"]), elastic=True)
    return (task, *(Column(arm, _cell(arm)) for arm in arms))


def _cell(arm: str) -> Any:
    return lambda row: Text(" ").join(row[("arm", arm)])


def _grid(trials: Sequence[Row]) -> list[dict[Any, Any]]:
    found: dict[str, dict[Any, Any]] = {}
    for row in sorted(trials, key=lambda row: row["run"]):
        line = found.setdefault(row["task"], {"task": row["task"]})
        line.setdefault(("arm", row["arm"]), []).append(Text(*_LETTERS[row["state"]]))
    order = dict.fromkeys(row["task"] for row in trials)
    return [found[task] for task in order]


def _going_on(content: Row) -> Iterator[tuple[str, Text]]:
    stopped, waits, quota = content["stopped"], content["waits"], content["quota"]
    runner = content["runner"]
    if content["running"]:
        yield "runner", Text(f"pid {runner['pid']} on {runner['host']}", style="cyan")
    elif stopped:
        yield "stopped", Text.assemble(stopped["reason"], " at ", cells.moment(stopped["at"]))
        yield "because", cells.name(stopped["detail"])
        if stopped["retry_at"]:
            yield "come back at", cells.moment(stopped["retry_at"])
    elif runner:
        yield "runner", Text("it died; forks study run goes on", style="bold red")
    if content["running"] and content["stops_asked"]:
        yield (
            "asked to stop",
            Text("after this attempt" if content["stops_asked"] == 1 else "at once"),
        )
    told = (f"{one['trial_id']} ({one['job']}, {one['state']})" for one in content["going_on"])
    yield "goes on", cells.name(", ".join(told))
    if waits:
        yield (
            "waits for" if content["running"] else "was waiting for",
            Text.assemble(waits["for"], " until ", cells.moment(waits["until"])),
        )
    if content["left_s"]:
        yield "left", cells.seconds(content["left_s"])
    for name in ("five_hour", "seven_day"):
        if (used := quota[name]) is not None:
            until = quota[f"{name}_resets_at"]
            more = f", resets {cells.moment(until).plain}" if until else ""
            yield name.replace("_", " "), Text(f"{used:.0%} used{more}")
    yield "state", cells.name(content["state"])


def stop_line(content: Row, _: int) -> Iterator[Part]:
    """Whether anybody was asked to stop, and when they will."""
    if not content["running"]:
        yield "Nothing is running: there is nothing to stop."
        if jobs := ", ".join(content["going_on"]):
            yield f"But {jobs} goes on: forks study run adopts it, forks kill ends it."
    elif content["at_once"]:
        yield "Asked again: ends at once."
    else:
        yield "Asked to stop after this attempt."


def rows_page(content: Row, width: int) -> Iterator[Part]:
    """Every attempt, in short."""
    if not content["rows"]:
        yield "No row counts yet." if content["complete"] else _nothing(content["open"])
        return
    yield rows(_ROWS, content["rows"], width)


def _nothing(attempts: int) -> str:
    if not attempts:
        return "Nothing was tried yet."
    return f"{counted(attempts, 'attempt')}, of which none is over and judged yet."


def played_study(content: Row, width: int) -> Iterator[Part]:
    """What came of the demonstration of a study."""
    yield rows(_PLAYED, content["trials"], width)
    yield ""
    for arm in content["arms"]:
        yield Text(
            f"{arm['arm']}: {arm['passed']} of {arm['trials']} passed, "
            f"{cells.money(arm['cost_usd']).plain}"
        )
    same = "the same" if content["replay_equals_live"] else "ANOTHER"
    yield Text(
        f"{'All is well' if content['ok'] else 'It did not go well'}: client {content['client']}, "
        f"{content['events']} events, which a fresh process folded to {same} registry.",
        style="bold",
    )
    if content["state"]:
        yield cells.name(f"kept: {content['state']}")
