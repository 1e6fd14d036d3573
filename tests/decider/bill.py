"""A client that counts what its account is billed, fresh or carried on, and jobs that it is run for."""

from operator import add

from attrs import define, evolve, field

from forks_core.decider.continue_ import Continue, session_of
from forks_core.decider.fork import Fork
from forks_core.decider.jobs import Hear
from forks_core.decider.train import Train
from forks_core.registry import Ended
from forks_events import Said
from forks_events.jobs import JobEnded
from forks_events.stream import StreamReset, StreamTurned
from forks_events.values import NOTHING_SPENT, Spent, Usage, joined
from tests.decider.plans import CARRIED, Part, Plan
from tests.decider.world import INIT, SETTINGS, START, World, call, end, fork_command
from tests.decider.world import opened as introduction
from tests.decider.world import resulted as good


def plus(one: Spent, other: Spent) -> Spent:
    """Counters that go on, with the money rounded as a client prints it."""
    both = joined(one, other, add)
    return evolve(both, cost_usd=round(both.cost_usd, 6))


@define
class Client:
    """Clients of one account, and what their transcripts keep of the counters.

    Args:
        saved: By session, what the last result told; a client that counts afresh keeps nothing.
        billed: By job, the millionths of its calls that gave a result.
    """

    saved: dict[str, Spent] = field(factory=dict)
    billed: dict[str, int] = field(factory=dict)

    def run(self, job: str, plan: Plan, session: str, start: Spent, version: str) -> list[Said]:
        """Run a call, and tell what it prints.

        Args:
            job: The job.
            plan: What it does.
            session: The session that it writes.
            start: Where its counters start.
            version: The client's version.
        """
        said: list[Said] = [evolve(introduction(job, session), client_version=version)]
        counters = start
        if plan.shape == "note_first":
            said.append(result(job, counters, num_turns=0))
        if plan.shape == "refused":
            said.append(result(job, counters, is_error=True))
        if plan.shape in {"killed", "reset_early"}:
            said += turns(job, plan.first)
        for number, part in enumerate(plan.parts):
            if plan.shape == "reset_early" or (plan.shape == "reset" and number):
                session, counters = f"{session}'", NOTHING_SPENT
                said.append(StreamReset(at=START, job=job, seen_at=None, session=session))
            counters = plus(counters, part.spent)
            said += turns(job, part)
            said.append(result(job, counters, is_error=plan.shape == "error"))
            if version == CARRIED:
                self.saved[session] = counters
        if plan.shape == "cut":
            said += turns(job, plan.second)
        if plan.shape == "note_last":
            said.append(result(job, counters, num_turns=0))
        if plan.shape == "crash_last":
            said.append(result(job, NOTHING_SPENT, num_turns=0, is_error=True))
        self.billed[job] = sum(part.millionths for part in plan.parts)
        return said


def turns(job: str, part: Part) -> list[Said]:
    """The responses of a part; their output is a placeholder."""
    return [
        StreamTurned(
            at=START, job=job, seen_at=None, main=main, model=model, usage=evolve(used, output=1)
        )
        for model, main, used in part.responses
    ]


def result(job: str, spent: Spent, *, num_turns: int = 1, is_error: bool = False) -> Said:
    """A result with these counters."""
    usage = Usage() if spent == NOTHING_SPENT or not num_turns else Usage(input=1)
    told = evolve(good(job), spent=spent, num_turns=num_turns, is_error=is_error, usage=usage)
    return evolve(told, subtype="error_during_execution") if is_error else told


@define
class Tree:
    """A base, its forks and their continues, each a call of the client.

    Args:
        version: The client's.
        upgraded: The version that calls after the training have.
    """

    version: str
    upgraded: str
    world: World = field(factory=World)
    client: Client = field(factory=Client)
    running: dict[str, list[Said]] = field(factory=dict)
    plans: dict[str, Plan] = field(factory=dict)
    depth: dict[str, int] = field(factory=dict)
    order: list[str] = field(factory=list)

    def grow(self, training: Plan) -> None:
        """Train the base."""
        settings = evolve(SETTINGS, parallel_cap=99)
        self.world.do(evolve(INIT, settings=settings), Train(base="main", call=call()))
        self._starts("j0001", training, "s-1", NOTHING_SPENT, self.version)
        self.end(0)

    def fork(self, plan: Plan) -> None:
        """Fork the base; the counters start where its session's stand now."""
        number = len(self.plans) + 1
        base = self.world.registry.bases["main"].active
        assert base is not None
        command: Fork = fork_command(session=f"s-{number}", block=f"b{number}")
        self.world.do(command)
        start = self._saved(base.session)
        self._starts(f"j{number:04}", plan, f"s-{number}", start, self.upgraded)

    def go_on(self, who: int, plan: Plan) -> bool:
        """Continue one of the forks that can be, if there is one."""
        jobs = self.world.registry.jobs
        busy = {jobs[job].spec.continues for job in self.running}
        open_ = [
            job
            for job in self.order
            if isinstance(jobs[job].state, Ended) and job in self.forks and job not in busy
        ]
        if not open_:
            return False
        number, fork = len(self.plans) + 1, open_[who % len(open_)]
        session = session_of(jobs[fork])
        again = evolve(call(session), request=f"request {number}")
        self.world.do(Continue(job=fork, call=again, max_s=None))
        self._starts(f"j{number:04}", plan, session, self._saved(session), self.upgraded)
        self.depth[fork] = self.depth.get(fork, 0) + 1
        return True

    def end(self, who: int) -> None:
        """End one of the calls that run; half of what it said is heard before."""
        if not self.running:
            return
        job = sorted(self.running)[who % len(self.running)]
        said = self.running.pop(job)
        self.order.append(job)
        self.world.do(Hear(job=job, after=0, said=tuple(said[: len(said) // 2])))
        killed = self.plans[job].shape in {"killed", "cut"}
        self.world.do(end(job, said, exit_code=-9 if killed else 0))

    @property
    def forks(self) -> set[str]:
        """The jobs that are forks."""
        return {job for job, of in self.world.registry.jobs.items() if of.spec.kind.value == "fork"}

    @property
    def ends(self) -> dict[str, JobEnded]:
        """How each job ended."""
        jobs = self.world.registry.jobs
        return {job: of.state.end for job, of in jobs.items() if isinstance(of.state, Ended)}

    def _saved(self, session: str) -> Spent:
        return self.client.saved.get(session, NOTHING_SPENT)

    def _starts(self, job: str, plan: Plan, session: str, start: Spent, version: str) -> None:
        self.plans[job] = plan
        begin = start if version == CARRIED else NOTHING_SPENT
        self.running[job] = self.client.run(job, plan, session, begin, version)
        self.world.run(job, pid=100 + 2 * len(self.plans))
