"""Ending a job by what its raw file holds, for whoever has not heard all of it."""

from typing import Any

from forks_core.decider.ending import End
from forks_core.registry import Job
from forks_core.rules.outcome import Imposed
from forks_core.system.open_run import OpenRun
from forks_core.system.prices import prices_at_hand
from forks_core.system.raw import has_text, printed, stderr_flags


def end_as_printed(run: OpenRun, job: Job, imposed: Imposed, **more: Any) -> End:
    """Read all that the job's client printed, and make the command that ends it.

    Args:
        run: The run.
        job: The job.
        imposed: What it is ended for.
        more: Further fields of `End`.
    """
    found = printed(run.folder, job.spec.job)
    flags = (*more.pop("flags", ()), *stderr_flags(run.folder, job.spec.job))
    return End(
        job=job.spec.job,
        said=found.said,
        stream=found.stream,
        raw=found.raw,
        stderr_kind=found.stderr_kind,
        imposed=imposed,
        note=run.has_note(job),
        flags=flags,
        has_text=has_text(run.folder, job.spec.job, found.stream),
        prices=prices_at_hand(),
        **more,
    )
