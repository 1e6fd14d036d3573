"""Forwarding to the account: each event of a run once, whoever does it, and however often."""

from collections.abc import Iterable
from datetime import timedelta

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.decider import decide
from forks_core.decider.account import Forward
from forks_core.errors import IllegalHistory
from forks_core.reducer import fold
from forks_core.registry import INITIAL
from forks_events import Event
from forks_events.account import QuotaForwarded, RunForwarded, SpendBooked
from forks_events.run import RunOpened
from tests.decider.world import START, World
from tests.histories import forward
from tests.strategies import drawn

RUNS = ("run-1", "run-2")
LAST = 12
READING, SPEND = forward("run-1", 2, START).entries
assert isinstance(READING, QuotaForwarded)
assert isinstance(SPEND, SpendBooked)


def piece(run: str, after: int, until: int) -> Forward:
    """What a forwarder read of a run's log: of all events the odd ones are spends or readings."""
    entries = tuple(
        evolve(SPEND if seq % 4 == 1 else READING, run=run, seq=seq)
        for seq in range(after + 1, until + 1)
        if seq % 2
    )
    return Forward(log=f"log of {run}", forks_version="1", run=run, entries=entries, seq=until)


def told(events: Iterable[Event]) -> list[tuple[str, int]]:
    """Of which events of which runs an account log speaks."""
    kinds = (SpendBooked, QuotaForwarded)
    return [(event.run, event.seq) for event in events if isinstance(event, kinds)]


# Who, of which run, how much it has grown by then, and whether it is read, or told what was read.
STEPS = st.tuples(
    st.integers(0, 2), st.sampled_from(RUNS), st.integers(0, 4), st.sampled_from(["read", "tell"])
)
STORIES = st.lists(STEPS, min_size=8, max_size=30)
Story = list[tuple[int, str, int, str]]


def played(story: Story) -> tuple[World, list[str]]:
    """Let forwarders read and tell in any order; say what each telling was."""
    world, heads = World(), dict.fromkeys(RUNS, 0)
    held: dict[int, Forward] = {}
    found: list[str] = []
    for who, run, more, what in story:
        if what == "read":
            heads[run] += more
            held[who] = piece(run, world.registry.forwarded.get(run, 0), heads[run])
        elif who in held:
            one = held[who]
            done = world.registry.forwarded.get(one.run, 0)
            overlaps = any(entry.seq <= done for entry in one.entries)
            world.do(one)
            assert world.registry.forwarded.get(one.run, 0) == max(done, one.seq)
            found.append("late" if one.seq <= done else "overlap" if overlaps else "new")
    return world, found


@pytest.mark.rule("A10.1", "A10.3")
class TestForward:
    """What is passed on is said once, with how far the run was looked at, in one commit."""

    def test_first(self) -> None:
        """The first to come opens the account's log, which is no lab run; ``at`` is now."""
        world = World()
        opened, *entries, until = world.do(piece("run-1", 0, 5))
        assert isinstance(opened, RunOpened)
        assert (opened.run, opened.lab, opened.forks_version) == ("log of run-1", False, "1")
        assert told(entries) == [("run-1", 1), ("run-1", 3), ("run-1", 5)]
        assert until == RunForwarded(at=world.now, run="run-1", seq=5)
        assert {event.at for event in world.events} == {world.now}
        assert dict(world.registry.forwarded) == {"run-1": 5}

    def test_what_is_kept(self) -> None:
        """But for ``at``, which is when it was passed on, an entry is as it came."""
        world = World()
        world.later(3600)
        said = world.do(piece("run-1", 0, 3))
        assert said[1] == evolve(SPEND, run="run-1", seq=1, at=world.now)
        assert said[2] == evolve(READING, run="run-1", seq=3, at=world.now)

    def test_again(self) -> None:
        """What was passed on, and what is older, says nothing."""
        world = World()
        world.do(piece("run-1", 0, 5))
        assert world.do(piece("run-1", 0, 5)) == ()
        assert world.do(piece("run-1", 0, 3)) == ()
        assert dict(world.registry.forwarded) == {"run-1": 5}

    def test_overlapping(self) -> None:
        """Of a piece that goes further only what is new is said."""
        world = World()
        world.do(piece("run-1", 0, 5))
        assert told(world.do(piece("run-1", 0, 9))) == [("run-1", 7), ("run-1", 9)]

    def test_runs_are_apart(self) -> None:
        """How far one run was passed on says nothing of another."""
        world = World()
        world.do(piece("run-1", 0, 9))
        said = world.do(piece("run-2", 0, 3))
        assert told(said) == [("run-2", 1), ("run-2", 3)]
        assert not any(isinstance(event, RunOpened) for event in said)

    @settings(deadline=None)
    @given(STORIES)
    def test_law_each_once(self, story: Story) -> None:
        """Whoever reads and tells when, also late and again: each entry once, and in its order."""
        world, _ = played(story)
        for run in RUNS:
            found = [seq for of, seq in told(world.events) if of == run]
            until = world.registry.forwarded.get(run, 0)
            assert found == [seq for seq in range(1, until + 1) if seq % 2]
        spends = {f"{run}/{seq}" for run, seq in told(world.events) if seq % 4 == 1}
        assert set(world.registry.booked) == spends

    def test_reachability(self) -> None:
        """The law meets pieces that come late, that overlap, and that are new."""
        found = {what for story in drawn(STORIES, 100) for what in played(story)[1]}
        assert found == {"late", "overlap", "new"}


class TestReducer:
    """What no decision could have led to is refused."""

    @pytest.mark.parametrize("seq", [4, 5])
    def test_backwards(self, seq: int) -> None:
        """A run does not go back, nor is it said twice how far it is."""
        with pytest.raises(IllegalHistory, match="forwarded beyond"):
            fold(RunForwarded(at=START, run="run-1", seq=at) for at in (5, seq))

    def test_booked_twice(self) -> None:
        """No event of a run is booked twice; another's of the same number is another."""
        other = evolve(SPEND, run="run-2")
        assert len(fold([SPEND, other]).booked) == 2
        with pytest.raises(IllegalHistory, match="booked before"):
            fold([SPEND, other, SPEND])

    @pytest.mark.rule("A12.3")
    def test_quotas_are_by_account(self) -> None:
        """A reading is merged into its account's quota, by when it was seen."""
        assert isinstance(READING, QuotaForwarded)
        later = evolve(READING, seen_at=START + timedelta(hours=1), account="team")
        quotas = fold([READING, later], INITIAL).quotas
        assert set(quotas) == {"default", "team"}
        assert quotas["default"].read_at == START
        assert quotas["team"].read_at == START + timedelta(hours=1)

    def test_decided_is_legal(self) -> None:
        """What is decided can be folded, also on its own state."""
        said = decide(piece("run-1", 0, 5), INITIAL, START)
        state = fold(said)
        assert decide(piece("run-1", 0, 5), state, START) == ()
