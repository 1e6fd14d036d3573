"""The only way in: load, decide, append, and durable before it is said."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given, settings

from forks_core.decider import Command, decide
from forks_core.decider.jobs import Hear, LaunchJob
from forks_core.decider.run import SeeOrchestrator
from forks_core.decider.train import Train
from forks_core.errors import IllegalHistory, LogLocked, Refused, StorageFailed
from forks_core.ports import Clock, Log, Processes
from forks_core.reducer import fold
from forks_core.transact import Live, known_events, transact
from forks_events import Event
from forks_events.chain import link, scan
from forks_events.envelope import Author, Envelope, Unknown
from forks_events.run import OrchestratorSeen
from tests.fakes import FakeClock, FakeProcesses, MemoryLog
from tests.histories import INIT, NOON, STORIES, Move, Player, call, process
from tests.strategies import drawn

BY = Author(verb="fork", host="h", pid=1)
SEE = SeeOrchestrator()
APPENDED = ["lock", "read", "append", "unlock", "sync"]
SILENT = ["lock", "read", "unlock", "sync"]
_PORTS: tuple[Log, Clock, Processes] = (MemoryLog(), FakeClock(), FakeProcesses())


def opened() -> tuple[MemoryLog, FakeClock, Live]:
    """A run that was initialised, with no calls counted yet."""
    log, clock = MemoryLog(), FakeClock()
    live = Live(log=log, clock=clock, author=BY)
    transact(live, INIT)
    log.calls.clear()
    return log, clock, live


def kinds(envelopes: tuple[Envelope, ...]) -> list[str]:
    """Names of what was recorded."""
    return [type(envelope.event).__name__ for envelope in envelopes]


@pytest.mark.rule("B6.3")
class TestRecording:
    """What was decided is recorded as one commit, and is durable before it is returned."""

    def test_returned(self) -> None:
        """The envelopes are those of the log, and the registry is what they fold to."""
        log, clock = MemoryLog(), FakeClock()
        live = Live(log=log, clock=clock, author=BY)
        said = transact(live, INIT)
        assert kinds(said) == ["RunOpened", "LaunchFixed", "RunConfigured"]
        assert {envelope.commit for envelope in said} == {3}
        assert {envelope.by for envelope in said} == {BY}
        assert said == scan(log.data).envelopes
        assert live.registry == fold(known_events(said)[0])
        assert live.head == scan(log.data).head

    def test_order_of_calls(self) -> None:
        """Read, decide and write under the lock; the sync comes after it was let go."""
        log, _, live = opened()
        assert kinds(transact(live, SEE)) == ["OrchestratorSeen"]
        assert log.calls == APPENDED
        assert log.synced == len(log.data)

    @pytest.mark.rule("B6.5")
    def test_the_time_is_read_once_under_the_lock(self) -> None:
        """Every event of a commit carries the clock's time."""
        _, clock, live = opened()
        clock.tick(5)
        said = transact(live, Train(base="a", call=call(1)))
        assert [envelope.event.at for envelope in said] == [clock.at] * 3

    def test_nothing_new(self) -> None:
        """When nothing is said nothing is written, but what it was judged by is synced."""
        log, _, live = opened()
        transact(live, SEE)
        log.calls.clear()
        before = log.data
        assert transact(live, SEE) == ()
        assert (log.calls, log.data) == (SILENT, before)


class TestRefused:
    """A refusal records nothing, and what it was judged by is durable."""

    def test_synced(self) -> None:
        """The sync comes also then."""
        log, _, live = opened()
        before = log.data
        with pytest.raises(Refused, match="unknown job"):
            transact(live, LaunchJob(job="j0009", supervisor=process(1)))
        assert (log.calls, log.data) == (SILENT, before)

    def test_not_told_when_not_durable(self) -> None:
        """A refusal that rests on what may be lost is not told as one."""
        log, _, live = opened()
        log.failing = {"sync"}
        with pytest.raises(StorageFailed, match="cannot sync"):
            transact(live, LaunchJob(job="j0009", supervisor=process(1)))


class TestStorage:
    """What storage says is told, and the registry holds only what the log does."""

    @pytest.mark.parametrize(
        ("call_", "error", "calls"),
        [
            ("lock", LogLocked, ["lock"]),
            ("append", StorageFailed, APPENDED[:-1]),
            ("sync", StorageFailed, APPENDED),
        ],
    )
    def test_failures(self, call_: str, error: type[StorageFailed], calls: list[str]) -> None:
        """The lock, the write, the sync: each is told, and the lock is let go."""
        log, _, live = opened()
        log.failing = {call_}
        with pytest.raises(error):
            transact(live, SEE)
        assert log.calls == calls
        assert live.registry == fold(known_events(scan(log.data).envelopes)[0])

    def test_after_a_failed_write(self) -> None:
        """Nothing was said, so the next try says it."""
        log, _, live = opened()
        log.failing = {"append"}
        with pytest.raises(StorageFailed):
            transact(live, SEE)
        log.failing.clear()
        assert kinds(transact(live, SEE)) == ["OrchestratorSeen"]


