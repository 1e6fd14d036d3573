"""Reaping: what a dead supervisor left running is ended, and its job is booked as lost."""

from forks_core.projections.reaping import candidates, processes_of, supervisor_of
from forks_core.registry import Job
from forks_core.rules.outcome import Imposed
from forks_core.system.ending import end_as_printed
from forks_core.system.open_run import OpenRun
from forks_core.transact import transact
from forks_events.words import Reason, Status

_LOST = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)


def reap(run: OpenRun) -> list[str]:
    """End every job that nothing was heard of for too long and whose supervisor is dead.

    A live supervisor with old beats is left alone, and so is one of another host, since it cannot
    be judged from here.

    Returns:
        The jobs that were booked as lost by this call, in id order.
    """
    run.live.refresh()
    lost_after_s = run.timings.lost_after_s
    lost: list[str] = []
    for job in candidates(run.registry, run.live.clock.now(), lost_after_s):
        name = job.spec.job
        if _may_live(run, job):
            continue
        run.processes.end(processes_of(job), run.marker(name))
        command = end_as_printed(run, job, _LOST, lost_after_s=lost_after_s)
        if transact(run.live, command):
            lost.append(name)
    return lost


def _may_live(run: OpenRun, job: Job) -> bool:
    """Whether a supervisor may see the job through: one that has not spoken yet shows its mark."""
    supervisor = supervisor_of(job)
    if supervisor is None:
        return run.processes.is_marked(run.marker(job.spec.job))
    return run.processes.is_alive(supervisor) is not False
