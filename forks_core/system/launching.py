"""Launching a call: the intent is written, the supervisor spawned; if that fails, so it is said."""

from collections.abc import Callable

from forks_core.claude.environment import scrub
from forks_core.decider.continue_ import Continue
from forks_core.decider.ending import End
from forks_core.decider.fork import Fork
from forks_core.decider.train import Train
from forks_core.registry import SILENT
from forks_core.rules.outcome import Imposed
from forks_core.system.client import this_host
from forks_core.system.open_run import OpenRun
from forks_core.system.spawn import spawn_supervisor
from forks_core.transact import transact
from forks_events.jobs import JobCreated
from forks_events.words import Reason, Status

Spawn = Callable[[OpenRun, str, dict[str, str]], None]


def launch(
    run: OpenRun, command: Train | Fork | Continue, spawn: Spawn = spawn_supervisor
) -> JobCreated:
    """Create a job and start its supervisor; asked again, nothing more is started.

    A supervisor that cannot be started ends the job as failed; it is no refusal, since the job
    is recorded by then.

    Returns:
        The job, as it was created.

    Raises:
        Refused: The command cannot be; nothing was recorded, nothing started.
    """
    said = transact(run.live, command)
    job = next(
        job.spec for job in run.registry.jobs.values() if job.spec.request == command.call.request
    )
    if said:
        start(run, job, spawn)
    return job


def start(run: OpenRun, job: JobCreated, spawn: Spawn = spawn_supervisor) -> None:
    """Start the supervisor of a job that was created; if that fails, the job ends so."""
    launch = run.registry.launches[job.fingerprint]
    environment = scrub(this_host(), launch, run.marker(job.job))
    try:
        spawn(run, job.job, environment)
    except OSError as error:
        imposed = Imposed(
            status=Status.FAILED, reason=Reason.SPAWN_FAILED, detail=error.strerror or str(error)
        )
        transact(run.live, End(job=job.job, said=(), stream=SILENT, raw=None, imposed=imposed))
