"""Arguments: argparse, made to answer instead of printing and exiting."""

import argparse
import re
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

from forks_core.errors import Refused
from forks_core.rules.naming import ACCOUNT, LABEL

Number = TypeVar("Number", int, float)

LAUNCH_FIELDS = (
    "model",
    "effort",
    "permission-mode",
    "tools",
    "allowed-tools",
    "disallowed-tools",
    "agent",
    "cwd",
    "binary",
    "settings",
    "max-turns",
    "env",
    "git-instructions",
)
# An entry of a listing: its name, of one word or two, and at least two spaces.
_ENTRY = re.compile(r" +\S+( \S+)?  +")
LARGEST = 1_000_000_000
"""No number of ours is larger: as seconds it is 31 years, and times can still be reckoned."""


class UsageError(Exception):
    """The words of the call are off; ``usage`` is the usage line of the parser that failed."""

    def __init__(self, detail: str, usage: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.usage = usage


class HelpAsked(Exception):
    """Help was asked for, and this is the text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> NoReturn:
        raise HelpAsked(parser.format_help())


class _Form(argparse.ArgumentDefaultsHelpFormatter):
    """Help whose lines stay lines, with the defaults that say something."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            textwrap.fill(
                line, width, initial_indent=indent, subsequent_indent=indent + _hang(line)
            )
            for line in text.splitlines()
        )

    def _get_help_string(self, action: argparse.Action) -> str | None:
        plain = action.default is None or action.default is False
        return action.help if plain else super()._get_help_string(action)


def _hang(line: str) -> str:
    """Where an entry of a listing goes on: below its second column."""
    entry = _ENTRY.match(line)
    return " " * entry.end() if entry else ""


class Parser(argparse.ArgumentParser):
    """A parser that raises what it has to say."""

    def __init__(self, prog: str, description: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            add_help=False,
            formatter_class=_Form,
        )
        self.add_argument(
            "-h", "--help", action=_Help, nargs=0, default=argparse.SUPPRESS, help="show this"
        )
        form = self.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="answer as JSON, on a terminal too")
        form.add_argument("--text", action="store_true", help="answer as text, also in a pipe")

    def error(self, message: str) -> NoReturn:
        """Raise a usage error; argparse would print and exit."""
        raise UsageError(message, self.format_usage().strip())

    def refuse_command(self, words: Sequence[str]) -> NoReturn:
        """Refuse a call that names no command of ours; help may be what it asks for."""
        wanted = words[1:] if self.prog.endswith(f" {words[0]}") else words
        if wanted and wanted[0] in {"-h", "--help"}:
            raise HelpAsked(self.format_help())
        self.error(f"unknown command: {wanted[0]}" if wanted else "a command is required")

    def parse_all(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse, and refuse words that are left over."""
        arguments, unknown = self.parse_known_args(words)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return arguments


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add ``--run``, which every verb on a run requires."""
    parser.add_argument("--run", required=True, metavar="LOG.md", help="path of the run log")


def add_study(parser: argparse.ArgumentParser) -> None:
    """Add the study's file, which every verb on a study takes."""
    parser.add_argument("file", metavar="FILE.toml", help="the study file")


def add_account(parser: argparse.ArgumentParser, default: str | None = ACCOUNT) -> None:
    """Add ``--account``, the label of whoever pays."""
    parser.add_argument(
        "--account", type=account_label, default=default, metavar="LABEL", help="who pays"
    )


def add_launch_fields(parser: argparse.ArgumentParser) -> None:
    """Add the launch's fields, which only init may set, so that they can be refused by name."""
    for name in LAUNCH_FIELDS:
        parser.add_argument(f"--{name}", nargs="*", help=argparse.SUPPRESS)


def refuse_launch_fields(arguments: argparse.Namespace, command: str) -> None:
    """Refuse the launch's fields, naming all that were given."""
    values = vars(arguments)
    given = [name for name in LAUNCH_FIELDS if values.get(name.replace("-", "_")) is not None]
    if given:
        raise Refused("launch fields are fixed at init", fields=given, command=command)


def positive_int(text: str) -> int:
    """Read an integer over 0."""
    value = _whole(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be greater than 0: {text}")
    return _bounded(value)


def not_negative_int(text: str) -> int:
    """Read an integer of 0 or more."""
    value = _whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative: {text}")
    return _bounded(value)


def positive_float(text: str) -> float:
    """Read a number over 0."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text}") from None
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be greater than 0: {text}")
    return _bounded(value)


def share(text: str) -> float:
    """Read a share over 0, at most 1."""
    value = positive_float(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"must be at most 1: {text}")
    return value


def account_label(text: str) -> str:
    """Read the label of an account."""
    if not LABEL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"not a label of letters, digits and . _ -: {text}")
    return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a whole number: {text}") from None


def _bounded(value: Number) -> Number:
    if value > LARGEST:
        raise argparse.ArgumentTypeError(f"must be at most {LARGEST}")
    return value
