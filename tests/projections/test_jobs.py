"""Jobs as rows."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.projections.jobs import (
    flags_of,
    job_row,
    job_status,
    live_row,
)
from forks_core.registry import Registry
from forks_events import Event
from forks_events.jobs import KillRequested
from forks_events.stream import StreamRetried
from forks_events.words import Cache, ErrorKind, Flag, Mode, Reason, Status
from tests.projections.builders import (
    REGISTRIES,
    SESSION,
    at,
    beat,
    delivered,
    ended,
    fork,
    held,
    launched,
    reached,
    registry,
    settled,
    started,
    turned,
)

LOST_AFTER_S = 120.0
ROW = {
    "job",
    "kind",
    "base",
    "block",
    "phase",
    "mode",
    "paths",
    "status",
    "flags",
    "reason",
    "reason_detail",
    "session",
    "parent_session",
    "continues",
    "created_at",
    "launched_at",
    "ended_at",
    "fingerprint",
    "cache",
    "delivered_at",
    "settled_at",
    "turns",
}
LIVE = {"elapsed_s", "last_event_s_ago", "retrying"}


def row(*events: Event, now: float = 10) -> dict[str, Any]:
    """The row of the fork j0001 after these events."""
    state = registry(fork(), *events)
    return job_row(state, state.jobs["j0001"], at(now), LOST_AFTER_S)


@pytest.mark.rule("B14.7", "B25.1")
class TestStatus:
    """A job is created until its client runs, then running, then what it ended as."""

    @pytest.mark.parametrize(
        ("events", "expected"),
        [
            ([], "created"),
            ([launched()], "created"),
            ([launched(), held("j0001", "j0000")], "created"),
            ([launched(), started()], "running"),
            *(([ended(status=status)], status.value) for status in Status),
        ],
    )
    def test_told(self, events: list[Event], expected: str) -> None:
        """One that is held is still created; there are seven words, and five of them final."""
        assert job_status(registry(fork(), *events).jobs["j0001"]) == expected
        assert row(*events)["status"] == expected


@pytest.mark.rule("B32.3")
class TestFlags:
    """Flags are as they were concluded, or as they stand now, in the order they were raised."""

    @pytest.mark.parametrize(
        ("events", "now", "expected"),
        [
            ([], 120, []),
            ([], 121, ["silent"]),
            ([launched(), held("j0001", "j0000")], 1, ["held"]),
            ([launched(), held("j0001", "j0000")], 121, ["held", "silent"]),
            ([launched(), held("j0001", "j0000"), started()], 1, ["held"]),
            ([launched(), started(), beat("j0001", 5, flags=(Flag.STALLED,))], 6, ["stalled"]),
            ([launched(), started(), turned("j0001", 50)], 150, []),
            ([ended(flags=(Flag.STALLED, Flag.COLD_START))], 9999, ["stalled", "cold_start"]),
        ],
    )
    def test_told(self, events: list[Event], now: float, expected: list[str]) -> None:
        """Silence is no event: it is seen when one looks, and never of what is over."""
        state = registry(fork(), *events)
        assert flags_of(state, state.jobs["j0001"], at(now), LOST_AFTER_S) == expected


@pytest.mark.rule("B32.3")
class TestRow:
    """A row has every key from the beginning, and of what has not come yet it says null."""

    def test_created(self) -> None:
        """Who was just created has its order, and nothing else."""
        made = row(now=4)
        assert made.keys() >= ROW | LIVE
        assert made["created_at"] == "2026-11-30T12:00:00.000000+00:00"
        assert (made["kind"], made["mode"], made["block"]) == ("fork", "sequential", "parser")
        assert (made["session"], made["parent_session"]) == ("s-j0001", SESSION)
        empty = ROW & {key for key, value in made.items() if value is None}
        assert empty == {
            "phase",
            "paths",
            "reason",
            "reason_detail",
            "continues",
            "launched_at",
            "ended_at",
            "fingerprint",
            "cache",
            "delivered_at",
            "settled_at",
        }
        assert (made["elapsed_s"], made["last_event_s_ago"], made["turns"]) == (4.0, None, 0)

    def test_running(self) -> None:
        """Who runs says for how long, when it last spoke, and how many turns it has had."""
        life = (launched(seconds=1), started(seconds=2), turned("j0001", 5), turned("j0001", 6))
        made = row(*life, now=10)
        assert (made["elapsed_s"], made["last_event_s_ago"], made["turns"]) == (8.0, 4.0, 2)
        assert made["launched_at"] == "2026-11-30T12:00:01.000000+00:00"

    def test_last_output(self) -> None:
        """Output that was no event counts too, as the last beat told it."""
        made = row(launched(), started(), turned("j0001", 5), beat("j0001", 19, output=18), now=20)
        assert made["last_event_s_ago"] == 2.0

    def test_retrying(self) -> None:
        """A client that tries a request again says so, until something follows."""
        retried = StreamRetried(
            at=at(6), job="j0001", seen_at=at(6), attempt=3, delay_ms=4000, error_status=529
        )
        life = (launched(), started(), turned("j0001", 5), retried)
        assert row(*life)["retrying"] == {"attempt": 3, "error_status": 529}
        assert row(*life[:3])["retrying"] is None
        assert row(*life, turned("j0001", 7))["retrying"] is None

    @pytest.mark.rule("B25.9", "B25.10")
    def test_ended(self) -> None:
        """Who is over has its end's words, and nothing of a living one."""
        end = ended(
            seconds=9,
            status=Status.FAILED,
            reason=Reason.IS_ERROR,
            reason_detail="error_max_turns",
            error_kind=ErrorKind.TURNS,
            session="reported",
            cache=Cache.PARTIAL,
            drift=("tools", "binary"),
            turns=7,
        )
        made = row(launched(), started(), end, delivered("j0001", 10), settled("j0001", 11))
        assert made.keys() >= ROW
        assert not made.keys() & LIVE
        assert (made["reason"], made["reason_detail"]) == ("is_error", "error_max_turns")
        assert (made["session"], made["turns"], made["cache"]) == ("reported", 7, "partial")
        assert made["fingerprint"] == "drift:binary,tools"
        assert made["ended_at"] == "2026-11-30T12:00:09.000000+00:00"
        assert made["delivered_at"] == "2026-11-30T12:00:10.000000+00:00"
        assert made["settled_at"] == "2026-11-30T12:00:11.000000+00:00"

    def test_mode_of_a_fork(self) -> None:
        """A parallel fork says so in its row."""
        state = registry(fork(mode=Mode.PARALLEL, paths=("a",)))
        made = job_row(state, state.jobs["j0001"], at(0), LOST_AFTER_S)
        assert (made["mode"], made["paths"]) == ("parallel", ["a"])

    def test_a_wish_is_not_an_end(self) -> None:
        """A job that somebody wants dead still runs."""
        wish = KillRequested(at=at(3), job="j0001", reason=Reason.KILL)
        assert row(launched(), started(), wish)["status"] == "running"

    def test_a_clock_that_was_set_back(self) -> None:
        """A time that is not reached yet is no negative age."""
        made = row(launched(seconds=1), started(seconds=2), turned("j0001", 5), now=0)
        assert (made["elapsed_s"], made["last_event_s_ago"]) == (0.0, 0.0)

    @settings(deadline=None)
    @given(REGISTRIES, st.integers(0, 300))
    def test_law_rows(self, state: Registry, now: int) -> None:
        """Every job of every history has a row of plain data, live keys exactly while it lives."""
        for name, job in state.jobs.items():
            made = job_row(state, job, at(now), LOST_AFTER_S)
            assert json.loads(json.dumps(made)) == made
            assert made["job"] == name
            assert made.keys() >= ROW
            assert (made.keys() >= LIVE) is not job.ended

    def test_reachability(self) -> None:
        """The law looks at jobs that were just created, that run, and that are over."""
        for status in ("created", "running", "ok"):
            statuses = REGISTRIES.map(lambda r: {job_status(job) for job in r.jobs.values()})
            assert reached(statuses, holding(status))


@pytest.mark.rule("B31.7")
class TestLiveRow:
    """A waiting caller is told of each running job its block, its age, and its last word."""

    def test_keys(self) -> None:
        """Five keys, no more."""
        state = registry(fork(), launched(), started(seconds=1))
        assert live_row(state, state.jobs["j0001"], at(3.26)) == {
            "job": "j0001",
            "block": "parser",
            "elapsed_s": 2.3,
            "last_event_s_ago": None,
            "turns": 0,
        }


def holding(word: str) -> Any:
    """Whether a set holds a word."""
    return lambda words: word in words
