"""``forks study preflight``: look at all that a study depends on; no trial is started."""

import argparse

from forks_cli.answer import Answer, Exit
from forks_cli.parser import add_study
from forks_cli.preflight import look, preflight_row
from forks_cli.study_open import open_scheduled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Look, and tell; nothing is recorded."""
    opened = open_scheduled(arguments.file, "study preflight")
    found = look(opened)
    return Answer(preflight_row(found), _code(found.failures()))


def _code(failures: object) -> Exit:
    return Exit.FOUND if failures else Exit.OK
