"""What is said of a job while it lives, and never after its end."""

from datetime import timedelta

import pytest
from attrs import evolve as change

from forks_core.decider import Command, decide
from forks_core.decider.jobs import Beat, Hear, HoldJob, LaunchJob, RequestKill, StartClient
from forks_core.errors import Refused
from forks_core.registry import Running
from forks_core.rules.outcome import Imposed
from forks_events.jobs import ClientStarted, JobBeat, JobEnded, JobHeld, JobLaunched, KillRequested
from forks_events.stream import StreamTurned
from forks_events.words import Flag, Reason, Status
from tests.decider.world import World, end, fork_command, opened, process, resulted, trained, turned

LOST = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)
KILLED = Imposed(status=Status.KILLED, reason=Reason.KILL)


def forked() -> World:
    """A trained world with one fork, j0002, that nobody has launched yet."""
    world = trained()
    world.do(fork_command())
    return world


class TestLaunch:
    """One supervisor takes a job on, and none when it shall not run."""

    def test_the_supervisor_stands(self) -> None:
        """It says who it is."""
        world = forked()
        said = world.do(LaunchJob(job="j0002", supervisor=process(7)))
        assert said == (JobLaunched(at=world.now, job="j0002", supervisor=process(7)),)

    @pytest.mark.rule("B21.12")
    def test_a_second_supervisor_is_refused(self) -> None:
        """Whoever is first has the job; the other one hears nothing, and sees who has it."""
        world = forked()
        world.do(LaunchJob(job="j0002", supervisor=process(7)))
        assert world.do(LaunchJob(job="j0002", supervisor=process(8))) == ()

    @pytest.mark.rule("B21.2", "B29.3")
    def test_a_job_that_shall_be_killed_is_not_launched(self) -> None:
        """A kill that was asked for before the supervisor started means that no client starts."""
        world = forked()
        world.do(RequestKill(job="j0002", reason=Reason.KILL))
        assert world.do(LaunchJob(job="j0002", supervisor=process(7))) == ()
        assert world.do(StartClient(job="j0002", client=process(8))) == ()

    def test_it_is_held_once_behind_each_sibling(self) -> None:
        """The same wait is not said twice, and the flag stays when the client has started."""
        world = forked()
        world.do(LaunchJob(job="j0002", supervisor=process(7)))
        held = HoldJob(job="j0002", behind="j0001")
        assert world.do(held) == (JobHeld(at=world.now, job="j0002", behind="j0001"),)
        assert world.do(held) == ()
        said = world.do(StartClient(job="j0002", client=process(8)))
        assert said == (ClientStarted(at=world.now, job="j0002", client=process(8)),)
        state = world.registry.jobs["j0002"].state
        assert isinstance(state, Running)
        assert state.flags == (Flag.HELD,)


class TestHearing:
    """What the client said is said once, in its order."""

    def test_only_what_is_new_is_said(self) -> None:
        """Events that the log holds already are not said again, whoever brings them."""
        world = forked()
        world.run("j0002")
        first, second = opened("j0002", "s-2"), turned("j0002")
        assert len(world.do(Hear(job="j0002", after=0, said=(first,)))) == 1
        said = world.do(Hear(job="j0002", after=0, said=(first, second)))
        assert [type(event).__name__ for event in said] == ["StreamTurned"]
        assert world.do(Hear(job="j0002", after=1, said=(second,))) == ()
        third, fourth = turned("j0002", read=3), turned("j0002", read=4)
        said = world.do(Hear(job="j0002", after=1, said=(second, third)))
        assert [event.usage.cache_read for event in said if isinstance(event, StreamTurned)] == [3]
        said = world.do(Hear(job="j0002", after=2, said=(third, fourth)))
        assert [event.usage.cache_read for event in said if isinstance(event, StreamTurned)] == [4]

    def test_a_gap_is_not_heard(self) -> None:
        """What comes after something that the log does not hold waits for who brings all of it."""
        world = forked()
        world.run("j0002")
        world.do(Hear(job="j0002", after=0, said=(opened("j0002", "s-2"),)))
        assert world.do(Hear(job="j0002", after=2, said=(turned("j0002"),))) == ()

    @pytest.mark.rule("B21.7", "B24.6", "B25.11")
    def test_only_a_later_response_of_its_own_hits_the_base(self) -> None:
        """A subagent's response reads another prefix, and an older one tells nothing new."""
        world = forked()
        world.run("j0002")
        last_hit = world.registry.bases["main"].last_hit
        assert last_hit is not None
        later = last_hit + timedelta(seconds=1)
        heard = world.do(
            Hear(job="j0002", after=0, said=(change(turned("j0002", later), main=False),))
        )
        assert [type(event) for event in heard] == [StreamTurned]
        for number, (seen_at, hits) in enumerate(
            ((last_hit - timedelta(seconds=1), 0), (last_hit, 0), (None, 0), (later, 1)), start=3
        ):
            job = f"j{number:04}"
            world.do(end(f"j{number - 1:04}", exit_code=1), fork_command(session=f"s-{number}"))
            said = (turned(job, seen_at),)
            assert len(world.do(Hear(job=job, after=0, said=said))) == 1 + hits

    def test_every_event_carries_the_time_of_its_decision(self) -> None:
        """When it was recorded is the decision's time; when it was seen is data."""
        world = forked()
        world.run("j0002")
        (event,) = world.do(Hear(job="j0002", after=0, said=(opened("j0002", "s-2"),)))
        assert event.at == world.now

    def test_a_beat_tells_output_and_flags(self) -> None:
        """A sign of life carries what else the supervisor knows."""
        world = forked()
        world.run("j0002")
        beat = Beat(job="j0002", output_at=world.now, flags=(Flag.STALLED,))
        (event,) = world.do(beat)
        assert event == JobBeat(
            at=world.now, job="j0002", output_at=beat.output_at, flags=(Flag.STALLED,)
        )
        assert decide(beat, world.registry, world.now) == (), "once for each moment"


