"""What a run's log says to its account: each reading, and the money of each call that ended."""

from collections.abc import Iterable

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.decider import decide
from forks_core.projections.outbox import outbox
from forks_core.reducer import fold
from forks_core.registry import INITIAL
from forks_events import Event
from forks_events.account import QuotaForwarded, SpendBooked
from forks_events.envelope import Author, Envelope, Unknown
from forks_events.jobs import JobEnded
from forks_events.quota import QuotaRead
from forks_events.run import LaunchFixed, RunConfigured
from forks_events.study import StudyScheduled
from forks_events.words import Kind
from tests.histories import LAUNCH, NOON, READING, SCHEDULE, SETTINGS
from tests.projections.builders import OPENING, at, ended, fork, launched, train, turned
from tests.strategies import drawn, histories

BY = Author(verb="x", host="h", pid=1)
READ = QuotaRead(at=at(5), job="j0001", seen_at=at(4), reading=READING)


def enveloped(events: Iterable[Event | Unknown]) -> list[Envelope]:
    """The events as they stand in a log."""
    return [
        Envelope(seq=seq, commit=seq, by=BY, prev="0" * 64, event=event)
        for seq, event in enumerate(events, start=1)
    ]


def told(*events: Event) -> tuple[SpendBooked | QuotaForwarded, ...]:
    """What a whole log of these events has to pass on."""
    return outbox(enveloped(events), fold(events), "/run-forks")


@pytest.mark.rule("A10.2")
class TestSpends:
    """Each call that ended is a spend: who, what for, of which model, and how much."""

    def test_a_fork(self) -> None:
        """All of it is the job's, but for when it is booked."""
        events = (*OPENING, fork(block="parser"), launched(), ended(seconds=9, cost_usd=0.25))
        assert told(*events) == (
            SpendBooked(
                at=at(9),
                account="default",
                run="r",
                source="/run-forks",
                seq=6,
                job="j0001",
                ended_at=at(9),
                who="forks",
                purpose=Kind.FORK,
                block="parser",
                model="claude-opus-4-5",
                cost_usd=0.25,
                estimate_usd=None,
            ),
        )

    @pytest.mark.parametrize("kind", [Kind.TRAIN, Kind.FORK, Kind.CONTINUE])
    def test_purpose(self, kind: Kind) -> None:
        """What for is the kind of the call."""
        (spend,) = told(*OPENING, fork(kind=kind), ended())
        assert isinstance(spend, SpendBooked)
        assert spend.purpose is kind

    def test_unknown(self) -> None:
        """A cost that nobody knows is passed on as that, and a block that there is none."""
        (spend,) = told(*OPENING, train(), ended(cost_usd=None))
        assert isinstance(spend, SpendBooked)
        assert (spend.cost_usd, spend.block) == (None, None)

    def test_a_study(self) -> None:
        """What a study spends is the study's, by its id."""
        events = decide(SCHEDULE, INITIAL, NOON)
        job = fork(fingerprint=SCHEDULE.plan.arms[0].fingerprint)
        (spend,) = told(*events, job, ended())
        assert isinstance(spend, SpendBooked)
        assert (spend.who, spend.run) == ("study:skill-or-not", SCHEDULE.run)

    def test_its_own_launch(self) -> None:
        """The model is the one that this call was launched with."""
        other = evolve(LAUNCH, model="claude-haiku-4-5")
        fixed = LaunchFixed(at=NOON, fingerprint="0" * 64, launch=other)
        (spend,) = told(*OPENING, fixed, fork(fingerprint="0" * 64), ended())
        assert isinstance(spend, SpendBooked)
        assert spend.model == "claude-haiku-4-5"

    def test_the_account(self) -> None:
        """The label is the run's."""
        configured = OPENING[-1]
        assert isinstance(configured, RunConfigured)
        labelled = evolve(configured, settings=evolve(SETTINGS, account="team"))
        entries = told(*OPENING[:-1], labelled, fork(), READ, ended())
        assert [entry.account for entry in entries] == ["team", "team"]


@pytest.mark.rule("A12.1")
class TestReadings:
    """Each reading is passed on whole, with when it was seen and when it was recorded."""

    def test_a_reading(self) -> None:
        """As it stands in the run's log, by its number there."""
        events = (*OPENING, fork(), READ)
        assert told(*events) == (
            QuotaForwarded(
                at=at(5),
                account="default",
                run="r",
                seq=5,
                job="j0001",
                recorded_at=at(5),
                seen_at=at(4),
                reading=READING,
            ),
        )


class TestPieces:
    """Any piece of the log is told by itself, with the state of that time or of a later one."""

    def test_nothing_else(self) -> None:
        """Other events, and those that nobody knows, have nothing to say."""
        events = (*OPENING, fork(), launched(), turned("j0001", 3))
        assert told(*events) == ()
        unknown = Unknown(type="TrialDreamt", v=1, at=NOON, data={})
        assert outbox(enveloped([unknown]), fold(OPENING), "/run-forks") == ()

    def test_not_configured(self) -> None:
        """Before its init a run has no account."""
        assert outbox(enveloped([READ]), INITIAL, "/x") == ()
        assert outbox(enveloped([READ]), fold(OPENING[:1]), "/x") == ()

    @settings(deadline=None, max_examples=40)
    @given(histories(), st.floats(0, 1))
    def test_law_pieces(self, events: tuple[Event, ...], where: float) -> None:
        """Cut anywhere, a log says what it says as a whole: each reading and end, in order."""
        # A study is scheduled before anything else, so that who spends is known from the start.
        events = tuple(event for event in events if not isinstance(event, StudyScheduled))
        cut = round(where * len(events))
        whole, state = enveloped(events), fold(events)
        entries = outbox(whole, state, "/r")
        early = outbox(whole[:cut], fold(events[:cut]), "/r")
        assert early + outbox(whole[cut:], state, "/r") == entries
        kinds = (QuotaRead, JobEnded)
        assert [entry.seq for entry in entries] == [
            envelope.seq for envelope in whole if isinstance(envelope.event, kinds)
        ]

    def test_reachability(self) -> None:
        """Histories hold readings and ends, several of them."""
        found = [[type(entry) for entry in told(*events)] for events in drawn(histories(), 40)]
        assert any({SpendBooked, QuotaForwarded} <= set(types) for types in found)
        assert any(types.count(SpendBooked) > 1 for types in found)
