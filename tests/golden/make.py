"""Makes the golden log: a whole life, driven through ``decide`` and ``link`` with fixed everything.

``python -m tests.golden.make`` prints it. It is for the next version's log; a log that a released
version has written is never made again.
"""

import sys
from datetime import UTC, datetime, timedelta

from attrs import define, evolve
from immutables import Map

from forks_core.decider import Command, decide
from forks_core.decider.ending import End
from forks_core.decider.expire import Expire
from forks_core.decider.fork import Fork
from forks_core.decider.jobs import Beat, Hear, HoldJob, LaunchJob, RequestKill, StartClient
from forks_core.decider.launching import Call
from forks_core.decider.runner import BeginPause, EndPause, RequestStop, StartRunner, StopStudy
from forks_core.decider.train import Train
from forks_core.decider.trials import AbortAttempt, BeginTrial, ConcludeAttempt
from forks_core.decider.wait import Deliver
from forks_core.reducer import fold
from forks_core.reducer.stream import summed
from forks_core.registry import INITIAL, Registry
from forks_events import Said
from forks_events.chain import link
from forks_events.envelope import EMPTY, Author, Head
from forks_events.jobs import Text
from forks_events.quota import QuotaRead
from forks_events.run import TailDropped
from forks_events.stream import (
    StreamOpened,
    StreamRefused,
    StreamReset,
    StreamResulted,
    StreamRetried,
    StreamTurned,
)
from forks_events.trials import Check, StopReason, Wait
from forks_events.values import Counters, Process, Spent, Usage
from forks_events.words import ErrorKind, Flag, Mode, Reason
from tests.histories import ENTRY, INIT, MODEL, READING, SCHEDULE, forward

SESSIONS = tuple(f"{n}0000000-0000-4000-8000-00000000000{n}" for n in range(1, 7))
HEAD = "3f786850e387550fdab836ed7e6dc881de23001b"


@define
class Scribe:
    """Writes a log: each command at its time, by its author."""

    now: datetime = datetime(2026, 11, 30, 9, 0, 0, 250_000, tzinfo=UTC)
    registry: Registry = INITIAL
    head: Head = EMPTY
    lines: bytes = b""

    def says(
        self, verb: str, pid: int, command: Command, *, after_s: float = 2, torn: int = 0
    ) -> None:
        """Decide a command, and write what was decided as one commit.

        Args:
            verb: Who asks.
            pid: As which process.
            command: What.
            after_s: Seconds after the last one.
            torn: Bytes of a torn tail that the writer found, or 0.
        """
        self.now += timedelta(seconds=after_s)
        dropped = TailDropped(at=self.now, bytes=torn, sha256="c4" * 32)
        events = (*decide(command, self.registry, self.now), *((dropped,) if torn else ()))
        self.registry = fold(events, self.registry)
        author = Author(verb=verb, host="workshop", pid=pid)
        _, data, self.head = link(self.head, author, events)
        self.lines += data


def call(number: int, block: str | None, source: str) -> Call:
    """A call."""
    return Call(
        request=f"5e9b7a10-0d5b-4a55-9a53-5c0a4b7f1{number:03}",
        session=SESSIONS[number - 1],
        block=block,
        phase=1,
        brief=Text(sha256=f"{number}b" * 32, bytes=1200 + number),
        brief_source=source,
        drift=(),
        binary_version="2.1.332",
        head=HEAD,
    )


def process(pid: int) -> Process:
    """A process of the machine."""
    return Process(host="workshop", boot="b5f7", pid=pid, ticks=90_000 + pid)


def opened(scribe: Scribe, job: str, session: str, model: str = MODEL) -> StreamOpened:
    """The client introduces itself."""
    return StreamOpened(
        at=scribe.now,
        job=job,
        seen_at=scribe.now,
        parser=1,
        session=session,
        model=model,
        client_version="2.1.332",
        runtime=Map({"permissionMode": "dontAsk", "tools": "7c" * 32}),
        mcp_failed=(),
    )


def turned(scribe: Scribe, job: str, usage: Usage) -> StreamTurned:
    """The client's model answers."""
    return StreamTurned(
        at=scribe.now, job=job, seen_at=scribe.now, main=True, model=MODEL, usage=usage
    )


