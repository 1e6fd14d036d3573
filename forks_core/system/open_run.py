"""A run that is opened for work: its folder, its log, its registry."""

import os
from pathlib import Path

from attrs import frozen

from forks_core.decider.run import NOT_INITIALISED
from forks_core.errors import Refused
from forks_core.registry import INITIAL, Job, Registry
from forks_core.rules.naming import marker
from forks_core.rules.paths import normalise, state_folder, study_folder
from forks_core.rules.supervision import Timings
from forks_core.system.checkpoint import WORTH_IT, keep, restore
from forks_core.system.clock import SystemClock
from forks_core.system.files import working_directory
from forks_core.system.log_file import LogFile
from forks_core.system.processes import SystemProcesses, host_name, require_linux
from forks_core.system.state_folder import StateFolder
from forks_core.system.timings import timings
from forks_core.transact import Live
from forks_events.envelope import EMPTY, Author
from forks_events.run import RunConfigured
from forks_events.values import Launch
from forks_events.words import Kind


@frozen(kw_only=True)
class OpenRun:
    """A run at hand.

    Args:
        path: The run log, absolute.
        folder: Its state folder.
        live: Its log and what it folds to.
        timings: The timings in force.
        processes: The processes of this machine.
    """

    path: str
    folder: StateFolder
    live: Live
    timings: Timings
    processes: SystemProcesses

    @property
    def registry(self) -> Registry:
        """The state, as far as it was folded."""
        return self.live.registry

    def require_init(self) -> RunConfigured:
        """Return how the run was configured.

        Raises:
            Refused: There was no init.
        """
        configured = self.registry.run and self.registry.run.configured
        if not configured:
            raise Refused(NOT_INITIALISED, state=str(self.folder.path))
        return configured

    @property
    def default_launch(self) -> Launch:
        """The launch that was fixed at init."""
        return self.registry.launches[self.require_init().fingerprint]

    def job(self, name: str) -> Job:
        """A job of the registry."""
        return self.registry.jobs[name]

    def launch_of(self, job: Job) -> Launch:
        """The launch of a job."""
        return self.registry.launches[job.spec.fingerprint]

    def has_note(self, job: Job) -> bool:
        """Whether a fork's note is there."""
        block = job.spec.block
        if job.spec.kind in {Kind.TRAIN, Kind.TRIAL} or block is None:
            return False
        return self.folder.note(block).exists()

    def marker(self, job: str) -> str:
        """The mark of a job's processes."""
        run = self.registry.run
        return marker(run.opened.run if run else "", job)


def open_run(text: str, verb: str) -> OpenRun:
    """Open a run by its run log's path and fold its log; there need not be one yet.

    Args:
        text: The path, as the caller wrote it.
        verb: What is being done, for the record.

    Raises:
        Refused: The path names no run log.
        StorageFailed: The log cannot be read, or is damaged.
    """
    path = normalise(text, working_directory())
    return open_folder(path, StateFolder(Path(state_folder(path))), verb)


def open_study(text: str, verb: str) -> OpenRun:
    """Open a study's run by the study's file; as `open_run`."""
    path = normalise(text, working_directory())
    return open_folder(path, StateFolder(Path(study_folder(path))), verb)


def open_folder(path: str, folder: StateFolder, verb: str) -> OpenRun:
    """Open what lies in a state folder; ``path`` is what it belongs to."""
    require_linux()
    times = timings(os.environ)
    return OpenRun(
        path=path,
        folder=folder,
        live=load(folder, verb, lock_wait_s=times.lock_wait_s),
        timings=times,
        processes=SystemProcesses(times.kill_verify_s),
    )


def load(folder: StateFolder, verb: str, *, lock_wait_s: float) -> Live:
    """Fold a log from its checkpoint on, and keep a new one when it was far."""
    log = LogFile(folder.path, lock_wait_s=lock_wait_s)
    registry, head = restore(folder, log) or (INITIAL, EMPTY)
    author = Author(verb=verb, host=host_name(), pid=os.getpid())
    live = Live(log=log, clock=SystemClock(), author=author, registry=registry, head=head)
    live.refresh()
    if live.head.seq - head.seq >= WORTH_IT and not live.unknown:
        keep(folder, log.position, live.registry)
    return live


def open_configured(text: str, verb: str) -> OpenRun:
    """Open a run that had its init.

    Raises:
        Refused: It had none.
    """
    run = open_run(text, verb)
    run.require_init()
    return run
