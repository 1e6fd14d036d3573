"""``forks kill``: end a job and every process that belongs to it."""

import argparse
from typing import Any

from forks_cli.answer import Answer
from forks_cli.parser import add_run
from forks_core.projections.jobs import job_status
from forks_core.system.killer import kill
from forks_core.system.open_run import open_configured
from forks_events.values import Process
from forks_events.words import Reason


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("--job", required=True, metavar="JOB", help="the job to end")


def run(arguments: argparse.Namespace) -> Answer:
    """End it; a job that has ended is left as it is."""
    opened = open_configured(arguments.run, "kill")
    found = kill(opened, arguments.job, Reason.KILL)
    return Answer(
        {
            "job": arguments.job,
            "killed": found.killed,
            "status": job_status(opened.job(arguments.job)),
            "ok": not found.survivors,
            "snapshot": [_row(process) for process in found.snapshot],
            "survivors": [_row(process) for process in found.survivors],
            "taskkill_rc": None,
        }
    )


def _row(process: Process) -> dict[str, Any]:
    """A process for callers: ``ctime`` is the start that it is compared by."""
    return {"pid": process.pid, "ctime": process.ticks, "host": process.host}
