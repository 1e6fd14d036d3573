"""Completeness of a study, whatever rows there are."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.projections.blocks import (
    Row,
    block_status,
    completed_ids,
    flag_incomplete,
    pending,
)
from forks_core.rules.schedule import blocks, flat
from tests.projections.builders import reached

BLOCKS = blocks(("a", "b"), ("x", "y"), 1, 1, None)
ALL = {entry.trial_id for entry in flat(BLOCKS)}
ROWS = st.lists(
    st.fixed_dictionaries(
        {"trial_id": st.sampled_from(["a-r1-x", "a-r1-y", "b-r1-x", "a-r2-x", "a-r2-y", "z-r1-x"])},
        optional={
            "smoke": st.sampled_from([True, False, None]),
            "final": st.booleans(),
            "excluded": st.booleans(),
            "block": st.sampled_from(["P1-a", "old"]),
        },
    ),
    max_size=8,
)


def counts(told: Row) -> bool:
    """Whether a row is final and no smoke row."""
    return not told.get("smoke") and told.get("final", True)


def is_complete(rows: list[Row]) -> dict[str, bool]:
    """Whether each block is, by its id."""
    return {name: status.complete for name, status in block_status(BLOCKS, rows).items()}


class TestLaws:
    """What is done and what is to be done, whatever rows there are."""

    @pytest.mark.rule("A6.3", "A6.4")
    @settings(deadline=None)
    @given(ROWS, ROWS)
    def test_law_monotone(self, rows: list[Row], more: list[Row]) -> None:
        """More rows never take a completion back, of a trial or of a block."""
        assert completed_ids(rows) <= completed_ids([*rows, *more])
        after = is_complete([*rows, *more])
        assert all(after[name] for name, complete in is_complete(rows).items() if complete)

    @pytest.mark.rule("A6.1", "A6.2")
    @settings(deadline=None)
    @given(ROWS)
    def test_law_only_final_rows_count(self, rows: list[Row]) -> None:
        """Without its smoke rows and those that are not final, everything is as complete."""
        counting = [told for told in rows if counts(told)]
        assert completed_ids(rows) == completed_ids(counting)
        assert block_status(BLOCKS, rows) == block_status(BLOCKS, counting)

    @pytest.mark.rule("A6.3")
    @settings(deadline=None)
    @given(ROWS)
    def test_law_resume(self, rows: list[Row]) -> None:
        """What is done and what is pending are all trials, none of them both, in order."""
        todo = pending(BLOCKS, rows)
        done = completed_ids(rows)
        assert {entry.trial_id for entry in todo} | (done & ALL) == ALL
        assert not done & {entry.trial_id for entry in todo}
        assert [e.order_index for e in todo] == sorted(e.order_index for e in todo)

    @pytest.mark.parametrize(
        "goal",
        [
            pytest.param(lambda rows: sum(is_complete(rows).values()) > 1, id="complete blocks"),
            pytest.param(lambda rows: any(not counts(r) for r in rows), id="rows that don't count"),
            pytest.param(lambda rows: rows and not completed_ids(rows), id="nothing done"),
        ],
    )
    def test_reachability(self, goal: Any) -> None:
        """The laws look at complete blocks, and at rows that complete nothing."""
        assert reached(ROWS, lambda rows: bool(goal(rows)))


class TestFlags:
    """Rows of incomplete blocks are flagged."""

    @pytest.mark.rule("A6.9")
    @settings(deadline=None)
    @given(ROWS)
    def test_law_idempotent(self, rows: list[Row]) -> None:
        """Flagging again changes nothing."""
        once = flag_incomplete(BLOCKS, rows)
        assert flag_incomplete(BLOCKS, deepcopy(once)) == once

    @pytest.mark.parametrize("flagged", [True, False])
    def test_reachability(self, *, flagged: bool) -> None:
        """The law looks at rows that are flagged and at rows of complete blocks."""
        assert reached(
            ROWS,
            lambda rows: (
                flagged
                in [
                    r["block_incomplete"]
                    for r in flag_incomplete(BLOCKS, rows)
                    if not r.get("smoke")
                ]
            ),
        )
