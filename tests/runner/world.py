"""A world that a study is run in, made up: clients whose fates are known, and a runner that breaks.

Jobs go on while nobody runs the study; the log, the clock and the account survive everything else.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from attrs import Factory, define, field, frozen

from forks_core.decider import Command
from forks_core.decider.ending import End
from forks_core.decider.jobs import Hear, LaunchJob, StartClient
from forks_core.decider.runner import RequestStop
from forks_core.projections.trials import concluded
from forks_core.reducer.stream import summed
from forks_core.registry import Launched
from forks_core.rules.outcome import Imposed
from forks_core.rules.study_file import SMOKE
from forks_core.transact import Live, transact
from forks_events import Said
from forks_events.envelope import Author
from forks_events.jobs import Text
from tests.decider.world import START, process
from tests.fakes import FakeClock
from tests.fates import LOST, Told, fate, heard
from tests.runner.logs import EventLog
from tests.studies import PRICES

TOKENS_USD = 0.01
"""What a response costs, of which no result tells: 10 tokens."""
RESTS = "rests"


class Crash(Exception):
    """The runner's process is gone."""


@frozen(kw_only=True)
class Blow:
    """Something happens to the runner.

    Args:
        after: Behind how many more of its acts.
        what: crash; stop or stop twice, by signals; ask, by another process; or set: the wall
            clock is set.
        seconds: How long nobody runs the study then; of a clock, how far it is set.
    """

    after: int
    what: str
    seconds: float = 0.0


@define
class Going:
    """A job that somebody began: its supervisor, its client, and how far they are."""

    job: str
    told: Told
    began_s: float
    due_s: float
    stage: int = 0
    alive: bool = True
    said: list[Said] = field(factory=list)


@define
class World:
    """The world.

    Args:
        fates: Trial to the fates of its attempts, one after the other; then all is well.
        blows: What happens to the runner.
        free_gb: Free disk.
        check_s: How long a check takes.
        broken: Trials whose working copy cannot be made.
        unjudged: Trials whose work cannot be judged.
        kept: How long the log was, each time that the house was kept.
        struck: What has happened to it, and in ``hits`` what it was about then.
        trace: What the runner did so far.
        since: How much of that since the last blow.
    """

    fates: Mapping[str, Sequence[str]] = field(factory=dict)
    blows: list[Blow] = field(factory=list)
    free_gb: float = 100.0
    check_s: int = 3
    clock: FakeClock = field(factory=lambda: FakeClock(START))
    log: EventLog = Factory(lambda self: EventLog(self.clock), takes_self=True)
    going: dict[str, Going] = field(factory=dict)
    account: dict[str, float] = field(factory=dict)
    struck: list[Blow] = field(factory=list)
    hits: list[str] = field(factory=list)
    signals: int = 0
    broken: set[str] = field(factory=set)
    unjudged: set[str] = field(factory=set)
    kept: list[int] = field(factory=list)
    calls: int = 0
    rests: int = 0
    since: int = 0
    trace: list[str] = field(factory=list)
    others: Live = Factory(lambda self: self.live("supervise"), takes_self=True)

    def live(self, verb: str) -> Live:
        """The log for a process that comes fresh."""
        return Live(log=self.log, clock=self.clock, author=Author(verb=verb, host="h", pid=1))

    # Blows

    def act(self, what: str) -> None:
        """The runner is about to do something, or has done it; to rest again is no act."""
        if what == RESTS and self.trace and self.trace[-1] == RESTS:
            return
        self.trace.append(what)
        self.since += 1
        if self.blows and self.since > self.blows[0].after:
            if self.blows[0].what == "ask" and self.log.locked:
                return
            self.since = 0
            self.hits.append(what)
            self._strike(self.blows.pop(0))

    def _strike(self, blow: Blow) -> None:
        self.struck.append(blow)
        match blow.what:
            case "crash":
                raise Crash
            case "stop" | "stop twice":
                self.signals += 1 + (blow.what == "stop twice")
            case "ask":
                nth = self.others.refresh().runner.stops + 1
                transact(self.others, RequestStop(nth=nth))
            case "set":
                self.clock.at += timedelta(seconds=blow.seconds)
            case _:
                raise AssertionError(blow.what)

    # Jobs

    def pass_(self, seconds: float, *, until_news: bool = False) -> None:
        """Let time pass, for all that goes on; or only until the log grows."""
        end_s, length = self.clock.seconds + seconds, len(self.log.envelopes)
        while True:
            due = min(
                (one for one in self.going.values() if one.alive and one.due_s <= end_s),
                key=lambda one: (one.due_s, one.job),
                default=None,
            )
            if due is None:
                break
            self._tick_to(due.due_s)
            self._go_on(due)
            if until_news and len(self.log.envelopes) > length:
                return
        self._tick_to(end_s)

    def _tick_to(self, at_s: float) -> None:
        self.clock.tick(max(0.0, at_s - self.clock.seconds))

    def _go_on(self, one: Going) -> None:
        one.stage += 1
        match one.stage:
            case 1:
                self._launch(one)
            case 2:
                # Whatever comes last tells of the end.
                self._hear(one, one.told.lines[:2])
                one.due_s = max(one.due_s, one.began_s + one.told.seconds)
            case _:
                self._hear(one, one.told.lines[2:])
                one.alive = False
                if one.told.imposed is not LOST:
                    self.say(self.end(one, one.told.exit_code, one.told.imposed))

    def _launch(self, one: Going) -> None:
        number = int(one.job[1:])
        self.say(LaunchJob(job=one.job, supervisor=process(10 * number)))
        if not isinstance(self.others.registry.jobs[one.job].state, Launched):
            one.alive = False
            return
        self.say(StartClient(job=one.job, client=process(10 * number + 1)))
        one.due_s += 0.5

    def _hear(self, one: Going, lines: Sequence[Mapping[str, object]]) -> None:
        # A supervisor keeps one parser; these lines never need one another.
        said = heard(one.job, [dict(line) for line in lines], self.clock.now())
        for line in lines:
            if line["type"] == "assistant":
                self.account[one.job] = TOKENS_USD
            if isinstance(cost := line.get("total_cost_usd"), float):
                self.account[one.job] = cost
        after = len(one.said)
        one.said += said
        self.say(Hear(job=one.job, after=after, said=said))

    def end(self, one: Going, exit_code: int | None, imposed: Imposed | None) -> End:
        """The end of a job, by all that its client printed."""
        said = tuple(one.said)
        return End(
            prices=PRICES,
            job=one.job,
            said=said,
            stream=summed(said),
            raw=Text(sha256="a" * 64, bytes=len(said)) if said else None,
            exit_code=exit_code,
            imposed=imposed,
        )

    def say(self, command: Command) -> None:
        """Record what another process says."""
        transact(self.others, command)

    def told(self, job: str) -> Told:
        """The fate of an attempt: by the number of those before it that were judged."""
        registry = self.others.refresh()
        name, trial = next(
            (name, trial) for name, trial in registry.trials.items() if trial.last.begun.job == job
        )
        assert registry.study
        entry = next(
            entry for entry in registry.study.entries if entry.trial_id == name.removeprefix(SMOKE)
        )
        fates, before = self.fates.get(name, ()), len(list(concluded(trial)))
        cost = round(0.1 + 0.01 * entry.order_index + 0.001 * before, 3)
        return fate(
            fates[before] if before < len(fates) else "ok",
            self.clock.now(),
            cost,
            0.5 + 0.01 * entry.order_index,
        )
