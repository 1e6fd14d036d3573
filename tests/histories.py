"""Legal histories: random moves, driven through ``decide`` and folded, as a run would do it."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from attrs import Factory, define, evolve, frozen
from hypothesis import strategies as st
from immutables import Map

from forks_core.decider import Command, decide
from forks_core.decider.account import Forward
from forks_core.decider.continue_ import Continue
from forks_core.decider.ending import End
from forks_core.decider.expire import Expire
from forks_core.decider.fork import Fork
from forks_core.decider.jobs import (
    Beat,
    Hear,
    HoldJob,
    LaunchJob,
    RequestKill,
    StartClient,
)
from forks_core.decider.launching import Call
from forks_core.decider.run import Init, SeeOrchestrator
from forks_core.decider.runner import BeginPause, EndPause, RequestStop, StartRunner, StopStudy
from forks_core.decider.study import Schedule
from forks_core.decider.train import Train
from forks_core.decider.trials import AbortAttempt, BeginTrial, ConcludeAttempt
from forks_core.decider.wait import Deliver
from forks_core.errors import Refused
from forks_core.reducer import fold
from forks_core.reducer.stream import summed
from forks_core.registry import INITIAL, Registry
from forks_core.rules.fingerprint import fingerprint
from forks_core.rules.naming import in_order
from forks_core.rules.outcome import Imposed
from forks_events import Event, Said
from forks_events.account import QuotaForwarded, SpendBooked
from forks_events.jobs import Text
from forks_events.quota import QuotaRead, Reading, Window
from forks_events.run import TailDropped
from forks_events.stream import (
    StreamOpened,
    StreamRefused,
    StreamReset,
    StreamResulted,
    StreamRetried,
    StreamTurned,
)
from forks_events.study import Arm, Attempts, Entry, Overage, Plan, Task
from forks_events.trials import Check, StopReason, Wait
from forks_events.values import (
    Binary,
    Counters,
    FileDigest,
    Launch,
    Mcp,
    Process,
    Settings,
    Spent,
    Thresholds,
    Usage,
)
from forks_events.words import ErrorKind, Flag, Kind, Mode, Reason, Status

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
BASES = ("a", "b", "c.3")
MOST_JOBS = 5
MODEL = "claude-opus-4-5"
LAUNCH = Launch(
    model=MODEL,
    effort="high",
    permission_mode="dontAsk",
    tools=("Read", "Edit"),
    allowed_tools=("Read", "Bash(git *)"),
    disallowed_tools=(),
    mcp=Mcp(strict=True, config="/run-forks/mcp-empty.json"),
    append_system_prompt=FileDigest(path="/run-forks/preamble.md", sha256="e" * 64),
    agent=None,
    settings=None,
    max_turns=None,
    cwd="/repo",
    binary=Binary(path="/usr/bin/claude", version="2.1.332", size=4096),
    env=Map({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1", "DISABLE_AUTOUPDATER": "1"}),
    keep_env=(),
)
SETTINGS = Settings(
    parallel_cap=4,
    orphan_after=900,
    pings=False,
    ttl_s=3600,
    max_minutes=90.0,
    stall_after_s=600,
    no_output_s=120,
    stagger_s=60,
    thresholds=Thresholds(
        rebase_commits=20,
        rebase_lines=2000,
        rebase_delta_tokens=40_000,
        max_base_tokens=150_000,
        max_rebases=3,
    ),
    account="default",
)
INIT = Init(
    run="00000000-0000-4000-8000-000000000000",
    forks_version="0.1.0",
    lab=True,
    launch=LAUNCH,
    settings=SETTINGS,
    binary_resolved_by="PATH",
    model_admission="no list",
)


@frozen(kw_only=True)
class Move:
    """One thing that somebody tries.

    Args:
        what: The name of a move.
        who: Which job or base, by number.
        how: Which of its variants, by number.
        after_s: Seconds that pass before it.
    """

    what: str
    who: int = 0
    how: int = 0
    after_s: int = 1


def process(pid: int) -> Process:
    """One of a few processes."""
    return Process(host="h", boot="b", pid=pid, ticks=pid * 10)


def call(number: int, *, block: str | None = None) -> Call:
    """A call with a session of its own."""
    return Call(
        request=f"request {number}",
        session=f"{number:08}-0000-4000-8000-000000000000",
        block=block,
        phase=number,
        brief=Text(sha256=f"{number:x}" * 64, bytes=100),
        brief_source="brief.md",
        drift=(),
        binary_version="2.1.332",
        head=None,
    )


READING = Reading(
    status="allowed",
    type="five_hour",
    resets_at=NOON + timedelta(hours=3),
    is_using_overage=False,
    windows=Map(
        {
            "five_hour": Window(utilization=0.42, resets_at=NOON + timedelta(hours=3)),
            "seven_day": Window(utilization=0.61, resets_at=NOON + timedelta(days=3)),
        }
    ),
)
PLAN = Plan(
    id="skill-or-not",
    file=FileDigest(path="study.toml", sha256="5" * 64),
    phase1_runs=1,
    phase2_runs=0,
    schedule_seed=20261005,
    seven_day_stop=0.95,
    cutoff=None,
    max_budget_usd=6.0,
    budget_cap_usd=None,
    overage=Overage.STOP,
    concurrency=1,
    max_attempts=Attempts(overloaded=4, other=2, auth=2),
    min_free_gb=2.0,
    arms=(Arm(name="plain", fingerprint=fingerprint(LAUNCH), base=None),),
    tasks=(
        Task(
            id="MB-01",
            prompt=FileDigest(path="tasks/mb01.md", sha256="6" * 64),
            workdir=None,
            check=("python3", "check.py"),
            timeout_s=1800.0,
            check_timeout_s=120.0,
        ),
    ),
    pins=Map({"client_version": "2.1.332"}),
)
ENTRY = Entry(
    trial_id="MB-01-r1-plain",
    phase=1,
    block="P1-MB-01",
    run_index=0,
    run=1,
    task="MB-01",
    arm="plain",
    task_pos=0,
    arm_slot=0,
    first_arm="plain",
    schedule_seed=20261005,
    order_index=0,
)
SCHEDULE = Schedule(
    run=INIT.run,
    forks_version="0.1.0",
    lab=True,
    launches=(LAUNCH,),
    settings=SETTINGS,
    plan=PLAN,
    entries=(ENTRY,),
)


def forward(run: str, seq: int, at: datetime) -> Forward:
    """What a run's log says of quota and money, up to an event."""
    spend = SpendBooked(
        at=at,
        account="default",
        run=run,
        source="/run-forks",
        seq=seq,
        job="j0001",
        ended_at=at,
        who="forks",
        purpose=Kind.FORK,
        block="parser",
        model=MODEL,
        cost_usd=0.25,
        estimate_usd=None,
    )
    reading = QuotaForwarded(
        at=at,
        account="default",
        run=run,
        seq=max(1, seq - 1),
        job="j0001",
        recorded_at=at,
        seen_at=at,
        reading=READING,
    )
    return Forward(log=run, forks_version="0.1.0", run=run, entries=(reading, spend), seq=seq)


