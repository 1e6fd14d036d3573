"""What a verb answers: one JSON object, and an exit code."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from attrs import field, frozen

from forks_cli.tame import one_line


class Exit(IntEnum):
    """The exit codes."""

    OK = 0
    FOUND = 1
    REFUSED = 2
    NOT_MET = 3
    NOT_OK = 4
    REMAIN = 5
    PINS = 7
    LATER = 75


@frozen
class Answer:
    """What is printed, and how the process exits.

    Args:
        content: The object.
        code: The exit code.
        lines: Objects to print instead, one a line, where that was asked for.
    """

    content: Mapping[str, Any] = field(factory=dict)
    code: Exit = Exit.OK
    lines: Sequence[Mapping[str, Any]] | None = None


def as_json(answer: Answer) -> str:
    """The object as one line, or each of its lines."""
    objects = [answer.content] if answer.lines is None else answer.lines
    return "".join(json.dumps(one) + "\n" for one in objects)


def write_out(text: str) -> bool:
    """Write to standard output, flushed; tell whether anybody could have read it."""
    if sys.stdout is None:
        diagnose("cannot write the answer: standard output is closed")
        return False
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that does not know a letter shows its number.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Nobody reads any more; the interpreter must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        diagnose(f"cannot write the answer: {error}")
        return False
    return True


def diagnose(text: str) -> None:
    """Say something to whoever watches, on standard error; nobody need."""
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"forks: {one_line(text)}\n")
        sys.stderr.flush()
