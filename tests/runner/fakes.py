"""What one process of the runner does to a world that is made up."""

from collections.abc import Callable, Sequence

from attrs import define, evolve

from forks_core.decider.jobs import RequestKill
from forks_core.decider.launching import Call
from forks_core.errors import Refused
from forks_core.projections.reaping import candidates
from forks_core.projections.trials import call_of
from forks_core.rules.attempts import infra_kind
from forks_core.rules.outcome import Imposed
from forks_core.transact import Live, transact
from forks_events.jobs import Text
from forks_events.trials import Check
from forks_events.words import Reason, Status
from tests.fates import LOST, Told
from tests.runner.world import RESTS, Going, World
from tests.studies import PASSED, a_call

LOST_AFTER_S = 120.0
MOST_RESTS = 20_000
KILLED = Imposed(status=Status.KILLED, reason=Reason.KILL)


@define
class FakeField:
    """What one process of the runner does to the world.

    Args:
        world: The world.
        log: The log, as this process writes it.
    """

    world: World
    live: Live

    def free_gb(self) -> float:
        """Tell the free disk."""
        return self.world.free_gb

    def stops(self) -> int:
        """Tell the signals."""
        return self.world.signals

    def prepare(self, trial_id: str, attempt: int) -> tuple[Call, str]:
        """Make a working copy."""
        self.world.act("prepares")
        if trial_id in self.world.broken:
            raise Refused("the task's folder is gone", task=trial_id)
        self.world.calls += 1
        self.world.act("prepared")
        return a_call(self.world.calls), f"/study-forks/copies/{trial_id}/{attempt}"

    def begin(self, job: str) -> None:
        """Start a supervisor, which needs a moment to speak."""
        self.world.act("begins")
        assert not self.is_begun(job), "two supervisors of one job"
        now_s = self.world.clock.seconds
        told = self.world.told(job)
        self.world.going[job] = Going(job=job, told=told, began_s=now_s, due_s=now_s + 0.5)
        self.world.act("has begun")

    def is_begun(self, job: str) -> bool:
        """Tell whether a supervisor of it lives."""
        return job in self.world.going and self.world.going[job].alive

    def judge(
        self,
        trial_id: str,
        attempt: int,  # noqa: ARG002 - the job tells
        job: str,
        unwanted: Callable[[], bool],
    ) -> tuple[Check | None, Text | None] | None:
        """Run the check, where it can say something."""
        self.world.act("judges")
        if trial_id in self.world.unjudged:
            raise Refused("the task's folder is gone", task=trial_id)
        assert self.live.registry.jobs[job].ended, "judged while it goes on"
        call = call_of(self.live.registry, job)
        if call is None or infra_kind(call) is not None:
            return None, None
        for _ in range(self.world.check_s):
            self.world.pass_(1)
            if unwanted():
                return None
        self.world.act("judged")
        return evolve(PASSED, exit_code=self.world.going[job].told.check), None

    def keep_diff(self, trial_id: str, attempt: int) -> Text | None:  # noqa: ARG002 - made up
        """Keep nothing."""
        return None

    def end(self, jobs: Sequence[str]) -> None:
        """End jobs: the intent, the effect, the fact."""
        for job in jobs:
            transact(self.live, RequestKill(job=job, reason=Reason.KILL))
            going = self.world.going.get(job)
            if going is not None:
                going.alive = False
            self.world.act("killed")
            one = going or Going(job=job, told=Told(), began_s=0, due_s=0)
            transact(self.live, self.world.end(one, None, KILLED))

    def keep_house(self) -> None:
        """Book what is lost."""
        registry, world = self.live.refresh(), self.world
        world.kept.append(len(world.log.envelopes))
        for job in candidates(registry, world.clock.now(), LOST_AFTER_S):
            name = job.spec.job
            if not self.is_begun(name):
                known = world.going.get(name) or Going(job=name, told=Told(), began_s=0, due_s=0)
                transact(self.live, world.end(known, None, LOST))

    def rest(self, seconds: float) -> None:
        """Return when the log has grown, or the time is up."""
        self.world.act(RESTS)
        self.world.rests += 1
        assert self.world.rests < MOST_RESTS, "it never ends"
        self.world.pass_(seconds, until_news=True)

    def show(self) -> None:
        """Nobody watches."""
