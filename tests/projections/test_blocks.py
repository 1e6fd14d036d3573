"""Which trials and blocks of a study are complete."""

from typing import Any

import pytest

from forks_core.errors import Refused
from forks_core.projections.blocks import (
    BlockStatus,
    Row,
    block_status,
    completed_ids,
    flag_incomplete,
    phase2_allowed,
    require_trial_id,
    rows_of_lines,
)
from forks_core.rules.schedule import blocks, flat

BLOCKS = blocks(("a", "b"), ("x", "y"), 1, 1, None)
ALL = [entry.trial_id for entry in flat(BLOCKS)]
FIRST = ["a-r1-x", "a-r1-y"]
SECOND = ["a-r2-y", "a-r2-x"]


def row(trial: str, **fields: Any) -> Row:
    """A row of a trial; final, and no smoke, unless it is told."""
    return {"trial_id": trial, **fields}


class TestCompleted:
    """A trial is done when it has a final row that is no smoke row."""

    @pytest.mark.rule("A6.1", "A6.2", "A6.3")
    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, True),
            ({"final": True}, True),
            ({"final": 1}, True),
            ({"final": False}, False),
            ({"final": None}, False),
            ({"smoke": True}, False),
            ({"smoke": "yes"}, False),
            ({"smoke": True, "final": True}, False),
            ({"smoke": False}, True),
            ({"smoke": None}, True),
            ({"smoke": 0}, True),
            ({"excluded": True}, True),
        ],
    )
    def test_told(self, fields: Row, *, expected: bool) -> None:
        """A row that does not say is final, and no smoke row."""
        assert completed_ids([row("a-r1-x", **fields)]) == ({"a-r1-x"} if expected else set())

    @pytest.mark.rule("A6.3")
    def test_for_good(self) -> None:
        """A later row that is not final undoes nothing."""
        assert completed_ids([row("t"), row("t", final=False)]) == {"t"}

    @pytest.mark.rule("A6.3")
    @pytest.mark.parametrize(
        "told", [{}, {"trial_id": None}, {"trial_id": ["t"]}, {"trial_id": ""}]
    )
    def test_no_trial(self, told: Row) -> None:
        """A row that names no trial completes none, and is flagged."""
        assert completed_ids([told]) == set()
        assert flag_incomplete(BLOCKS, [dict(told)]) == [
            {**told, "block": None, "block_incomplete": True}
        ]


class TestStatus:
    """A block is complete when each of its trials has a final row."""

    @pytest.mark.rule("A6.4", "A6.5")
    def test_counts(self) -> None:
        """Excluded trials are present; the last final row says whether a trial is excluded."""
        rows = [
            row("a-r1-x", excluded=True),
            row("a-r1-y", excluded=True),
            row("a-r1-y", excluded=False),
            row("a-r1-y", excluded=True, final=False),
            row("a-r1-y", excluded=True, smoke=True),
            row("b-r1-x", excluded=True),
            row("b-r1-x", excluded=1),
        ]
        told = block_status(BLOCKS, rows)
        assert list(told) == ["P1-a", "P1-b", "P2-a", "P2-b"]
        assert told["P1-a"] == BlockStatus(
            id="P1-a", complete=True, n_trials=2, n_expected=2, n_excluded=1
        )
        assert told["P1-b"] == BlockStatus(
            id="P1-b", complete=False, n_trials=1, n_expected=2, n_excluded=1
        )
        assert told["P2-a"] == BlockStatus(
            id="P2-a", complete=False, n_trials=0, n_expected=2, n_excluded=0
        )

    @pytest.mark.rule("A6.6")
    def test_unknown_trials(self) -> None:
        """Rows of trials that are not scheduled change no block."""
        rows = [row(trial) for trial in FIRST]
        assert block_status(BLOCKS, [*rows, row("z-r1-x"), row("a-r3-x")]) == block_status(
            BLOCKS, rows
        )


