"""A stream's events and the readings among them are recorded once, and in their order."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.decider.jobs import Hear, RequestKill
from forks_core.rules.outcome import Imposed
from forks_events import Event, Said
from forks_events.jobs import JobEnded
from forks_events.quota import QuotaRead
from forks_events.stream import StreamTurned
from forks_events.words import Reason, Status
from tests.decider.world import (
    START,
    World,
    end,
    fork_command,
    opened,
    resulted,
    trained,
    turned,
)
from tests.histories import READING
from tests.projections.builders import reached

JOB = "j0002"


def forked() -> World:
    """A trained world with one fork whose client runs."""
    world = trained()
    world.do(fork_command())
    world.run(JOB)
    return world


def read(number: int) -> QuotaRead:
    """A reading that is like no other."""
    told = evolve(READING, resets_at=START + timedelta(seconds=number))
    return QuotaRead(at=START, job=JOB, seen_at=START, reading=told)


def said(kinds: Sequence[str]) -> tuple[Said, ...]:
    """Events of these kinds, each of which is like no other."""
    made: list[Said] = []
    for number, kind in enumerate(kinds):
        match kind:
            case "opened":
                made.append(opened(JOB, f"s-{number}"))
            case "turned":
                made.append(turned(JOB, START, read=number))
            case "resulted":
                made.append(resulted(JOB, cost_usd=number / 8))
            case _:
                made.append(read(number))
    return tuple(made)


def recorded(world: World) -> tuple[Event, ...]:
    """What the log holds of the fork's stream, without the times at which it was recorded."""
    stream = (
        event
        for event in world.events
        if getattr(event, "job", None) == JOB
        and (isinstance(event, QuotaRead) or type(event).__name__.startswith("Stream"))
    )
    return tuple(evolve(event, at=START) for event in stream)


@frozen(kw_only=True)
class Telling:
    """A stream and how it is told: each part from where to where, and whether it ends."""

    kinds: tuple[str, ...]
    parts: tuple[tuple[int, int], ...]
    ends: bool


KINDS = st.lists(st.sampled_from(["opened", "turned", "resulted", "read", "read"]), max_size=9)
TELLINGS = KINDS.flatmap(
    lambda kinds: st.builds(
        Telling,
        kinds=st.just(tuple(kinds)),
        parts=st.lists(
            st.tuples(st.integers(0, len(kinds)), st.integers(0, len(kinds))), max_size=6
        ).map(tuple),
        ends=st.booleans(),
    )
)


def heard_to(telling: Telling) -> int:
    """How far a stream is known, when parts that leave a gap are not heard."""
    place = 0
    for start, stop in telling.parts:
        if start <= place:
            place = max(place, stop)
    return len(telling.kinds) if telling.ends else place


def tell(world: World, telling: Telling) -> None:
    """Tell a stream in its parts; some overlap, some repeat, some leave a gap."""
    whole = said(telling.kinds)
    for start, stop in telling.parts:
        world.do(Hear(job=JOB, after=start, said=whole[start:stop]))
    if telling.ends:
        world.do(end(JOB, whole))


