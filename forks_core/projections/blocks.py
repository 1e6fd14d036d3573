"""Which trials and blocks of a study are complete, by its rows (A6).

A row is one attempt as plain data. Only final rows of real trials count: a smoke row and a row that
will be retried say nothing of what is done.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from attrs import frozen

from forks_core.errors import Refused
from forks_core.rules.schedule import Block, flat
from forks_events.study import Entry

Row = dict[str, Any]


@frozen(kw_only=True)
class BlockStatus:
    """How far a block has come.

    Args:
        id: The block.
        complete: Whether each of its trials has a final row, excluded or not.
        n_trials: Trials that have one.
        n_expected: Trials that it has.
        n_excluded: Trials whose last final row is excluded.
    """

    id: str
    complete: bool
    n_trials: int
    n_expected: int
    n_excluded: int


def is_smoke(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is of a trial that only tried the machinery (A6.1)."""
    return bool(row.get("smoke"))


def is_final(row: Mapping[str, Any]) -> bool:
    """Tell whether a row is the last word on its attempt; one that does not say is (A6.2)."""
    return bool(row.get("final", True))


def _last_final(rows: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {_trial_of(row): row for row in rows if _counts(row) and _trial_of(row)}


def _counts(row: Mapping[str, Any]) -> bool:
    return is_final(row) and not is_smoke(row)


def _trial_of(row: Mapping[str, Any]) -> str:
    name = row.get("trial_id")
    return name if isinstance(name, str) else ""


def completed_ids(rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The trials that have a final row, whatever came after it (A6.3)."""
    return frozenset(_last_final(rows))


def block_status(
    blocks: Iterable[Block], rows: Iterable[Mapping[str, Any]]
) -> dict[str, BlockStatus]:
    """How far each block has come, by its id; rows of other trials change nothing (A6.4-A6.6)."""
    last = _last_final(rows)
    return {block.id: _status(block, last) for block in blocks}


def _status(block: Block, last: Mapping[str, Mapping[str, Any]]) -> BlockStatus:
    done = [last[entry.trial_id] for entry in block.entries if entry.trial_id in last]
    return BlockStatus(
        id=block.id,
        complete=len(done) == len(block.entries),
        n_trials=len(done),
        n_expected=len(block.entries),
        n_excluded=sum(bool(row.get("excluded")) for row in done),
    )


def flag_incomplete(blocks: Sequence[Block], rows: list[Row]) -> list[Row]:
    """Say in each row which block it is of, and whether that is incomplete (A6.7-A6.9).

    The rows are changed where they are, and given back; none is dropped. A smoke row keeps the
    block that it has, and is never flagged. Each block is judged alone.
    """
    status = block_status(blocks, rows)
    block_of = {entry.trial_id: entry.block for entry in flat(blocks)}
    for row in rows:
        if is_smoke(row):
            row["block_incomplete"] = False
            continue
        row["block"] = block = block_of.get(_trial_of(row))
        row["block_incomplete"] = block is None or not status[block].complete
    return rows


def phase2_allowed(
    blocks: Iterable[Block], rows: Iterable[Mapping[str, Any]], *, quota_ok: bool
) -> bool:
    """Tell whether the second phase may begin: with quota, after all of the first one (A6.10)."""
    first = [block for block in blocks if block.phase == 1]
    return quota_ok and not pending(first, rows)


def pending(blocks: Iterable[Block], rows: Iterable[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """The trials that are still to be run, in order: those that are not completed."""
    done = completed_ids(rows)
    return tuple(entry for entry in flat(blocks) if entry.trial_id not in done)


def require_trial_id(row: Mapping[str, Any]) -> None:
    """See to it that a row that counts says of which trial it is (A6.12).

    Raises:
        Refused: A final row, and no smoke row, names no trial.
    """
    if _counts(row) and not _trial_of(row):
        raise Refused("a final row needs a trial_id", trial_id=row.get("trial_id"))


def rows_of_lines(data: bytes) -> list[Row]:
    """Read the rows of a file, a line each; a line that is no JSON object is passed over (A6.11).

    Args:
        data: What is in it; nothing when there is no file.
    """
    return [row for line in data.split(b"\n") if isinstance(row := _value(line), dict)]


def _value(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
