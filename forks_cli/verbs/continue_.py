"""``forks continue``: a fork's session goes on with another brief."""

import argparse
from pathlib import Path

from forks_cli.answer import Answer
from forks_cli.housekeeping import keep_house
from forks_cli.parser import add_launch_fields, add_run, positive_float, refuse_launch_fields
from forks_core.decider.continue_ import Continue, check_continue, session_of
from forks_core.rules.paths import normalise
from forks_core.system.calls import Request, prepare
from forks_core.system.files import read_text, working_directory
from forks_core.system.launching import launch
from forks_core.system.open_run import open_configured


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("--job", required=True, metavar="JOB", help="the fork to continue")
    parser.add_argument("--brief", required=True, metavar="FILE", help="what to do now")
    parser.add_argument("--max-minutes", type=positive_float, help="wall-time limit")
    add_launch_fields(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Create the job, and start it; the brief is the prompt as it is."""
    refuse_launch_fields(arguments, "continue")
    opened = open_configured(arguments.run, "continue")
    path = Path(normalise(arguments.brief, working_directory()))
    brief = read_text(path, "brief", piped=True)
    keep_house(opened)
    fork = check_continue(opened.registry, arguments.job)
    request = Request(brief=path, block=fork.spec.block, phase=fork.spec.phase)
    call = prepare(opened, opened.launch_of(fork), request, brief, session=session_of(fork))
    minutes = arguments.max_minutes
    command = Continue(
        job=arguments.job, call=call, max_s=None if minutes is None else minutes * 60
    )
    return Answer({"job": launch(opened, command).job})
