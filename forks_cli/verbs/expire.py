"""``forks expire``: nobody shall fork these bases any more, and what runs of them is ended."""

import argparse
from collections.abc import Sequence

from forks_cli.answer import Answer
from forks_cli.housekeeping import tell_account
from forks_cli.killed import kill_row
from forks_cli.parser import add_run
from forks_core.decider.expire import Expire, named_bases
from forks_core.decider.jobs import RequestKill
from forks_core.projections.jobs import job_status
from forks_core.rules.naming import in_order
from forks_core.system.killer import Killed, kill
from forks_core.system.open_run import OpenRun, open_configured
from forks_core.transact import transact
from forks_events.bases import BaseRetired
from forks_events.words import Reason, Status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--base", metavar="NAME", help="this base")
    which.add_argument("--all", action="store_true", help="every base")


def run(arguments: argparse.Namespace) -> Answer:
    """Retire the bases, then end their jobs, also those of bases that were retired before."""
    opened = open_configured(arguments.run, "expire")
    said = transact(opened.live, Expire(base=None if arguments.all else arguments.base))
    bases = named_bases(opened.registry, None if arguments.all else arguments.base)
    running = _running(opened, bases)
    # All of it is meant before any of it is done: one that ends must not let the next one start.
    for name in running:
        transact(opened.live, RequestKill(job=name, reason=Reason.EXPIRE))
    killed = [kill_row(opened, name, _end(opened, name)) for name in running]
    tell_account(opened)
    return Answer(
        {
            "retired": [known.event.base for known in said if isinstance(known.event, BaseRetired)],
            "bases": list(bases),
            "killed": killed,
            "ok": all(row["ok"] for row in killed),
        }
    )


def _end(opened: OpenRun, name: str) -> Killed:
    """End a job; one that has heard of it and ended itself was ended by this all the same."""
    found = kill(opened, name, Reason.EXPIRE)
    by_itself = not found.killed and job_status(opened.job(name)) == Status.KILLED.value
    return Killed(killed=True) if by_itself else found


def _running(opened: OpenRun, bases: Sequence[str]) -> list[str]:
    return in_order(
        name
        for name, job in opened.registry.jobs.items()
        if not job.ended and job.spec.base in bases
    )
