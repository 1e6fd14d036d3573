"""A job as its supervisor has it: what the log says of it, and the supervisor's say."""

from forks_core.decider import Command
from forks_core.decider.run import settings_of
from forks_core.errors import LogLocked
from forks_core.registry import Job
from forks_core.rules.supervision import Limits
from forks_core.system.diagnostics import Diagnostics
from forks_core.system.open_run import OpenRun
from forks_core.system.orchestrator_watch import OrchestratorWatch
from forks_core.system.outbox import forward
from forks_core.transact import transact
from forks_events.jobs import JobCreated
from forks_events.values import Launch


class Over(Exception):
    """Somebody else has ended the job."""


class Supervised:
    """One job of a run, under supervision.

    Args:
        run: The run, opened.
        name: The job.
        log: Where diagnostics go.
    """

    def __init__(self, run: OpenRun, name: str, log: Diagnostics) -> None:
        self.run = run
        self.name = name
        self._log = log
        self._orchestrator = OrchestratorWatch()
        self._spoke_s = self.now_s
        self._looked_s = self.now_s

    @property
    def job(self) -> Job:
        """The job, as far as the log was folded."""
        return self.run.job(self.name)

    @property
    def spec(self) -> JobCreated:
        """What was decided of it."""
        return self.job.spec

    @property
    def launch(self) -> Launch:
        """How its client is started."""
        return self.run.launch_of(self.job)

    @property
    def cwd(self) -> str:
        """Where its client runs."""
        return self.spec.cwd or self.launch.cwd

    @property
    def limits(self) -> Limits:
        """Its limits."""
        settings, timings = settings_of(self.run.registry), self.run.timings
        return Limits(
            max_s=self.spec.max_s,
            stall_after_s=settings.stall_after_s,
            no_output_s=settings.no_output_s,
            orphan_after_s=settings.orphan_after,
            result_linger_s=timings.result_linger_s,
            background_linger_s=timings.background_linger_s,
        )

    @property
    def now_s(self) -> float:
        """Monotonic seconds."""
        return self.run.live.clock.monotonic()

    @property
    def quiet_s(self) -> float:
        """Seconds since the log was last told something of it."""
        return self.now_s - self._spoke_s

    def speak_soon(self) -> None:
        """Make the next beat come at once."""
        self._spoke_s = float("-inf")

    def orchestrator_silent_s(self) -> float | None:
        """Seconds since the orchestrator was seen, or None when it never was."""
        run = self.run.registry.run
        seen_at = run.orchestrator_seen_at if run else None
        return self._orchestrator.silent_s(seen_at, self.run.live.clock.now(), self.now_s)

    def look(self) -> bool:
        """Fold what others have said, now and then; True when that was done."""
        if self.now_s - self._looked_s < self.run.timings.orphan_check_s:
            return False
        self._looked_s = self.now_s
        self.run.live.refresh()
        return True

    def is_unwanted(self) -> bool:
        """Tell whether a kill was asked for.

        Raises:
            Over: The job has ended already.
        """
        if self.job.ended:
            raise Over
        return self.job.kill is not None

    def tell(self, command: Command) -> bool:
        """Transact; False when the log was locked for too long, so that it must be said again.

        Raises:
            Over: Nothing was said, since the job has ended.
        """
        try:
            said = transact(self.run.live, command)
        except LogLocked as error:
            self._log.warning("log locked", **error.fields)
            return False
        if said:
            self._spoke_s = self.now_s
        elif self.job.ended:
            raise Over
        return True

    def insist(self, command: Command) -> None:
        """Transact, however long the log is locked."""
        while not self.tell(command):
            self._log.warning("said again", command=type(command).__name__)

    def pass_on(self) -> None:
        """Tell the account what the run has to say to it."""
        if complaint := forward(self.run):
            self._log.warning("account", why=complaint)
