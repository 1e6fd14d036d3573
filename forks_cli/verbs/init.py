"""``forks init``: fix how the client is launched, and the run's limits."""

import argparse
import uuid
from pathlib import Path

from forks_cli.answer import Answer
from forks_cli.launch import (
    EFFORT,
    EFFORTS,
    PERMISSION_MODE,
    TOOLS,
    Wanted,
    launch_of,
    rules_of,
)
from forks_cli.launch_fields import admission_of, binary_of, cwd_of
from forks_cli.parser import (
    add_account,
    add_run,
    not_negative_int,
    positive_float,
    positive_int,
)
from forks_cli.settings import DEFAULTS
from forks_cli.version import VERSION
from forks_core.decider.run import Init, changed_fields
from forks_core.errors import Refused
from forks_core.projections.config import config
from forks_core.rules.paths import normalise
from forks_core.system.client import inspect
from forks_core.system.files import file_sha256, read_text, sha256, working_directory
from forks_core.system.open_run import OpenRun, open_run
from forks_core.transact import transact
from forks_events.values import FileDigest, Settings, Thresholds
from forks_templates import PREAMBLE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    _add_launch(parser)
    _add_settings(parser)


def _add_launch(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="ID", help="full model id")
    add("--effort", choices=EFFORTS, default=EFFORT, help="none: the client has no such flag")
    add("--permission-mode", default=PERMISSION_MODE, metavar="MODE")
    add("--tools", default=TOOLS, metavar="LIST", help="tools that exist")
    add("--allowed-tools", action="extend", nargs="+", metavar="RULE", help="default: the tools")
    add("--disallowed-tools", action="extend", nargs="+", metavar="RULE")
    add("--agent", metavar="NAME", help="agent to run as")
    add("--cwd", metavar="DIR", help="working directory; default: top of the git tree")
    add("--binary", metavar="PATH", help="the client; default: what the environment names")
    add("--settings", metavar="FILE", help="settings file of the client")
    add("--max-turns", type=positive_int, metavar="N", help="the client's own limit on turns")
    add("--env", action="extend", nargs="+", metavar="NAME", help="names that the scrub spares")
    add("--git-instructions", choices=("on", "off"), default="off")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    add, due = parser.add_argument, DEFAULTS.thresholds
    add(
        "--parallel-cap",
        type=positive_int,
        default=DEFAULTS.parallel_cap,
        metavar="N",
        help="forks at once",
    )
    add("--orphan-after", type=positive_int, default=DEFAULTS.orphan_after, metavar="S")
    add("--pings", choices=("on", "off"), default="on", help="keep bases warm")
    add("--ttl-s", type=positive_int, default=DEFAULTS.ttl_s, metavar="S", help="life of the cache")
    add(
        "--max-minutes",
        type=positive_float,
        default=DEFAULTS.max_minutes,
        metavar="M",
        help="limit of a call",
    )
    add("--stall-after-s", type=positive_int, default=DEFAULTS.stall_after_s, metavar="S")
    add("--no-output-s", type=positive_int, default=DEFAULTS.no_output_s, metavar="S")
    add("--stagger-s", type=not_negative_int, default=DEFAULTS.stagger_s, metavar="S")
    add("--rebase-commits", type=positive_int, default=due.rebase_commits, metavar="N")
    add("--rebase-lines", type=positive_int, default=due.rebase_lines, metavar="N")
    add("--rebase-delta-tokens", type=positive_int, default=due.rebase_delta_tokens, metavar="N")
    add("--max-base-tokens", type=positive_int, default=due.max_base_tokens, metavar="N")
    add("--max-rebases", type=positive_int, default=due.max_rebases, metavar="N")
    add_account(parser)
    add("--lab", action="store_true", help="a demonstration or a test: no account hears of it")


def run(arguments: argparse.Namespace) -> Answer:
    """Check everything, then make the state folder and record the launch."""
    opened = open_run(arguments.run, "init")
    _check_place(opened)
    preamble = read_text(PREAMBLE, "preamble").encode()
    command = _command(arguments, opened, preamble)
    before = opened.registry
    opened.folder.create(preamble)
    changed = _record(opened, command) and before.run is not None
    return Answer(
        {
            "ok": True,
            "state": str(opened.folder.path),
            "registry": str(opened.folder.log),
            "created": before.run is None,
            "changed": changed,
            "changed_fields": list(changed_fields(command, before)),
            "config": config(opened.registry),
        }
    )


def _check_place(opened: OpenRun) -> None:
    """Refuse a place that is not there, and one whose log is gone: its work must not be mixed."""
    if not Path(opened.path).parent.exists():
        raise Refused("the run log's folder is not there", run=opened.path)
    if opened.live.head.seq == 0 and opened.folder.has_evidence():
        raise Refused(
            "the log is missing or empty, but the state folder holds earlier work; "
            "bring the log back, or take another run log",
            state=str(opened.folder.path),
        )


def _record(opened: OpenRun, command: Init) -> bool:
    """Tell whether something was recorded."""
    try:
        return bool(transact(opened.live, command))
    except Refused as error:
        raise Refused(error.message, **error.fields, state=str(opened.folder.path)) from error


def _command(arguments: argparse.Namespace, opened: OpenRun, preamble: bytes) -> Init:
    wanted = _wanted(arguments)
    rules = rules_of(wanted)
    cwd = cwd_of(arguments.cwd)
    via = admission_of(wanted.model, Path(cwd))
    binary, how = binary_of(arguments.binary)
    found = inspect(binary)
    fixed = opened.folder.preamble
    digest = file_sha256(fixed) if fixed.exists() else sha256(preamble)
    launch = launch_of(
        wanted,
        rules,
        folder=cwd,
        cwd=cwd,
        binary=found,
        mcp_config=str(opened.folder.mcp_config),
        prompt=FileDigest(path=str(fixed), sha256=digest or ""),
    )
    return Init(
        run=str(uuid.uuid4()),
        forks_version=VERSION,
        lab=arguments.lab,
        launch=launch,
        settings=_settings(arguments),
        binary_resolved_by=how,
        model_admission=via,
    )


def _wanted(arguments: argparse.Namespace) -> Wanted:
    settings = arguments.settings
    return Wanted(
        model=arguments.model,
        effort=arguments.effort,
        permission_mode=arguments.permission_mode,
        tools=[arguments.tools],
        allowed_tools=arguments.allowed_tools,
        disallowed_tools=arguments.disallowed_tools,
        agent=arguments.agent,
        settings=None if settings is None else normalise(settings, working_directory()),
        max_turns=arguments.max_turns,
        env=arguments.env,
        git_instructions=arguments.git_instructions == "on",
    )


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        parallel_cap=arguments.parallel_cap,
        orphan_after=arguments.orphan_after,
        pings=arguments.pings == "on",
        ttl_s=arguments.ttl_s,
        max_minutes=float(arguments.max_minutes),
        stall_after_s=arguments.stall_after_s,
        no_output_s=arguments.no_output_s,
        stagger_s=arguments.stagger_s,
        thresholds=Thresholds(
            rebase_commits=arguments.rebase_commits,
            rebase_lines=arguments.rebase_lines,
            rebase_delta_tokens=arguments.rebase_delta_tokens,
            max_base_tokens=arguments.max_base_tokens,
            max_rebases=arguments.max_rebases,
        ),
        account=arguments.account,
    )