def resulted(scribe: Scribe, job: str, session: str, cost: float, usage: Usage) -> StreamResulted:
    """The client is done."""
    counters = Counters(usage=usage, cost_usd=cost)
    return StreamResulted(
        at=scribe.now,
        job=job,
        seen_at=scribe.now,
        subtype="success",
        is_error=False,
        error_kind=None,
        api_error_status=None,
        terminal_reason="completed",
        session=session,
        num_turns=3,
        spent=Spent(cost_usd=cost, models=Map({MODEL: counters})),
        usage=usage,
        denials=(),
        text_bytes=420,
        killed_work=0,
        resets_at=None,
    )


def fork(block: str, number: int) -> Fork:
    """Fork the base for a block of work."""
    return Fork(
        base="stem",
        call=call(number, block, f"briefs/{block}.md"),
        mode=Mode.PARALLEL,
        paths=(f"src/{block}",),
        max_s=1800.0,
        max_budget_usd=2.5,
        stagger_s=None,
        force=False,
    )


def end(job: str, *said: Said, exit_code: int) -> End:
    """The job is over."""
    raw = Text(sha256="ad" * 32, bytes=51_200) if said else None
    return End(
        job=job, said=said, stream=summed(said), raw=raw, exit_code=exit_code, note=exit_code == 0
    )


def train(scribe: Scribe) -> None:
    """A base cannot be trained, for its client does not start; the second time it can."""
    usage = Usage(input=12, output=900, cache_creation=48_000, cache_creation_1h=48_000)
    scribe.says("train", 4100, Train(base="stem", call=call(1, None, "briefs/stem.md")))
    scribe.says("train", 4100, evolve(end("j0001", exit_code=127), stderr_kind=ErrorKind.STARTUP))
    scribe.says("train", 4110, Train(base="stem", call=call(2, None, "briefs/stem.md")))
    scribe.says("supervise", 4111, LaunchJob(job="j0002", supervisor=process(4111)))
    scribe.says("supervise", 4111, StartClient(job="j0002", client=process(4112)))
    ended = end(
        "j0002",
        opened(scribe, "j0002", SESSIONS[1]),
        turned(scribe, "j0002", usage),
        resulted(scribe, "j0002", SESSIONS[1], 0.48, usage),
        exit_code=0,
    )
    scribe.says("supervise", 4111, evolve(ended, head=HEAD), after_s=41)


def work(scribe: Scribe) -> None:
    """Two forks: the first runs another model and is killed; the second waited for it."""
    scribe.says("fork", 4200, fork("parser", 3))
    scribe.says("supervise", 4201, LaunchJob(job="j0003", supervisor=process(4201)))
    scribe.says("fork", 4210, fork("writer", 4))
    scribe.says("supervise", 4211, LaunchJob(job="j0004", supervisor=process(4211)))
    scribe.says("supervise", 4211, HoldJob(job="j0004", behind="j0003"))
    scribe.says("supervise", 4201, StartClient(job="j0003", client=process(4202)))
    refused = StreamRefused(
        at=scribe.now, job="j0003", seen_at=scribe.now, requested=MODEL, effective="claude-haiku-4"
    )
    scribe.says("supervise", 4201, Hear(job="j0003", after=0, said=(refused,)))
    scribe.says("kill", 4220, RequestKill(job="j0003", reason=Reason.KILL), torn=317)
    scribe.says("kill", 4220, end("j0003", refused, exit_code=-15))


