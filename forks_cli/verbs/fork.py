"""``forks fork``: a block of work starts with all that its base has read."""

import argparse
from pathlib import Path

from forks_cli.answer import Answer
from forks_cli.housekeeping import keep_house
from forks_cli.parser import (
    add_launch_fields,
    add_run,
    not_negative_int,
    positive_float,
    refuse_launch_fields,
)
from forks_core.decider.fork import Fork, check_block, check_fork
from forks_core.decider.launching import Call
from forks_core.errors import Refused
from forks_core.projections.bases import NOTHING_DUE
from forks_core.registry import Active, Base
from forks_core.rules.naming import parse_phase
from forks_core.rules.paths import normalise
from forks_core.rules.prompt import commit_rule, delta_header, render
from forks_core.system.calls import Request, delta, prepare
from forks_core.system.files import read_text, working_directory
from forks_core.system.launching import launch
from forks_core.system.open_run import OpenRun, open_configured
from forks_events.codec import unstructure
from forks_events.words import Mode
from forks_templates import FORK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("--base", required=True, metavar="NAME", help="the base to fork")
    parser.add_argument("--block", required=True, help="the caller's name for the work")
    parser.add_argument("--brief", required=True, metavar="FILE", help="the work")
    parser.add_argument("--phase", help="the caller's phase")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default="sequential")
    parser.add_argument("--paths", action="extend", nargs="+", help="paths that it may touch")
    parser.add_argument("--max-minutes", type=positive_float, help="wall-time limit")
    parser.add_argument("--max-budget-usd", type=positive_float, help="the client's own limit")
    parser.add_argument("--stagger-s", type=not_negative_int, help="longest wait for a sibling")
    parser.add_argument("--force", action="store_true", help="also a base that is not active")
    add_launch_fields(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Create the job, and start it."""
    refuse_launch_fields(arguments, "fork")
    mode = Mode(arguments.mode)
    if mode is Mode.PARALLEL and not arguments.paths:
        raise Refused("parallel mode needs --paths", mode=mode.value)
    opened = open_configured(arguments.run, "fork")
    request = Request(
        brief=Path(normalise(arguments.brief, working_directory())),
        block=arguments.block,
        phase=parse_phase(arguments.phase),
    )
    brief = read_text(request.brief, "brief", piped=True)
    keep_house(opened)
    base = check_fork(opened.registry, arguments.base, force=arguments.force)
    check_block(opened.registry, arguments.block)
    call = prepare(
        opened,
        opened.registry.launches[base.fingerprint],
        request,
        _prompt(opened, base, arguments, brief),
    )
    job = launch(opened, _command(arguments, call, mode))
    return Answer(
        {
            "job": job.job,
            "base": job.base,
            "base_state": unstructure(job.base_state),
            "warm_until": unstructure(job.warm_until),
            **NOTHING_DUE,
        }
    )


def _command(arguments: argparse.Namespace, call: Call, mode: Mode) -> Fork:
    minutes = arguments.max_minutes
    return Fork(
        base=arguments.base,
        call=call,
        mode=mode,
        paths=tuple(arguments.paths) if arguments.paths else None,
        max_s=None if minutes is None else minutes * 60,
        max_budget_usd=arguments.max_budget_usd,
        stagger_s=arguments.stagger_s,
        force=arguments.force,
    )


def _prompt(opened: OpenRun, base: Base, arguments: argparse.Namespace, brief: str) -> str:
    folder = opened.folder
    cwd = Path(opened.registry.launches[base.fingerprint].cwd)
    commit = base.state.commit if isinstance(base.state, Active) else None
    return render(
        read_text(FORK, "template"),
        {
            "base": base.name,
            "run": opened.path,
            "state_dir": str(folder.path),
            "block": arguments.block,
            "phase": arguments.phase or "n/a",
            "mode": arguments.mode,
            "delta": delta_header(delta(cwd, commit)),
            "commit_rule": commit_rule(Mode(arguments.mode), arguments.paths),
            "note_path": str(folder.note(arguments.block)),
            "logs_dir": str(folder.logs),
            "brief": brief,
        },
    )
