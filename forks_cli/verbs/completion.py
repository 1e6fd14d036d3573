"""``forks completion``: the script that completes forks' words in a shell."""

import argparse
from importlib import import_module

import shtab

from forks_cli.answer import Answer
from forks_cli.parser import Parser
from forks_cli.verbs import GROUPS, SUMMARIES, module_of

SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("shell", choices=SHELLS, help="whose completion")


def run(arguments: argparse.Namespace) -> Answer:
    """Make the script; with ``--text`` it is printed as it is, to be sourced."""
    return Answer({"shell": arguments.shell, "script": shtab.complete(_whole(), arguments.shell)})


def _whole() -> argparse.ArgumentParser:
    """One parser that knows every verb: the real ones are only made when they are needed."""
    top = argparse.ArgumentParser(prog="forks", description="Train once, fork per block of work.")
    top.add_argument("--version", action="store_true", help="print the version")
    verbs = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    groups = {
        group: verbs.add_parser(group, help=f"the commands of {group}").add_subparsers(
            dest=group, metavar="COMMAND", parser_class=Parser
        )
        for group in sorted(GROUPS)
    }
    for name, summary in SUMMARIES.items():
        group, _, rest = name.rpartition(" ")
        parser = (groups[group] if group else verbs).add_parser(rest, help=summary)
        import_module(module_of(name)).add_arguments(parser)
    return top
