"""Process trees: who descends from whom."""

from collections.abc import Collection, Mapping

from attrs import frozen


@frozen(kw_only=True)
class Row:
    """A living process as the system lists it.

    Args:
        pid: Its number.
        state: One letter, as ``/proc`` has it.
        parent: Its parent's number.
        group: Its process group.
        ticks: When it started, in clock ticks since boot.
        name: Its name, for people.
    """

    pid: int
    state: str
    parent: int
    group: int
    ticks: int
    name: str


def descendants(rows: Mapping[int, Row], roots: Collection[int]) -> list[int]:
    """List the pids below the roots, parents first, the roots not among them.

    A child counts only if it was not created before its parent: else the parent's number was
    given out again, and the child is somebody else's.
    """
    found: dict[int, None] = {}
    frontier = [pid for pid in roots if pid in rows]
    while frontier:
        parents = set(frontier)
        frontier = [
            row.pid
            for row in rows.values()
            if row.parent in parents
            and row.ticks >= rows[row.parent].ticks
            and row.pid not in found
            and row.pid not in roots
        ]
        found |= dict.fromkeys(frontier)
    return list(found)