def said(job: str, how: int, at: datetime) -> Said:
    """One of the things that a client says."""
    usage = Usage(input=how, cache_creation=10, cache_read=how * 100)
    spent = Spent(cost_usd=how / 10, models=Map({MODEL: Counters(usage=usage, cost_usd=how / 10)}))
    opened = StreamOpened(
        at=at,
        job=job,
        seen_at=at,
        parser=1,
        session=None if how % 2 else f"{how:08}-0000-4000-8000-000000000000",
        model=MODEL,
        client_version="2.1.332",
        runtime=Map({"permissionMode": "dontAsk"}),
        mcp_failed=(),
    )
    rest: tuple[Said, ...] = (
        opened,
        StreamTurned(at=at, job=job, seen_at=at, main=how != 1, model=MODEL, usage=usage),
        StreamTurned(at=at, job=job, seen_at=at, main=True, model=MODEL, usage=usage),
        StreamRetried(at=at, job=job, seen_at=at, attempt=1, delay_ms=5, error_status=429),
        resulted(job, at, spent, usage),
        StreamRefused(at=at, job=job, seen_at=at, requested=MODEL, effective="other"),
        QuotaRead(at=at, job=job, seen_at=at, reading=READING),
        StreamReset(at=at, job=job, seen_at=at, session=f"{how:08}-0000-4000-8000-000000000000"),
    )
    return rest[how % len(rest)]


