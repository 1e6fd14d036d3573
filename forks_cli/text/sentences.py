"""Answers that are said in a sentence or two: what was started, fixed, ended, retired."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from forks_cli.tame import one_line
from forks_cli.text import cells
from forks_cli.text.layout import INDENT, Part, Row, pairs

_RUN = "--run"


def launched(content: Row, words: Sequence[str], verb: str) -> Iterable[Part]:
    """What was started, and how to wait for it."""
    done = {"train": "trains", "fork": "forks", "continue": "continues"}[verb]
    whom = content.get("base") or _named(words, "--job") or "the fork"
    yield Text.assemble((content["job"], "bold"), f" {done} ", cells.name(whom), _warmth(content))
    run = f" {_RUN} {shlex.quote(_named(words, _RUN))}"
    yield one_line(f"wait for it: forks wait{run} {content['job']}")


def _warmth(content: Row) -> str:
    """How warm the base is that was forked."""
    if "base_state" not in content:
        return ""
    until = content["warm_until"]
    more = f" until {cells.moment(until).plain}" if until else ""
    return f", which is {content['base_state']}{more}"


def _named(words: Sequence[str], option: str) -> str:
    """An option's value, as it was given; the option may be cut short."""
    for word, after in pairwise([*words, ""]):
        name, equals, value = word.partition("=")
        if len(name) > len("--") and option.startswith(name):
            return value if equals else after
    return ""


def fixed(content: Row, width: int) -> Iterator[Part]:
    """What init has fixed, and what of it is new."""
    if content["created"]:
        said = "The launch is fixed."
    elif content["changed"]:
        said = f"Fixed anew; changed: {', '.join(content['changed_fields'])}"
    else:
        said = "It was fixed so before; nothing changed."
    yield Text(said, style="bold")
    launch, config = content["config"]["launch"], content["config"]
    yield pairs(
        [
            ("model", Text(_model(launch))),
            ("client", Text(_client(launch["binary"], config["binary_resolved_by"]))),
            ("directory", cells.name(launch["cwd"])),
            ("tools", Text(", ".join(launch["tools"]))),
            ("limits", Text(_limits(config))),
            ("state", cells.name(content["state"])),
        ],
        width,
        INDENT,
    )


def _model(launch: Row) -> str:
    effort = f", effort {launch['effort']}" if launch["effort"] else ""
    return f"{launch['model']}{effort}, permissions {launch['permission_mode']}"


def _client(binary: Row, how: str) -> str:
    return f"{binary['version']}, {binary['path']} (by {how})"


def _limits(config: Row) -> str:
    return f"{config['parallel_cap']} at once, {config['max_minutes']:g} minutes each"


def killed(content: Row, _width: int = 0) -> Iterator[Part]:
    """What a kill came to."""
    status = cells.word(content["status"])
    if not content["killed"]:
        yield Text.assemble((content["job"], "bold"), " was over before: ", status)
        return
    ended = len(content["snapshot"]) - len(content["survivors"])
    yield Text.assemble(
        (content["job"], "bold"), " is over: ", status, f", {ended} processes ended"
    )
    if content["survivors"]:
        pids = ", ".join(str(process["pid"]) for process in content["survivors"])
        yield Text(f"could not be ended: {pids}", style="bold red")


def expired(content: Row, width: int) -> Iterator[Part]:
    """Which bases nobody can fork any more, and what was ended for it."""
    retired = ", ".join(map(one_line, content["retired"]))
    yield Text(f"Retired: {retired}" if retired else "There was nothing to retire.")
    for row in content["killed"]:
        yield from killed(row, width)