class TestIllegalHistory:
    """An illegal history shows before it is written, not to everyone who reads it later."""

    def test_never_written(self) -> None:
        """A caller that smuggles an opening in as something that was heard leaves no trace."""
        log, _, live = opened()
        transact(live, Train(base="a", call=call(1)))
        opening: Any = scan(log.data).envelopes[0].event
        before, registry = log.data, live.registry
        log.calls.clear()
        with pytest.raises(IllegalHistory, match="opened before"):
            transact(live, Hear(job="j0001", after=0, said=(opening,)))
        assert (log.data, live.registry) == (before, registry)
        assert log.calls == SILENT[:-1]

    def test_never_folded(self) -> None:
        """A log that holds one is told when it is read, and the handle stays where it was."""
        log, clock, live = opened()
        opening = scan(log.data).envelopes[0].event
        assert not isinstance(opening, Unknown)
        _, more, _ = link(live.head, BY, [OrchestratorSeen(at=NOON), opening])
        log.data += more
        head, registry = live.head, live.registry
        for read in (live.refresh, Live(log=log, clock=clock, author=BY).refresh):
            with pytest.raises(IllegalHistory, match="opened before"):
                read()
        assert (live.head, live.registry) == (head, registry)


@pytest.mark.rule("B6.2")
class TestUnknownEvents:
    """Reading keeps and counts unknown types; a command that appends refuses such a log."""

    @pytest.mark.parametrize(
        ("old", "new"),
        [(b'"OrchestratorSeen","v":1', b'"TrialDreamt","v":1'), (b'Seen","v":1', b'Seen","v":2')],
    )
    def test_refused(self, old: bytes, new: bytes) -> None:
        """A type, or a version, that is not known: it reads fine, and is not appended to."""
        log, clock, live = opened()
        transact(live, SEE)
        log.data = log.data.replace(old, new)
        fresh = Live(log=log, clock=clock, author=BY)
        assert fresh.refresh().run == fold(known_events(scan(log.data).envelopes)[0]).run
        assert (fresh.unknown, fresh.head.seq) == (1, 4)
        assert fresh.refresh().run is not None
        assert fresh.unknown == 1
        before = log.data
        with pytest.raises(Refused, match="use the newer one") as caught:
            transact(fresh, SEE)
        assert caught.value.fields == {"unknown": 1}
        assert log.data == before
        assert log.calls[-1] == "sync"

    def test_met_under_the_lock(self) -> None:
        """Also when the newer one wrote it while we ran."""
        log, clock, live = opened()
        newer = Live(log=log, clock=clock, author=BY)
        transact(newer, SEE)
        log.data = log.data.replace(b'Seen","v":1', b'Seen","v":2')
        with pytest.raises(Refused, match="use the newer one"):
            transact(live, SEE)


class TestTwoHandles:
    """Handles on one log see each other's events, each folding only what is new."""

    def test_each_other(self) -> None:
        """What one records the other decides by."""
        log, clock, one = opened()
        other = Live(log=log, clock=clock, author=Author(verb="wait", host="h", pid=2))
        assert kinds(transact(other, Train(base="a", call=call(1))))[-1] == "BaseCreated"
        with pytest.raises(Refused, match="base exists"):
            transact(one, Train(base="a", call=call(2)))
        assert one.registry == other.registry
        assert kinds(transact(one, LaunchJob(job="j0001", supervisor=process(1)))) == [
            "JobLaunched"
        ]
        assert transact(other, LaunchJob(job="j0001", supervisor=process(2))) == ()
        assert one.registry == other.registry == other.refresh()
        assert one.head == other.head == scan(log.data).head

    @settings(max_examples=30, deadline=None)
    @given(STORIES)
    def test_law_any_hands(self, moves: tuple[Move, ...]) -> None:
        """Whoever of two gives each command, the log folds to what one alone would have made."""
        alone = Player()
        log, clock = MemoryLog(), FakeClock()
        hands = [Live(log=log, clock=clock, author=BY) for _ in range(2)]
        for at, command in enumerate(commands(alone, moves)):
            clock.at = alone.now
            alone.ask(command)
            try:
                transact(hands[at % 2], command)
            except Refused:
                continue
        assert [hand.refresh() for hand in hands] == [alone.registry] * 2
        assert [e.event for e in scan(log.data).envelopes] == list(alone.events)


class TestIdempotence:
    """The same command again, at the same time, says nothing new."""

    @settings(max_examples=80, deadline=None)
    @given(STORIES)
    def test_law_idempotence(self, moves: tuple[Move, ...]) -> None:
        """Whatever the state, what was decided is not decided again; a refusal stays one."""
        player = Player()
        for command in commands(player, moves):
            first = asked(command, player)
            player.ask(command)
            assert asked(command, player) == (None if first is None else ())

    def test_reachability(self) -> None:
        """Every command is among the drawn ones, and says something at least once."""
        saying = set()
        for moves in drawn(STORIES, 600):
            player = Player()
            for command in commands(player, moves):
                if asked(command, player):
                    saying.add(type(command))
                player.ask(command)
        assert saying == set(get_args(Command))


def asked(command: Command, player: Player) -> tuple[Event, ...] | None:
    """What would be said now; None when it would be refused."""
    try:
        return decide(command, player.registry, player.now)
    except Refused:
        return None


def commands(player: Player, moves: tuple[Move, ...]) -> Iterator[Command]:
    """Open the run, and make commands of moves, as the player stands when each is asked for."""
    yield INIT
    for move in moves:
        command = player.step(move)
        if command is not None:
            yield command
