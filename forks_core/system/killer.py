"""Killing a job: the intent is written, its processes are ended, and then what came of it."""

from collections.abc import Sequence

from attrs import frozen

from forks_core.decider.jobs import RequestKill
from forks_core.projections.reaping import processes_of
from forks_core.rules.outcome import Imposed
from forks_core.system.ending import end_as_printed
from forks_core.system.open_run import OpenRun
from forks_core.system.processes import survivors
from forks_core.transact import transact
from forks_events.values import Process
from forks_events.words import Reason, Status


@frozen(kw_only=True)
class Killed:
    """What a kill found.

    Args:
        killed: Whether the job was still going on.
        snapshot: The processes that were found alive.
        survivors: Those of them that could not be ended in time.
    """

    killed: bool
    snapshot: Sequence[Process] = ()
    survivors: Sequence[Process] = ()


def kill(run: OpenRun, name: str, reason: Reason) -> Killed:
    """End a job and all that belongs to it; a job that has ended is left as it is.

    The client's group goes first, while its supervisor still lives; then the supervisor; then
    what carries the job's mark. A supervisor that ends the job first keeps its own verdict.

    Raises:
        Refused: There is no such job.
    """
    transact(run.live, RequestKill(job=name, reason=reason))
    job = run.job(name)
    if job.ended:
        return Killed(killed=False)
    found = run.processes.end(processes_of(job), run.marker(name))
    imposed = Imposed(status=Status.KILLED, reason=reason)
    transact(run.live, end_as_printed(run, job, imposed))
    return Killed(killed=True, snapshot=found, survivors=survivors(found))
