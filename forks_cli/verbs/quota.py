"""``forks quota``: what is known of an account's windows, how old that is, and when they reset."""

import argparse

from forks_cli.answer import Answer
from forks_cli.parser import add_account
from forks_core.projections.head import head_row
from forks_core.projections.quota import gate_row, quota_row
from forks_core.registry import UNREAD
from forks_core.rules.quota import current, gate
from forks_core.system.account import open_account


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_account(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Tell the latest readings; nothing is asked of anybody, and nothing recorded."""
    account = open_account("quota")
    account.log.sync()
    now = account.clock.now()
    quota = account.registry.quotas.get(arguments.account, UNREAD)
    return Answer(
        {
            "account": arguments.account,
            "accounts": sorted(account.registry.quotas),
            **quota_row(quota, now),
            "gate": gate_row(gate(current(quota, now))),
            "head": head_row(account.head),
        }
    )
