"""The supervisor: one detached process that watches one call of the client to its end.

Order, the contract with everyone else: it says that it stands, durably, before the client starts;
it holds the client back behind an earlier sibling; it says what the stream says as it comes, and
beats when it has nothing else to say; it ends what overstays; it sweeps what the call left behind;
and the end is one commit. When the log says that the job is over, or shall be killed, it obeys.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from attrs import frozen

from forks_core.claude.argv import argv
from forks_core.decider import Command
from forks_core.decider.ending import End
from forks_core.decider.jobs import Beat, HoldJob, LaunchJob, StartClient
from forks_core.decider.run import settings_of
from forks_core.errors import LogLocked
from forks_core.registry import Job, Launched
from forks_core.rules.outcome import Imposed
from forks_core.rules.supervision import Limits, Overdue, behind, is_stalled, overdue
from forks_core.system import git
from forks_core.system.client_process import ClientProcess
from forks_core.system.diagnostics import Diagnostics
from forks_core.system.listener import Listener
from forks_core.system.open_run import OpenRun
from forks_core.system.orchestrator_watch import OrchestratorWatch
from forks_core.system.processes import myself, survivors
from forks_core.system.raw import digest, stderr_kind
from forks_core.transact import transact
from forks_events.jobs import ErrorKind, Flag, JobCreated, Kind, Reason, Status
from forks_events.values import Launch

_HOLD_POLL_S = 0.05

# What we impose on a client that is ended for being overdue. A refused model and a result without
# an exit are concluded from the stream itself.
_IMPOSED: Mapping[Overdue, Imposed] = {
    Overdue.TIMEOUT: Imposed(status=Status.TIMEOUT, detail="wall time"),
    Overdue.ORPHANED: Imposed(status=Status.KILLED, reason=Reason.ORPHANED, flags=(Flag.ORPHANED,)),
    Overdue.NO_OUTPUT: Imposed(
        status=Status.FAILED,
        reason=Reason.NO_RESULT,
        detail="no output",
        error_kind=ErrorKind.STARTUP,
    ),
}


class Over(Exception):
    """Somebody else has ended the job."""


@frozen(kw_only=True)
class Ending:
    """Why the watch is over: what was overdue, or None when the client exited or was killed."""

    overdue: Overdue | None = None


class Supervisor:
    """The supervision of one job.

    Args:
        run: The run, opened.
        name: The job.
        log: Where diagnostics go.
    """

    def __init__(self, run: OpenRun, name: str, log: Diagnostics) -> None:
        self._run = run
        self._name = name
        self._log = log
        self._me = myself()
        self._orchestrator = OrchestratorWatch()
        self._listener = Listener(name, self._now_s)
        self._client: ClientProcess | None = None
        self._started_s: float | None = None
        self._ended_s: float | None = None
        self._spoke_s = self._now_s
        self._looked_s = self._now_s
        self._flags: tuple[Flag, ...] = ()

    def supervise(self) -> None:
        """Take the job on, unless it is refused to us, and see it through."""
        try:
            self._insist(LaunchJob(job=self._name, supervisor=self._me))
            state = self._job.state
            if isinstance(state, Launched) and state.supervisor == self._me:
                self._see_through()
            else:
                self._log.info("refused", state=type(state).__name__)
        except Over:
            self._log.info("over")
            self._sweep()
        except Exception:
            self._log.exception("failed")
            self._sweep()
            self._end(Imposed(status=Status.FAILED, reason=Reason.SUPERVISOR_ERROR))
            raise

    def _see_through(self) -> None:
        if not self._hold():
            self._end(None)
            return
        try:
            self._start()
        except OSError as error:
            self._log.warning("launch failed", error=str(error))
            detail = error.strerror or type(error).__name__
            self._end(Imposed(status=Status.FAILED, reason=Reason.LAUNCH_ERROR, detail=detail))
            return
        self._finish(self._watch())

    # Before the client

    def _hold(self) -> bool:
        """Wait for earlier siblings; False when the job shall be killed meanwhile."""
        until_s = self._now_s + self._spec.stagger_s
        while (other := behind(self._run.live.refresh(), self._job)) and self._now_s < until_s:
            self._flags = (Flag.HELD,)
            self._tell(HoldJob(job=self._name, behind=other))
            self._beat()
            if self._is_unwanted():
                return False
            time.sleep(_HOLD_POLL_S)
        return not self._is_unwanted()

    def _start(self) -> None:
        folder, launch = self._run.folder, self._launch
        self._client = ClientProcess(
            argv(launch, self._spec),
            launch.cwd,
            folder.brief(self._spec.brief.sha256).read_bytes(),
            folder.raw(self._name),
            folder.stderr(self._name),
        )
        self._started_s = self._now_s
        self._listener = Listener(self._name, self._started_s)
        self._insist(StartClient(job=self._name, client=self._client.process))

    # While it runs

    def _watch(self) -> Ending:
        client = self._running_client
        limits = self._limits
        while True:
            self._listener.take(client.chunks(self._run.timings.tick_s), self._now_s)
            self._report()
            if client.poll():
                return Ending()
            watch = self._listener.watch(self._now_s, self._orchestrator_silent_s())
            if found := overdue(watch, limits):
                self._log.info("overdue", why=found.value)
                return Ending(overdue=found)
            if is_stalled(watch, limits):
                self._raise_flag(Flag.STALLED)
            if self._look() and self._is_unwanted():
                return Ending()
            self._beat()

    def _report(self) -> None:
        """Say what the client said; the raw bytes are durable before the events that name them."""
        news = self._listener.news()
        if news is None:
            return
        self._running_client.sync()
        if self._tell(news):
            self._listener.recorded()

    def _look(self) -> bool:
        """Fold what others have said, now and then; True when that was done."""
        if self._now_s - self._looked_s < self._run.timings.orphan_check_s:
            return False
        self._looked_s = self._now_s
        self._run.live.refresh()
        return True

    def _is_unwanted(self) -> bool:
        """Tell whether a kill was asked for; when the job is over already, give up at once."""
        job = self._job
        if job.ended:
            raise Over
        return job.kill is not None

    def _raise_flag(self, flag: Flag) -> None:
        if flag not in self._flags:
            self._flags = (*self._flags, flag)
            self._spoke_s = float("-inf")  # so that the next beat comes at once

    def _beat(self) -> None:
        if self._now_s - self._spoke_s >= self._run.timings.heartbeat_s:
            output_at = self._listener.output_at
            self._tell(Beat(job=self._name, output_at=output_at, flags=self._flags))

    def _orchestrator_silent_s(self) -> float | None:
        run = self._run.registry.run
        seen_at = run.orchestrator_seen_at if run else None
        return self._orchestrator.silent_s(seen_at, self._now, self._now_s)

    # The end

    def _finish(self, ending: Ending) -> None:
        """Sweep, drain, and say how it ended."""
        client = self._running_client
        self._ended_s = self._now_s
        left = self._sweep()
        exit_code = client.wait()
        self._drain(client)
        flags = self._flags
        if ending.overdue is Overdue.LINGERS:
            flags = (*flags, Flag.KILLED_AFTER_RESULT)
        elif left and ending.overdue is None and not self._job.kill:
            flags = (*flags, Flag.LEFTOVERS_SWEPT)
        self._flags = flags
        imposed = _IMPOSED.get(ending.overdue) if ending.overdue else None
        self._end(imposed, exit_code=None if ending.overdue else exit_code)

    def _sweep(self) -> int:
        """End all that the call started, however it has detached itself; tell how many there were."""
        roots = [self._client.process, self._me] if self._client else [self._me]
        found = self._run.processes.end(roots, self._run.marker(self._name))
        if alive := survivors(found):
            self._log.error("survivors", pids=[process.pid for process in alive])
        if found:
            self._log.info("swept", pids=[process.pid for process in found])
        return len(found)

    def _drain(self, client: ClientProcess) -> None:
        """Hear the rest, for a bounded time: nobody should hold the pipe open any more."""
        until_s = self._now_s + self._run.timings.reader_join_s
        while not client.drained and self._now_s < until_s:
            self._listener.take(client.chunks(self._run.timings.tick_s), self._now_s)

    def _end(self, imposed: Imposed | None, exit_code: int | None = None) -> None:
        folder, spec = self._run.folder, self._spec
        command = End(
            job=self._name,
            said=self._listener.said,
            stream=self._listener.stream,
            raw=digest(folder, self._name),
            exit_code=exit_code,
            stderr_kind=stderr_kind(folder, self._name),
            imposed=imposed,
            wall_s=self._wall_s,
            head=git.head(Path(self._launch.cwd)) if spec.kind is Kind.TRAIN else None,
            note=self._run.has_note(self._job),
            flags=self._flags,
        )
        self._insist(command)

    # Small things

    def _tell(self, command: Command) -> bool:
        """Transact; False when the log was locked for too long, so that it must be said again."""
        try:
            said = transact(self._run.live, command)
        except LogLocked as error:
            self._log.warning("log locked", **error.fields)
            return False
        if said:
            self._spoke_s = self._now_s
        elif self._job.ended:
            raise Over
        return True

    def _insist(self, command: Command) -> None:
        """Transact, however long the log is locked."""
        while not self._tell(command):
            self._log.warning("said again", command=type(command).__name__)

    @property
    def _wall_s(self) -> float:
        if self._started_s is None:
            return 0.0
        return (self._now_s if self._ended_s is None else self._ended_s) - self._started_s

    @property
    def _job(self) -> Job:
        return self._run.job(self._name)

    @property
    def _spec(self) -> JobCreated:
        return self._job.spec

    @property
    def _launch(self) -> Launch:
        return self._run.launch_of(self._job)

    @property
    def _limits(self) -> Limits:
        settings = settings_of(self._run.registry)
        timings = self._run.timings
        return Limits(
            max_s=self._spec.max_s,
            stall_after_s=settings.stall_after_s,
            no_output_s=settings.no_output_s,
            orphan_after_s=settings.orphan_after,
            result_linger_s=timings.result_linger_s,
            background_linger_s=timings.background_linger_s,
        )

    @property
    def _running_client(self) -> ClientProcess:
        assert self._client is not None  # noqa: S101 - it was started
        return self._client

    @property
    def _now(self) -> datetime:
        return self._run.live.clock.now()

    @property
    def _now_s(self) -> float:
        return self._run.live.clock.monotonic()
