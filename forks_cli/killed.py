"""What a kill answers, for ``kill`` and for each job that ``expire`` ends."""

from typing import Any

from forks_core.projections.jobs import job_status
from forks_core.system.killer import Killed
from forks_core.system.open_run import OpenRun
from forks_events.values import Process


def kill_row(opened: OpenRun, job: str, found: Killed) -> dict[str, Any]:
    """The job's status as it was finally stored, and the processes that were found."""
    status = job_status(opened.job(job))
    if not found.killed:
        return {"job": job, "killed": False, "status": status, "ok": True}
    return {
        "job": job,
        "killed": True,
        "status": status,
        "ok": not found.survivors,
        "snapshot": [_row(process) for process in found.snapshot],
        "survivors": [_row(process) for process in found.survivors],
        "taskkill_rc": None,
    }


def _row(process: Process) -> dict[str, Any]:
    """A process for callers: ``ctime`` is the start that it is compared by."""
    return {"pid": process.pid, "ctime": process.ticks, "host": process.host}
