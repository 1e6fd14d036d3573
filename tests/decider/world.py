"""A small world to decide in: one launch, a clock that is moved by hand, streams made to order."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from attrs import define, evolve, field
from immutables import Map

from forks_core.claude.environment import pinned
from forks_core.decider import Command, decide
from forks_core.decider.ending import End
from forks_core.decider.fork import Fork
from forks_core.decider.jobs import Hear, LaunchJob, StartClient
from forks_core.decider.launching import Call
from forks_core.decider.train import Train
from forks_core.reducer import fold
from forks_core.reducer.stream import summed
from forks_core.registry import INITIAL, Registry
from forks_core.rules.outcome import Imposed
from forks_events import Event, Said
from forks_events.jobs import Text
from forks_events.stream import StreamOpened, StreamResulted, StreamTurned
from forks_events.values import Counters, Process, Spent, Usage
from forks_events.words import Mode
from tests import histories

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MODEL = histories.MODEL
LAUNCH = evolve(histories.LAUNCH, env=Map(pinned(git_instructions=False)))
SETTINGS = evolve(
    histories.SETTINGS, parallel_cap=2, orphan_after=1200, stall_after_s=900, stagger_s=20
)
INIT = evolve(histories.INIT, run="run-1", launch=LAUNCH, settings=SETTINGS)


def call(session: str = "s-1", block: str | None = None) -> Call:
    """A call with nothing special about it."""
    return Call(
        request=f"request of {session}",
        session=session,
        block=block,
        phase=None,
        brief=Text(sha256="b" * 64, bytes=3),
        brief_source="/repo/brief.md",
        drift=(),
        binary_version="2.1.332",
        head="c" * 40,
    )


def fork_command(base: str = "main", session: str = "s-2", block: str = "work") -> Fork:
    """A fork with nothing special about it."""
    return Fork(
        base=base,
        call=call(session, block),
        mode=Mode.SEQUENTIAL,
        paths=None,
        max_s=None,
        max_budget_usd=None,
        stagger_s=None,
        force=False,
    )


def process(pid: int, host: str = "here") -> Process:
    """A process of this boot."""
    return Process(host=host, boot="boot", pid=pid, ticks=pid * 10)


def opened(job: str, session: str) -> StreamOpened:
    """A client's introduction."""
    return StreamOpened(
        at=START,
        job=job,
        seen_at=None,
        parser=1,
        session=session,
        model=MODEL,
        client_version="2.1.332",
        runtime=Map({"permissionMode": "dontAsk"}),
        mcp_failed=(),
    )


def turned(
    job: str, seen_at: datetime | None = None, read: int = 0, written: int = 15_000
) -> StreamTurned:
    """A main-thread response that read and wrote so many tokens of the cache."""
    usage = Usage(input=12, output=1, cache_creation=written, cache_read=read)
    return StreamTurned(at=START, job=job, seen_at=seen_at, main=True, model=MODEL, usage=usage)


def resulted(job: str, cost_usd: float = 0.1, prompt: int = 15_000) -> StreamResulted:
    """A good result whose counters are these."""
    usage = Usage(input=12, output=9, cache_creation=prompt)
    spent = Spent(cost_usd=cost_usd, models=Map({MODEL: Counters(usage=usage, cost_usd=cost_usd)}))
    return StreamResulted(
        at=START,
        job=job,
        seen_at=None,
        subtype="success",
        is_error=False,
        error_kind=None,
        api_error_status=None,
        terminal_reason="completed",
        session=None,
        num_turns=1,
        spent=spent,
        usage=usage,
        denials=(),
        text_bytes=4,
        killed_work=0,
        resets_at=None,
    )


def end(
    job: str,
    said: Sequence[Said] = (),
    *,
    imposed: Imposed | None = None,
    exit_code: int | None = 0,
) -> End:
    """The end of a job whose client said this."""
    return End(
        job=job,
        said=tuple(said),
        stream=summed(said),
        raw=Text(sha256="a" * 64, bytes=7),
        exit_code=exit_code,
        imposed=imposed,
    )


@define
class World:
    """A history that grows by decisions."""

    registry: Registry = INITIAL
    now: datetime = START
    events: list[Event] = field(factory=list)

    def do(self, *commands: Command) -> tuple[Event, ...]:
        """Decide and fold each of them, a second apart; tell what the last one led to."""
        said: tuple[Event, ...] = ()
        for command in commands:
            self.later(1)
            said = decide(command, self.registry, self.now)
            self.registry = fold(said, self.registry)
            self.events += said
        return said

    def later(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def run(self, job: str, pid: int = 100) -> None:
        """Let a job's supervisor stand and its client start."""
        self.do(
            LaunchJob(job=job, supervisor=process(pid)),
            StartClient(job=job, client=process(pid + 1)),
        )


def trained(base: str = "main") -> World:
    """A world with one active base, whose training j0001 wrote 15,012 tokens of context."""
    world = World()
    world.do(INIT, Train(base=base, call=call()))
    world.run("j0001")
    said = (opened("j0001", "s-1"), turned("j0001", world.now), resulted("j0001"))
    world.do(Hear(job="j0001", after=0, said=said), end("j0001", said))
    return world