class TestOnce:
    """Whoever tells what of a stream, the log holds it once."""

    @pytest.mark.rule("B26.2")
    def test_a_reading_is_not_recorded_again(self) -> None:
        """The same words again say nothing new, neither alone nor among others."""
        world = forked()
        one = Hear(job=JOB, after=0, said=(read(1),))
        assert [type(event) for event in world.do(one)] == [QuotaRead]
        assert world.do(one) == ()
        mixed = (read(1), turned(JOB, read=2), read(3))
        assert [type(event) for event in world.do(Hear(job=JOB, after=0, said=mixed))] == [
            StreamTurned,
            QuotaRead,
        ]
        assert world.do(Hear(job=JOB, after=2, said=(read(3),))) == ()

    def test_readings_count_as_places(self) -> None:
        """What follows a reading that the log does not hold yet leaves a gap."""
        world = forked()
        assert world.do(Hear(job=JOB, after=1, said=(turned(JOB),))) == ()
        world.do(Hear(job=JOB, after=0, said=(read(1),)))
        assert len(world.do(Hear(job=JOB, after=1, said=(turned(JOB),)))) == 1

    def test_each_job_by_itself(self) -> None:
        """Readings of another job are no places in this one's stream."""
        world = forked()
        world.do(fork_command(session="s-3", block="more"))
        other = evolve(read(1), job="j0003")
        world.do(Hear(job="j0003", after=0, said=(other, other)))
        assert len(world.do(Hear(job=JOB, after=0, said=(turned(JOB), read(2))))) == 2
        assert dict(world.registry.readings.counted) == {"j0003": 2, JOB: 1}

    @pytest.mark.rule("D10", "B26.1")
    def test_the_end_brings_the_rest(self) -> None:
        """Whoever ends the job brings what is missing, in the same commit and before the end."""
        world = forked()
        whole = said(["opened", "read", "turned", "read", "resulted"])
        world.do(Hear(job=JOB, after=0, said=whole[:2]))
        told = world.do(end(JOB, whole))
        names = [type(event).__name__ for event in told]
        assert names == [
            "StreamTurned",
            "QuotaRead",
            "StreamResulted",
            "JobEnded",
            "SessionCounted",
        ]
        assert world.do(end(JOB, whole)) == ()
        assert world.do(Hear(job=JOB, after=5, said=(read(9),))) == ()


class TestLaws:
    """What holds however a stream is told."""

    @pytest.mark.rule("B26.2", "D10")
    @settings(deadline=None, max_examples=60)
    @given(TELLINGS)
    def test_law_each_once_in_order(self, telling: Telling) -> None:
        """The log holds a beginning of the stream, each event once, and after the end all of it."""
        world = forked()
        tell(world, telling)
        assert recorded(world) == said(telling.kinds)[: heard_to(telling)]
        counted = world.registry.readings.counted.get(JOB, 0)
        assert counted == sum(isinstance(event, QuotaRead) for event in recorded(world))

    @pytest.mark.rule("B26.2")
    @settings(deadline=None, max_examples=40)
    @given(TELLINGS)
    def test_law_told_again(self, telling: Telling) -> None:
        """The whole story told again says nothing new."""
        world = forked()
        tell(world, telling)
        before = world.registry
        tell(world, evolve(telling, ends=False))
        whole = said(telling.kinds)[: heard_to(telling)]
        assert world.do(Hear(job=JOB, after=0, said=whole)) == ()
        if heard_to(telling) == heard_to(evolve(telling, parts=telling.parts * 2)):
            assert world.registry == before

    @pytest.mark.rule("B26.1", "B26.2")
    @settings(deadline=None, max_examples=40)
    @given(TELLINGS, st.lists(st.sampled_from(["exit", "kill", "lost"]), min_size=1, max_size=4))
    def test_law_one_end(self, telling: Telling, enders: list[str]) -> None:
        """Whoever ends it, and however often, there is one end, and each event before it once."""
        world = forked()
        tell(world, evolve(telling, ends=False))
        whole = said(telling.kinds)
        imposed = {
            "exit": None,
            "kill": Imposed(status=Status.KILLED, reason=Reason.KILL),
            "lost": Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD),
        }
        for ender in enders:
            world.later(300)
            world.do(
                RequestKill(job=JOB, reason=Reason.KILL), end(JOB, whole, imposed=imposed[ender])
            )
        ends = [event for event in world.events if isinstance(event, JobEnded) and event.job == JOB]
        assert len(ends) == 1
        assert recorded(world) == whole

    def test_reachability(self) -> None:
        """Gaps, overlaps and readings on both sides of a cut are among the drawn tellings."""
        assert reached(
            TELLINGS,
            lambda told: (
                any(start > 0 for start, _ in told.parts) and heard_to(told) == 0 and not told.ends
            ),
        )
        assert reached(
            TELLINGS,
            lambda told: (
                len(told.parts) > 2
                and heard_to(evolve(told, ends=False)) == len(told.kinds) > 3
                and told.kinds.count("read") > 1
                and any(start < stop for start, stop in told.parts[1:])
            ),
        )
