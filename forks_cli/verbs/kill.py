"""``forks kill``: end a job and every process that belongs to it."""

import argparse

from forks_cli.answer import Answer
from forks_cli.housekeeping import tell_account
from forks_cli.killed import kill_row
from forks_cli.parser import add_run
from forks_core.system.killer import kill
from forks_core.system.open_run import open_configured
from forks_events.words import Reason


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("--job", required=True, metavar="JOB", help="the job to end")


def run(arguments: argparse.Namespace) -> Answer:
    """End it; a job that has ended is left as it is."""
    opened = open_configured(arguments.run, "kill")
    killed = kill(opened, arguments.job, Reason.KILL)
    tell_account(opened)
    return Answer(kill_row(opened, arguments.job, killed))
