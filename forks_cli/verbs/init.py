"""``forks init``: fix how the client is launched, and the run's limits."""

import argparse
import uuid
from pathlib import Path

from immutables import Map

from forks_cli.answer import Answer
from forks_cli.launch_fields import (
    admission_of,
    agent_of,
    binary_of,
    cwd_of,
    model_id,
    permission_mode,
    settings_of,
)
from forks_cli.parser import (
    ACCOUNT,
    account_label,
    add_run,
    not_negative_int,
    positive_float,
    positive_int,
)
from forks_cli.rules import split_rules
from forks_cli.version import VERSION
from forks_core.claude.environment import pinned
from forks_core.decider.run import Init, changed_fields
from forks_core.errors import Refused
from forks_core.projections.config import config
from forks_core.system.client import inspect
from forks_core.system.files import file_sha256, read_text, sha256
from forks_core.system.open_run import OpenRun, open_run
from forks_core.transact import transact
from forks_events.values import FileDigest, Launch, Mcp, Settings, Thresholds
from forks_templates import PREAMBLE

TOOLS = "Bash,Read,Edit,Write,Glob,Grep,Skill"
DISALLOWED = (
    "Bash(git push:*)",
    "Bash(git rebase:*)",
    "Bash(git reset --hard:*)",
    "Bash(claude:*)",
)
NO_EFFORT = "none"
EFFORTS = ("low", "medium", "high", "xhigh", "max", NO_EFFORT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    _add_launch(parser)
    _add_settings(parser)


def _add_launch(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", required=True, metavar="ID", help="full model id")
    add("--effort", choices=EFFORTS, default="high", help="none: the client has no such flag")
    add("--permission-mode", default="dontAsk", metavar="MODE")
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
    add = parser.add_argument
    add("--parallel-cap", type=positive_int, default=2, metavar="N", help="forks at once")
    add("--orphan-after", type=positive_int, default=1200, metavar="S")
    add("--pings", choices=("on", "off"), default="on", help="keep bases warm")
    add("--ttl-s", type=positive_int, default=3600, metavar="S", help="life of the cache")
    add("--max-minutes", type=positive_float, default=90, metavar="M", help="limit of a call")
    add("--stall-after-s", type=positive_int, default=900, metavar="S")
    add("--no-output-s", type=positive_int, default=120, metavar="S")
    add("--stagger-s", type=not_negative_int, default=20, metavar="S")
    add("--rebase-commits", type=positive_int, default=6, metavar="N")
    add("--rebase-lines", type=positive_int, default=1500, metavar="N")
    add("--rebase-delta-tokens", type=positive_int, default=12_000, metavar="N")
    add("--max-base-tokens", type=positive_int, default=250_000, metavar="N")
    add("--max-rebases", type=positive_int, default=4, metavar="N")
    add("--account", type=account_label, default=ACCOUNT, metavar="LABEL", help="who pays")
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
    model = model_id(arguments.model)
    mode = permission_mode(arguments.permission_mode)
    tools = split_rules([arguments.tools])
    if not tools:
        raise Refused("--tools is empty")
    allowed = split_rules(arguments.allowed_tools) if arguments.allowed_tools else tools
    disallowed = split_rules(arguments.disallowed_tools or DISALLOWED)
    cwd = cwd_of(arguments.cwd)
    via = admission_of(model, Path(cwd))
    binary, how = binary_of(arguments.binary)
    found = inspect(binary)
    folder = opened.folder
    fixed = folder.preamble
    prompt = file_sha256(fixed) if fixed.exists() else sha256(preamble)
    launch = Launch(
        model=model,
        effort=None if arguments.effort == NO_EFFORT else arguments.effort,
        permission_mode=mode,
        tools=tools,
        allowed_tools=allowed,
        disallowed_tools=disallowed,
        mcp=Mcp(strict=True, config=str(folder.mcp_config)),
        append_system_prompt=FileDigest(path=str(fixed), sha256=prompt or ""),
        agent=agent_of(arguments.agent, cwd),
        settings=settings_of(arguments.settings),
        max_turns=arguments.max_turns,
        cwd=cwd,
        binary=found,
        env=Map(pinned(git_instructions=arguments.git_instructions == "on")),
        keep_env=tuple(sorted(set(arguments.env or ()))),
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