class TestFlags:
    """Rows of blocks that were interrupted are kept, and flagged."""

    @pytest.mark.rule("A6.7")
    def test_told(self) -> None:
        """Final or not, each says its block, and whether that is complete; smoke rows keep theirs."""
        rows = [
            row("a-r1-x", final=False, block="old"),
            *map(row, FIRST),
            row("b-r1-y"),
            row("z-r1-x", block="P1-a"),
            row("a-r1-x", smoke=True, block="mine"),
            row("b-r1-x", smoke=True),
        ]
        flag_incomplete(BLOCKS, rows)
        assert [(told.get("block", "untold"), told["block_incomplete"]) for told in rows] == [
            ("P1-a", False),
            ("P1-a", False),
            ("P1-a", False),
            ("P1-b", True),
            (None, True),
            ("mine", False),
            ("untold", False),
        ]

    @pytest.mark.rule("A6.8")
    def test_in_place(self) -> None:
        """The very rows that came in are given back, all of them."""
        rows = [row("a-r1-x"), row("z"), row("b-r1-x", smoke=True)]
        same = list(rows)
        told = flag_incomplete(BLOCKS, rows)
        assert told is rows
        assert [id(one) for one in told] == [id(one) for one in same]

    @pytest.mark.rule("A6.8")
    def test_judged_alone(self) -> None:
        """A complete block of phase 2 stands, although its task's block of phase 1 does not."""
        rows = flag_incomplete(BLOCKS, [row(FIRST[0]), *map(row, SECOND)])
        assert [told["block_incomplete"] for told in rows] == [True, False, False]


@pytest.mark.rule("A6.10")
class TestPhase2:
    """The second phase waits for the whole of the first, and for quota."""

    @pytest.mark.parametrize(
        ("rows", "quota_ok", "expected"),
        [
            ([row(t) for t in ALL[:4]], True, True),
            ([row(t) for t in ALL[:4]], False, False),
            ([row(t) for t in ALL[:3]], True, False),
            ([row(t, excluded=True) for t in ALL[:4]], True, True),
            ([*map(row, ALL[:3]), row(ALL[3], final=False)], True, False),
            ([*map(row, ALL[:3]), row(ALL[3], smoke=True)], True, False),
            ([row(t) for t in ALL[3:]], True, False),
        ],
    )
    def test_told(self, rows: list[Row], *, quota_ok: bool, expected: bool) -> None:
        """Every trial of the first phase has its final row, whatever the second one has."""
        assert phase2_allowed(BLOCKS, rows, quota_ok=quota_ok) is expected

    def test_no_first_phase(self) -> None:
        """Where there is no first phase, quota is enough."""
        second = BLOCKS[2:]
        assert phase2_allowed(second, [], quota_ok=True)
        assert not phase2_allowed(second, [], quota_ok=False)


class TestRows:
    """Rows as they are read and written."""

    @pytest.mark.rule("A6.11")
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (b"", []),
            (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
            (b'{"a":1}\n{"b":2}', [{"a": 1}, {"b": 2}]),
            (b'{"a":1}\n\n   \n{"b":2}\n{"c":', [{"a": 1}, {"b": 2}]),
            (b'{"a":1}\r\n{"a":\r2}\n', [{"a": 1}, {"a": 2}]),
            (b'\xff\n[1]\n3\nnull\n"x"\n{"a":NaN}\n{}\n', [{}]),
        ],
    )
    def test_lines(self, data: bytes, expected: list[Row]) -> None:
        """Each line is read alone; torn and blank ones, and what is no object, are passed over."""
        assert rows_of_lines(data) == expected

    @pytest.mark.rule("A6.12")
    @pytest.mark.parametrize("told", [{}, {"trial_id": None}, {"trial_id": ""}, {"trial_id": 3}])
    def test_refused(self, told: Row) -> None:
        """A final row that names no trial is refused."""
        with pytest.raises(Refused, match="trial_id") as refused:
            require_trial_id(told)
        assert refused.value.fields == {"trial_id": told.get("trial_id")}

    @pytest.mark.rule("A6.12")
    @pytest.mark.parametrize("told", [{"smoke": True}, {"final": False}, {"trial_id": "t"}])
    def test_accepted(self, told: Row) -> None:
        """Rows that do not count need no trial."""
        require_trial_id(told)