def resulted(job: str, at: datetime, spent: Spent, usage: Usage) -> StreamResulted:
    """A good result."""
    return StreamResulted(
        at=at,
        job=job,
        seen_at=None,
        subtype="success",
        is_error=False,
        error_kind=None,
        api_error_status=None,
        terminal_reason=None,
        session=None,
        num_turns=1,
        spent=spent,
        usage=usage,
        denials=(),
        text_bytes=2,
        killed_work=0,
        resets_at=None,
    )


_IMPOSED = (
    None,
    None,
    Imposed(status=Status.KILLED, reason=Reason.KILL),
    Imposed(status=Status.TIMEOUT, flags=(Flag.STALLED,)),
    Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD),
    Imposed(status=Status.FAILED, reason=Reason.SPAWN_FAILED, error_kind=ErrorKind.OTHER),
)


@define
class Player:
    """A run that is played: what was committed, what it folds to, and what the clients said."""

    now: datetime = NOON
    registry: Registry = INITIAL
    commits: list[tuple[Event, ...]] = Factory(list)
    raw: dict[str, list[Said]] = Factory(lambda: defaultdict(list))

    @property
    def events(self) -> tuple[Event, ...]:
        """The whole history."""
        return tuple(event for commit in self.commits for event in commit)

    def play(self, move: Move) -> None:
        """Try a move; what is refused, or says nothing, leaves no trace."""
        command = self.step(move)
        if command is not None:
            self.ask(command)
        elif move.what == "tail":
            self.commit((TailDropped(at=self.now, bytes=move.how, sha256="0" * 64),))

    def step(self, move: Move) -> Command | None:
        """Let the time of a move pass, and make a command of it, if it is one now."""
        self.now += timedelta(seconds=move.after_s, microseconds=move.how)
        return None if move.what == "tail" else self.command(move)

    def ask(self, command: Command) -> None:
        """Decide a command, and fold what it says."""
        try:
            self.commit(decide(command, self.registry, self.now))
        except Refused:
            return

    def commit(self, events: tuple[Event, ...]) -> None:
        """Fold one commit."""
        self.registry = fold(events, self.registry)
        if events:
            self.commits.append(events)

    def command(self, move: Move) -> Command | None:
        """Make a command of a move, or None when there is nothing to aim it at."""
        jobs = in_order(self.registry.jobs)
        base = BASES[move.who % len(BASES)]
        match move.what:
            case "see" | "schedule" | "forward" | "deliver":
                return self._of_log(move, tuple(jobs))
            case "study":
                return self._of_study(move.how)
            case "train" if len(jobs) < MOST_JOBS:
                return Train(base=base, call=call(len(jobs) + 1))
            case "fork" if len(jobs) < MOST_JOBS:
                return self._fork(base, len(jobs) + 1, move.how)
            case "continue" if jobs and len(jobs) < MOST_JOBS:
                fork = jobs[-1 - move.who % len(jobs)]
                session = self.registry.jobs[fork].spec.session
                again = evolve(call(len(jobs) + 1), session=session)
                return Continue(job=fork, call=again, max_s=None)
            case "train" | "fork" | "continue":
                return None
            case "expire" if move.how > 3:
                return Expire(base=None if move.how > 4 else base)
            case "expire":
                return None
            case _ if jobs:
                return self._of_job(jobs[-1 - move.who % len(jobs)], move)
            case _:
                return None

    def _of_log(self, move: Move, jobs: tuple[str, ...]) -> Command:
        match move.what:
            case "see":
                return SeeOrchestrator()
            case "schedule":
                return SCHEDULE
            case "deliver":
                return Deliver(names=jobs if move.how % 2 else None, first=move.how > 3)
            case _:
                return forward(BASES[move.who % len(BASES)], move.how + 1, self.now)

    def _of_study(self, how: int) -> Command | None:
        trial = self.registry.trials.get(ENTRY.trial_id)
        attempt = len(trial.attempts) if trial else 0
        if self.registry.study is None:
            return SCHEDULE
        commands: tuple[Command, ...] = (
            StartRunner(
                runner=process(self.now.microsecond % 7 + 30),
                smoke=False,
                preflight=Map({"client": "pass"}),
                accepted=(),
            ),
            BeginTrial(
                trial_id=ENTRY.trial_id,
                attempt=attempt + 1,
                call=call(len(self.registry.jobs) + 1, block=ENTRY.block),
                cwd="/study-forks/copies/a",
            ),
            BeginPause(wait=Wait.QUOTA, until=self.now + timedelta(seconds=60)),
            EndPause(),
            AbortAttempt(trial_id=ENTRY.trial_id, attempt=attempt),
            ConcludeAttempt(
                trial_id=ENTRY.trial_id,
                attempt=attempt,
                check=Check(
                    exit_code=0,
                    timed_out=False,
                    score=1.0,
                    checks=Map({"builds": True}),
                    output=None,
                    wall_s=0.5,
                ),
                diff=None,
            ),
            RequestStop(nth=self.registry.runner.stops + 1),
            StopStudy(reason=StopReason.USER),
        )
        return commands[how % len(commands)]

    def _fork(self, base: str, number: int, how: int) -> Fork:
        return Fork(
            base=base,
            call=call(number, block=f"block {number}"),
            mode=Mode.PARALLEL if how % 2 else Mode.SEQUENTIAL,
            paths=("src",) if how % 3 else None,
            max_s=None,
            max_budget_usd=0.5 if how == 1 else None,
            stagger_s=None,
            force=how == 0,
        )

    def _of_job(self, job: str, move: Move) -> Command:
        match move.what:
            case "launch":
                return LaunchJob(job=job, supervisor=process(move.how + 1))
            case "hold":
                return HoldJob(job=job, behind=f"j{move.how + 1:04}")
            case "start":
                return StartClient(job=job, client=process(move.how + 11))
            case "beat":
                flags = (Flag.STALLED,) * (move.how % 2)
                return Beat(job=job, output_at=self.now if move.how else None, flags=flags)
            case "kill":
                return RequestKill(job=job, reason=Reason.KILL)
            case "hear":
                after = len(self.raw[job])
                self.raw[job].append(said(job, move.how, self.now))
                return Hear(job=job, after=after, said=tuple(self.raw[job][after:]))
            case "end":
                return self._end(job, move.how)
            case _:
                raise AssertionError(move.what)

    def _end(self, job: str, how: int) -> End:
        if how == 1:
            self.raw[job] += [said(job, of, self.now) for of in (0, 6, 2, 4)]
        heard = tuple(self.raw[job])
        return End(
            job=job,
            said=heard,
            stream=summed(heard),
            raw=Text(sha256="a" * 64, bytes=len(heard)) if heard else None,
            exit_code=0 if how < 3 else -15,
            imposed=_IMPOSED[how % len(_IMPOSED)],
            head="c" * 40,
        )


