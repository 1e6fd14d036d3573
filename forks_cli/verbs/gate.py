"""``forks gate``: whether a study may be launched, by what was last read of the quota."""

import argparse

from forks_cli.answer import Answer, Exit
from forks_cli.parser import add_account, share
from forks_core.projections.head import head_row
from forks_core.projections.quota import launch_gate_row
from forks_core.registry import UNREAD
from forks_core.rules.quota import SEVEN_DAY_STOP, Launching, launch_gate
from forks_core.system.account import open_account


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_account(parser)
    parser.add_argument(
        "--stop",
        type=share,
        default=SEVEN_DAY_STOP,
        metavar="SHARE",
        help="share of the seven-day window from which it is closed",
    )


def run(arguments: argparse.Namespace) -> Answer:
    """Judge the latest readings; nothing is asked of anybody, and nothing recorded."""
    account = open_account("gate")
    account.log.sync()
    quota = account.registry.quotas.get(arguments.account, UNREAD)
    found = launch_gate(quota, account.clock.now(), stop=arguments.stop)
    content = {
        **launch_gate_row(found),
        "account": arguments.account,
        "head": head_row(account.head),
    }
    return Answer(content, Exit.LATER if found.action is Launching.GATED else Exit.OK)