def finish(scribe: Scribe) -> None:
    """The second fork starts, tries again, is silent for a while, and is done and shown."""
    usage = Usage(input=40, output=2_100, cache_creation=3_000, cache_read=47_500)
    scribe.says("supervise", 4211, StartClient(job="j0004", client=process(4212)))
    retried = StreamRetried(
        at=scribe.now, job="j0004", seen_at=scribe.now, attempt=1, delay_ms=1_500, error_status=529
    )
    said = (
        opened(scribe, "j0004", SESSIONS[3]),
        retried,
        turned(scribe, "j0004", usage),
    )
    scribe.says("supervise", 4211, Hear(job="j0004", after=0, said=said), after_s=4)
    beat = Beat(job="j0004", output_at=scribe.now, flags=(Flag.HELD, Flag.STALLED))
    scribe.says("supervise", 4211, beat, after_s=700)
    read = QuotaRead(at=scribe.now, job="j0004", seen_at=scribe.now, reading=READING)
    begun_anew = StreamReset(at=scribe.now, job="j0004", seen_at=scribe.now, session=SESSIONS[4])
    result = resulted(scribe, "j0004", SESSIONS[4], 0.61, usage)
    ended = end("j0004", *said, read, begun_anew, result, exit_code=0)
    scribe.says("supervise", 4211, ended)
    scribe.says("wait", 4230, Deliver(names=("j0003", "j0004"), first=False))
    scribe.says("expire", 4240, Expire(base="stem"))


def study(scribe: Scribe) -> None:
    """A trial is broken off, waits, and passes; the run is then asked to stop, and does."""
    runner = process(4301)
    preflight = Map({"client": "pass"})
    scribe.says(
        "study run",
        4301,
        StartRunner(runner=runner, smoke=False, preflight=preflight, accepted=()),
    )
    usage = Usage(input=9, output=310, cache_creation=21_000, cache_creation_1h=21_000)
    for attempt, code in ((1, -9), (2, 0)):
        job, number = f"j000{4 + attempt}", 4310 + 10 * attempt
        begin = BeginTrial(
            trial_id=ENTRY.trial_id,
            attempt=attempt,
            call=evolve(call(4 + attempt, ENTRY.block, "tasks/mb01.md"), head=None),
            cwd=f"/study-forks/copies/{ENTRY.trial_id}/a{attempt}",
        )
        scribe.says("study run", 4301, begin)
        scribe.says("supervise", number, LaunchJob(job=job, supervisor=process(number)))
        scribe.says("supervise", number, StartClient(job=job, client=process(number + 1)))
        said = (opened(scribe, job, SESSIONS[3 + attempt]), turned(scribe, job, usage))
        if code:
            scribe.says("study run", 4301, RequestKill(job=job, reason=Reason.KILL))
            scribe.says("study run", 4301, end(job, *said, exit_code=code))
            scribe.says("study run", 4301, AbortAttempt(trial_id=ENTRY.trial_id, attempt=attempt))
            until = scribe.now + timedelta(seconds=90)
            scribe.says("study run", 4301, BeginPause(wait=Wait.QUOTA, until=until))
            scribe.says("study run", 4301, EndPause(), after_s=90)
        else:
            result = resulted(scribe, job, SESSIONS[3 + attempt], 0.22, usage)
            scribe.says("supervise", number, end(job, *said, result, exit_code=code))
    check = Check(
        exit_code=0,
        timed_out=False,
        score=0.75,
        checks=Map({"builds": True, "tests": True}),
        output=Text(sha256="d0" * 32, bytes=48),
        wall_s=1.25,
    )
    diff = Text(sha256="d1" * 32, bytes=2_048)
    judged = ConcludeAttempt(trial_id=ENTRY.trial_id, attempt=2, check=check, diff=diff)
    scribe.says("study run", 4301, judged)
    scribe.says("study stop", 4390, RequestStop(nth=1))
    scribe.says("study run", 4301, StopStudy(reason=StopReason.DONE))


def make() -> bytes:
    """Make the log's bytes."""
    scribe = Scribe()
    scribe.says("init", 4000, evolve(INIT, run="6f1f0c2e-0d5b-4a55-9a53-5c0a4b7f0001"), after_s=0)
    train(scribe)
    work(scribe)
    finish(scribe)
    # A study's run and an account's log are of the same kind; here one log tells of all.
    scribe.says("study schedule", 4300, SCHEDULE)
    study(scribe)
    scribe.says("supervise", 4211, forward("6f1f0c2e-0d5b-4a55-9a53-5c0a4b7f0001", 47, scribe.now))
    return scribe.lines


if __name__ == "__main__":
    sys.stdout.buffer.write(make())