class TestKill:
    """The wish to kill is written first, and an ok result survives it."""

    @pytest.mark.rule("B29.3")
    def test_the_intent_is_said_once(self) -> None:
        """Asking again changes nothing."""
        world = forked()
        request = RequestKill(job="j0002", reason=Reason.KILL)
        assert world.do(request) == (KillRequested(at=world.now, job="j0002", reason=Reason.KILL),)
        assert world.do(request) == ()

    @pytest.mark.rule("B29.1")
    def test_an_unknown_job_is_refused(self) -> None:
        """There is nothing to kill."""
        with pytest.raises(Refused, match="unknown job") as refused:
            forked().do(RequestKill(job="j0009", reason=Reason.KILL))
        assert refused.value.fields == {"job": "j0009"}

    @pytest.mark.rule("B29.4")
    def test_a_supervisor_that_ends_it_first_keeps_its_verdict(self) -> None:
        """A call that ended well while it was being killed is ok; the killer says nothing."""
        world = forked()
        world.run("j0002")
        world.do(RequestKill(job="j0002", reason=Reason.KILL))
        said = (opened("j0002", "s-2"), turned("j0002"), resulted("j0002"))
        (ended,) = [e for e in world.do(end("j0002", said)) if isinstance(e, JobEnded)]
        assert ended.status is Status.OK
        assert world.do(end("j0002", said, imposed=KILLED, exit_code=None)) == ()

    def test_a_call_that_did_not_end_well_was_killed(self) -> None:
        """Whatever the client made of its death, the wish explains it."""
        world = forked()
        world.run("j0002")
        world.do(RequestKill(job="j0002", reason=Reason.KILL))
        (ended,) = [e for e in world.do(end("j0002", exit_code=-9)) if isinstance(e, JobEnded)]
        assert (ended.status, ended.reason) == (Status.KILLED, Reason.KILL)


@pytest.mark.rule("B28.1")
class TestLost:
    """A job is lost only while nothing is heard of it."""

    def test_a_silent_job_is_lost(self) -> None:
        """Beyond 120 s of silence it is; at 120 s exactly it is not."""
        world = forked()
        world.run("j0002")
        world.later(119)
        assert world.do(end("j0002", imposed=LOST, exit_code=None)) == ()
        ended = world.do(end("j0002", imposed=LOST, exit_code=None))[0]
        assert isinstance(ended, JobEnded)
        assert (ended.status, ended.reason) == (Status.LOST, Reason.SUPERVISOR_DEAD)

    def test_a_job_that_spoke_meanwhile_is_not(self) -> None:
        """The reaper looked before it had the lock; what was said since counts."""
        world = forked()
        world.run("j0002")
        world.later(300)
        world.do(Beat(job="j0002", output_at=None, flags=()))
        assert world.do(end("j0002", imposed=LOST, exit_code=None)) == ()

    @pytest.mark.rule("D8")
    def test_a_lost_job_with_a_result_is_booked(self) -> None:
        """Its status stays lost, its cost is known, and a flag says why."""
        world = forked()
        world.run("j0002")
        world.later(300)
        said = (opened("j0002", "s-2"), turned("j0002"), resulted("j0002", cost_usd=0.5))
        (ended,) = [
            event
            for event in world.do(end("j0002", said, imposed=LOST, exit_code=None))
            if isinstance(event, JobEnded)
        ]
        assert (ended.status, ended.flags[0]) == (Status.LOST, Flag.RESULT_RECOVERED)
        assert ended.cost_usd is not None


AFTER_THE_END: list[Command] = [
    LaunchJob(job="j0002", supervisor=process(7)),
    HoldJob(job="j0002", behind="j0001"),
    StartClient(job="j0002", client=process(8)),
    Hear(job="j0002", after=0, said=(opened("j0002", "s-2"),)),
    Beat(job="j0002", output_at=None, flags=()),
    RequestKill(job="j0002", reason=Reason.KILL),
    end("j0002"),
    end("j0002", imposed=LOST),
    end("j0002", imposed=KILLED),
]


@pytest.mark.rule("B21.10", "B26.1", "B26.2")
@pytest.mark.parametrize("command", AFTER_THE_END, ids=lambda command: type(command).__name__)
def test_nothing_is_said_of_a_job_that_has_ended(command: Command) -> None:
    """A job ends once, and nobody has a say in it afterwards."""
    world = forked()
    world.run("j0002")
    world.do(end("j0002", exit_code=1))
    world.later(300)
    assert world.do(command) == ()
