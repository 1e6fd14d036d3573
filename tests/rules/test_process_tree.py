"""Process trees: who descends from whom."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.process_tree import Row, descendants
from tests.projections.builders import reached

PIDS = range(1, 6)


def tree(*links: tuple[int, int] | tuple[int, int, int]) -> dict[int, Row]:
    """Rows of (pid, parent) or (pid, parent, ticks); without ticks the pid stands for them."""
    rows = {}
    for pid, parent, *ticks in links:
        at = ticks[0] if ticks else pid
        rows[pid] = Row(pid=pid, state="S", parent=parent, group=pid, ticks=at, name="x")
    return rows


# Any parent, itself too, and any start: so numbers that were given out again and rings are drawn.
ROWS = st.none() | st.tuples(st.integers(0, 5), st.integers(0, 2))
FORESTS = st.fixed_dictionaries(dict.fromkeys(PIDS, ROWS)).map(
    lambda drawn: tree(*((pid, *row) for pid, row in drawn.items() if row))
)
ROOTS = st.sets(st.sampled_from(PIDS), max_size=3)


def is_below(rows: Mapping[int, Row], pid: int, roots: set[int]) -> bool:
    """Follow the parents up, one after the other: the definition, and nothing clever."""
    seen = set()
    while pid in rows and pid not in seen:
        seen.add(pid)
        parent = rows.get(rows[pid].parent)
        if parent is None or parent.ticks > rows[pid].ticks:
            return False
        if parent.pid in roots:
            return True
        pid = parent.pid
    return False


def is_younger_parent(rows: Mapping[int, Row], row: Row) -> bool:
    """Whether the parent's number was given out again."""
    parent = rows.get(row.parent)
    return parent is not None and parent.ticks > row.ticks


@pytest.mark.rule("B7.3")
class TestDescendants:
    """Those below the roots by parentage, parents first, the roots themselves left out."""

    def test_generations(self) -> None:
        """Children, then grandchildren; strangers not."""
        rows = tree((1, 0), (2, 1), (3, 1), (4, 2), (5, 4), (6, 0), (7, 6))
        assert descendants(rows, [1]) == [2, 3, 4, 5]

    def test_several_roots(self) -> None:
        """A root below another root is no descendant, and what is below it counts once."""
        rows = tree((1, 0), (2, 1), (3, 2), (4, 1))
        assert sorted(descendants(rows, [1, 2])) == [3, 4]

    def test_a_root_that_is_gone(self) -> None:
        """Nobody is found below a number that nobody has."""
        assert descendants(tree((2, 1)), [1]) == []
        assert descendants({}, [1]) == []

    def test_no_roots(self) -> None:
        """Below nobody is nobody."""
        assert descendants(tree((1, 0), (2, 1)), []) == []

    def test_a_number_given_out_again(self) -> None:
        """A child that is older than its parent is somebody else's, and so are its children."""
        rows = tree((1, 0, 50), (2, 1, 49), (3, 2, 60), (4, 1, 51))
        assert descendants(rows, [1]) == [4]

    def test_born_in_the_same_tick(self) -> None:
        """Clocks are coarse: a child may be as old as its parent."""
        assert descendants(tree((1, 0, 50), (2, 1, 50)), [1]) == [2]

    def test_rings(self) -> None:
        """Rows are read one after the other, so they may form a ring: it is walked once."""
        assert descendants(tree((1, 3, 0), (2, 1, 0), (3, 2, 0)), [1]) == [2, 3]
        assert descendants(tree((1, 1, 0)), [1]) == []
        assert descendants(tree((1, 0, 0), (2, 2, 0)), [1]) == []

    @settings(deadline=None)
    @given(FORESTS, ROOTS)
    def test_law_the_definition(self, rows: dict[int, Row], roots: set[int]) -> None:
        """It finds exactly those whose parents lead up to a root."""
        expected = {pid for pid in rows if pid not in roots and is_below(rows, pid, roots)}
        assert set(descendants(rows, roots)) == expected

    @settings(deadline=None)
    @given(FORESTS, ROOTS)
    def test_law_parents_first(self, rows: dict[int, Row], roots: set[int]) -> None:
        """Each is listed once, and after its parent."""
        found = descendants(rows, roots)
        assert len(found) == len(set(found))
        for place, pid in enumerate(found):
            parent = rows[pid].parent
            assert parent in roots or parent in found[:place]

    def test_reachability(self) -> None:
        """The laws look at three generations, and at rows that form a ring, and at used numbers."""
        assert reached(FORESTS, lambda rows: len(descendants(rows, [1])) >= 3)
        assert reached(FORESTS, lambda rows: any(is_below(rows, pid, {pid}) for pid in rows))
        assert reached(
            FORESTS, lambda rows: any(is_younger_parent(rows, row) for row in rows.values())
        )
