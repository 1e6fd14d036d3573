"""A study for people: what its file means, and the schedule that follows from it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from forks_cli.text import cells
from forks_cli.text.layout import INDENT, Column, Part, Row, pairs, rows
from forks_cli.words import counted

_SHOWN = 10
_ARMS = (
    Column("arm", lambda row: cells.name(row["name"]), elastic=True),
    Column("model", lambda row: cells.name(row["model"])),
    Column("base", lambda row: cells.name(row["base"])),
    Column("goes first", lambda row: cells.count(row["goes_first"]), right=True),
)
_TRIALS = (
    Column("trial", lambda row: cells.name(row["trial_id"]), elastic=True),
    Column("block", lambda row: cells.name(row["block"]), elastic=True),
    Column("task", lambda row: cells.name(row["task"]), elastic=True),
    Column("arm", lambda row: cells.name(row["arm"]), elastic=True),
    Column("run", lambda row: cells.count(row["run"]), right=True),
    Column("seed", lambda row: Text(str(row["seed"])), right=True),
)


def check_page(content: Row, width: int) -> Iterator[Part]:
    """What a study means."""
    first, second = (content["trials_by_phase"][phase] for phase in ("1", "2"))
    yield Text.assemble(
        (content["id"], "bold"),
        f": {counted(content['trials'], 'trial')}"
        f" in {counted(content['blocks'], 'block')}"
        f" ({first} in phase 1, {second} in phase 2)",
    )
    yield ""
    yield rows(_ARMS, content["arms"], width)
    yield ""
    yield pairs([*_told(content)], width, INDENT)
    for path, values in content["differences"].items():
        yield Text(f"arms differ in {path}", style="bold")
        yield pairs([(name, _told_of(value)) for name, value in values.items()], width, INDENT)
    if content["changed"]:
        yield Text(f"Changed since it was scheduled: {', '.join(content['changed'])}", style="red")
        yield pairs([*_changes(content["changes"])], width, INDENT)


def _changes(changes: Mapping[str, Row]) -> Iterator[tuple[str, Text]]:
    for path, change in changes.items():
        yield path, Text.assemble(_told_of(change["was"]), " -> ", _told_of(change["is"]))


def _told_of(value: Any) -> Text:
    """A launch field as one arm has it; of a file its name and its digest."""
    if isinstance(value, Mapping):
        return cells.name(", ".join(str(item) for item in value.values() if item is not None))
    return cells.plain("", value)


def _told(content: Row) -> Iterator[tuple[str, Text]]:
    most = content["at_most"]
    yield "tasks", cells.name(", ".join(content["order"]))
    yield (
        "takes at most",
        Text.assemble(
            cells.seconds(most["seconds"]),
            "; with retries ",
            cells.seconds(most["seconds_with_retries"]),
        ),
    )
    yield (
        "costs at most",
        Text.assemble(
            cells.money(most["usd"]), "; with retries ", cells.money(most["usd_with_retries"])
        ),
    )
    if content["cutoff"]:
        yield "starts nothing from", cells.moment(content["cutoff"])
    if content["pins"]:
        yield "pins", cells.name(", ".join(f"{k}={v}" for k, v in content["pins"].items()))
    at = content["scheduled_at"]
    yield "scheduled", cells.moment(at) if at else Text("not yet")
    yield "state", cells.name(content["state"])


def schedule_page(content: Row, width: int) -> Iterator[Part]:
    """The beginning of a schedule, and where the whole of it is."""
    trials = content["trials"]
    done = "is scheduled" if content["changed"] else "was scheduled before, as it stands"
    yield Text.assemble((content["id"], "bold"), f" {done}: {counted(len(trials), 'trial')}")
    yield ""
    yield rows(_TRIALS, trials[:_SHOWN], width)
    if len(trials) > _SHOWN:
        yield f"… and {len(trials) - _SHOWN} more: --json tells all"
    yield ""
    yield cells.name(f"state: {content['state']}")