_FEW = ("see", "schedule", "forward", "study", "study", "train", "tail", "kill", "expire")
_MANY = ("train", "continue", "continue", "hold", "beat", "hear", "deliver") + 2 * (
    "fork",
    "launch",
    "start",
    "end",
)
MOVES = st.builds(
    Move,
    what=st.sampled_from(_FEW + _MANY * 2),
    who=st.integers(0, MOST_JOBS - 1),
    how=st.integers(0, 7),
    after_s=st.sampled_from([0, 1, 61, 3600]),
)
_LIFE = (("train", 0), ("launch", 0), ("start", 0), ("hear", 0))
_TRAINED = tuple(Move(what=what, how=how) for what, how in (*_LIFE, ("end", 1)))
_STUDY = tuple(
    Move(what=what, how=how)
    for what, how in (
        *(("study", 0),) * 2,
        *(("study", 1), ("launch", 0), ("start", 0), ("hear", 0), ("end", 1), ("study", 5)),
    )
)
_PAUSED = tuple(Move(what="study", how=how) for how in (0, 0, 2, 3, 1, 4))
_FORKED = (
    *_TRAINED,
    *(Move(what=what, how=2) for what in ("fork", "launch", "start", "end")),
    Move(what="continue"),
)
_FAILED = tuple(Move(what=what, how=how) for what, how in (*_LIFE, ("end", 3), ("train", 0)))
# Where nothing was trained, nothing can be forked: most stories begin with a base that stands.
STORIES = st.tuples(
    st.sampled_from([_TRAINED, _TRAINED, _TRAINED, _FORKED, _FAILED, _STUDY, _PAUSED, ()]),
    st.lists(MOVES, min_size=5, max_size=40),
).map(lambda parts: parts[0] + tuple(parts[1]))


def played(moves: Iterable[Move]) -> Player:
    """Play moves on a run that was opened."""
    player = Player()
    player.ask(INIT)
    for move in moves:
        player.play(move)
    return player
