"""``forks train``: a session reads the code once, and becomes a base."""

import argparse
from pathlib import Path

from forks_cli.answer import Answer
from forks_cli.housekeeping import keep_house
from forks_cli.parser import add_run
from forks_core.decider.train import Train, check_train, launch_of
from forks_core.errors import Refused
from forks_core.rules.naming import parse_phase
from forks_core.rules.paths import normalise
from forks_core.rules.prompt import render
from forks_core.system.calls import Request, prepare
from forks_core.system.files import read_text, working_directory
from forks_core.system.launching import launch
from forks_core.system.open_run import OpenRun, open_configured
from forks_templates import TRAIN


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("--base", required=True, metavar="NAME", help="name of the base")
    parser.add_argument("--brief", required=True, metavar="FILE", help="what to read")
    parser.add_argument("--block", help="the caller's name for the work")
    parser.add_argument("--phase", help="the caller's phase")


def run(arguments: argparse.Namespace) -> Answer:
    """Create the base and its job, and start it."""
    opened = open_configured(arguments.run, "train")
    if arguments.block is not None and not arguments.block.strip():
        raise Refused("empty block", block=arguments.block)
    request = Request(
        brief=Path(normalise(arguments.brief, working_directory())),
        block=arguments.block,
        phase=parse_phase(arguments.phase),
    )
    brief = read_text(request.brief, "brief", piped=True)
    # A training that was abandoned must not block its name for good.
    keep_house(opened)
    check_train(opened.registry, arguments.base)
    fixed = opened.registry.launches[launch_of(opened.registry, arguments.base)]
    call = prepare(opened, fixed, request, _prompt(opened, arguments.base, brief))
    job = launch(opened, Train(base=arguments.base, call=call))
    return Answer({"job": job.job, "base": job.base, "session_id": job.session})


def _prompt(opened: OpenRun, base: str, brief: str) -> str:
    folder = opened.folder
    return render(
        read_text(TRAIN, "template"),
        {
            "base": base,
            "run": opened.path,
            "state_dir": str(folder.path),
            "notes_dir": str(folder.notes),
            "logs_dir": str(folder.logs),
            "brief": brief,
        },
    )
