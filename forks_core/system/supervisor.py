"""The supervisor: one detached process that watches one call of the client to its end.

Order, the contract with everyone else: it says that it stands, durably, before the client starts;
it holds the client back behind an earlier sibling; it says what the stream says as it comes, and
beats when it has nothing else to say; it ends what overstays; it sweeps what the call left behind;
and the end is one commit. When the log says that the job is over, or shall be killed, it obeys.
"""

import contextlib
import time
from pathlib import Path

from attrs import frozen

from forks_core.claude.argv import argv
from forks_core.decider.ending import End
from forks_core.decider.jobs import Beat, HoldJob, LaunchJob, StartClient
from forks_core.registry import Launched
from forks_core.rules.outcome import Imposed
from forks_core.rules.supervision import Overdue, behind, is_stalled, overdue
from forks_core.system import git
from forks_core.system.client_process import ClientProcess
from forks_core.system.diagnostics import Diagnostics
from forks_core.system.ending import end_as_printed
from forks_core.system.impositions import FAILED, IMPOSED, launch_error
from forks_core.system.listener import Listener
from forks_core.system.open_run import OpenRun
from forks_core.system.prices import prices_at_hand
from forks_core.system.processes import myself, survivors
from forks_core.system.raw import digest, has_text, stderr_flags, stderr_kind
from forks_core.system.supervised import Over, Supervised
from forks_events.quota import QuotaRead
from forks_events.words import Flag, Kind

_HOLD_POLL_S = 0.05


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
        self._mine = Supervised(run, name, log)
        self._listener = Listener(name, self._mine.now_s)
        self._client: ClientProcess | None = None
        self._unsaid: StartClient | None = None
        self._started_s: float | None = None
        self._ended_s: float | None = None
        self._flags: tuple[Flag, ...] = ()

    def supervise(self) -> None:
        """Take the job on, unless it is refused to us, and see it through."""
        try:
            self._mine.insist(LaunchJob(job=self._name, supervisor=self._me))
            state = self._mine.job.state
            if isinstance(state, Launched) and state.supervisor == self._me:
                self._see_through()
            else:
                self._log.info("refused", state=type(state).__name__)
        except Over:
            self._log.info("over")
            self._sweep()
        except Exception as error:
            self._log.error("failed", exc_info=error)
            self._sweep()
            self._fail()
            raise

    def _see_through(self) -> None:
        if not self._hold():
            self._end(None)
            return
        try:
            self._start()
        except OSError as error:
            self._log.warning("launch failed", error=str(error))
            self._end(launch_error(error))
            return
        self._finish(self._watch())

    # Before the client

    def _hold(self) -> bool:
        """Wait for earlier siblings; False when the job shall be killed meanwhile."""
        mine = self._mine
        until_s = mine.now_s + mine.spec.stagger_s
        told: str | None = None
        while (other := behind(self._run.live.refresh(), mine.job)) and mine.now_s < until_s:
            self._flags = (Flag.HELD,)
            if other != told and mine.tell(HoldJob(job=self._name, behind=other)):
                told = other
            self._beat()
            if mine.is_unwanted():
                return False
            time.sleep(_HOLD_POLL_S)
        return not mine.is_unwanted()

    def _start(self) -> None:
        folder, mine = self._run.folder, self._mine
        self._client = ClientProcess(
            argv(mine.launch, mine.spec),
            mine.cwd,
            folder.brief(mine.spec.brief.sha256).read_bytes(),
            folder.raw(self._name),
            folder.stderr(self._name),
        )
        self._started_s = mine.now_s
        self._listener = Listener(self._name, self._started_s)
        self._unsaid = StartClient(job=self._name, client=self._client.process)
        self._report()

    # While it runs

    def _watch(self) -> Ending:
        client, mine = self._running_client, self._mine
        limits = mine.limits
        while True:
            self._listener.take(client.chunks(self._run.timings.tick_s), mine.now_s)
            self._report()
            if client.poll():
                return Ending()
            watch = self._listener.watch(mine.now_s, mine.orchestrator_silent_s())
            if found := overdue(watch, limits):
                self._log.info("overdue", why=found.value)
                return Ending(overdue=found)
            if is_stalled(watch, limits):
                self._raise_flag(Flag.STALLED)
            if mine.look() and mine.is_unwanted():
                return Ending()
            self._beat()

    def _report(self) -> None:
        """Say what the client said; the raw bytes are durable before the events that name them.

        A log that is locked for long is no reason to leave the client without a watch.
        """
        if self._unsaid is not None and self._mine.tell(self._unsaid):
            self._unsaid = None
        news = self._listener.news()
        if news is None:
            return
        self._running_client.sync()
        if self._mine.tell(news):
            self._listener.recorded()
            if any(isinstance(event, QuotaRead) for event in news.said):
                self._mine.pass_on()

    def _raise_flag(self, flag: Flag) -> None:
        if flag not in self._flags:
            self._flags = (*self._flags, flag)
            self._mine.speak_soon()

    def _beat(self) -> None:
        if self._mine.quiet_s >= self._run.timings.heartbeat_s:
            output_at = self._listener.output_at
            self._mine.tell(Beat(job=self._name, output_at=output_at, flags=self._flags))

    # The end

    def _finish(self, ending: Ending) -> None:
        """Sweep, drain, and say how it ended."""
        client = self._running_client
        self._ended_s = self._mine.now_s
        left = self._sweep()
        exit_code = client.wait()
        self._drain(client)
        # A kill that was asked for meanwhile explains what was left.
        self._run.live.refresh()
        flags = self._flags
        if ending.overdue is Overdue.LINGERS:
            flags = (*flags, Flag.KILLED_AFTER_RESULT)
        elif left and ending.overdue is None and not self._mine.job.kill:
            flags = (*flags, Flag.LEFTOVERS_SWEPT)
        self._flags = flags
        imposed = IMPOSED.get(ending.overdue) if ending.overdue else None
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
        until_s = self._mine.now_s + self._run.timings.reader_join_s
        while not client.drained and self._mine.now_s < until_s:
            self._listener.take(client.chunks(self._run.timings.tick_s), self._mine.now_s)

    def _end(self, imposed: Imposed | None, exit_code: int | None = None) -> None:
        folder, mine = self._run.folder, self._mine
        command = End(
            job=self._name,
            said=self._listener.said,
            stream=self._listener.stream,
            raw=digest(folder, self._name),
            exit_code=exit_code,
            stderr_kind=stderr_kind(folder, self._name),
            imposed=imposed,
            wall_s=self._wall_s,
            head=git.head(Path(mine.cwd)) if mine.spec.kind is Kind.TRAIN else None,
            note=self._run.has_note(mine.job),
            flags=(*self._flags, *stderr_flags(folder, self._name)),
            has_text=has_text(folder, self._name, self._listener.stream),
            prices=prices_at_hand(),
        )
        mine.insist(command)
        mine.pass_on()

    def _fail(self) -> None:
        """End it by what the raw file holds: we may have heard less."""
        if self._client:
            self._client.join(self._run.timings.reader_join_s)
        command = end_as_printed(
            self._run, self._mine.job, FAILED, wall_s=self._wall_s, flags=self._flags
        )
        with contextlib.suppress(Over):
            self._mine.insist(command)
        self._mine.pass_on()

    @property
    def _wall_s(self) -> float:
        if self._started_s is None:
            return 0.0
        return (self._mine.now_s if self._ended_s is None else self._ended_s) - self._started_s

    @property
    def _running_client(self) -> ClientProcess:
        assert self._client is not None  # noqa: S101 - it was started
        return self._client
