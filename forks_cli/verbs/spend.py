"""``forks spend``: what an account has spent, by who and what for, by run, by day."""

import argparse

from forks_cli.answer import Answer
from forks_cli.parser import add_account
from forks_core.projections.head import head_row
from forks_core.projections.spend import spend_row
from forks_core.system.account import open_account


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_account(parser)
    parser.add_argument("--who", metavar="NAME", help="only what this one spent")


def run(arguments: argparse.Namespace) -> Answer:
    """Add it up; nothing is recorded."""
    account = open_account("spend")
    account.log.sync()
    spends = [
        spend
        for spend in account.registry.booked.values()
        if spend.account == arguments.account and arguments.who in {None, spend.who}
    ]
    return Answer(
        {"account": arguments.account, **spend_row(spends), "head": head_row(account.head)}
    )
