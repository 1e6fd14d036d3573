"""The process contract: exactly one JSON object on standard output, whatever happens.

Order of checks: parse, help, unknown words, the refusal inside a fork, then the verb.
"""

import os
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from forks_cli.answer import Answer, Exit, as_json, write_out
from forks_cli.parser import HelpAsked, Parser, UsageError
from forks_cli.verbs import GROUPS, LAUNCHING, SUMMARIES, module_of, split_verb
from forks_core.claude.environment import CHILD
from forks_core.errors import ForksError, Refused

_STANDARD_ERROR = 2


def main() -> int:
    """Run one command, and return its exit code."""
    _fill_standard_streams()
    words = sys.argv[1:]
    said = answer(words)
    # What was done is told now, whoever wants us to end.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return said.code if write_out(_shown(words, said)) else Exit.REFUSED


def _shown(words: Sequence[str], said: Answer) -> str:
    """The answer for who reads it; a text that cannot be made must not lose it."""
    if said.lines is None and wants_text(words):
        try:
            return as_text(words, said.content)
        except Exception:  # noqa: BLE001 - what was done is done, and is told
            traceback.print_exc()
    return as_json(said)


def wants_text(words: Sequence[str]) -> bool:
    """Tell whether a person reads: on a terminal, or when text is asked for; never inside a fork."""
    if os.environ.get(CHILD) or _is_given("--json", words):
        return False
    return _is_given("--text", words) or _on_a_terminal()


def _is_given(option: str, words: Sequence[str]) -> bool:
    """Tell whether an option was given, perhaps cut short; behind ``--`` there are none."""
    options = words[: words.index("--")] if "--" in words else words
    return any(len(word) > len("--") and option.startswith(word) for word in options)


def _on_a_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def as_text(words: Sequence[str], content: Mapping[str, Any]) -> str:
    """The same answer for people."""
    render: Any = import_module("forks_cli.text").render
    text: str = render(words, content, terminal=_on_a_terminal())
    return text


def _fill_standard_streams() -> None:
    """Let no file of ours take the number of a standard stream that the caller has closed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        pass
    os.close(number)


def answer(words: Sequence[str]) -> Answer:
    """Answer one command; nothing is raised but what ends the process anyway."""
    try:
        return _dispatch(words)
    except HelpAsked as asked:
        return Answer({"help": asked.text, "commands": list(SUMMARIES)})
    except UsageError as error:
        return Answer(
            {"error": "usage", "detail": error.detail, "usage": error.usage}, Exit.REFUSED
        )
    except ForksError as error:
        return Answer({"error": error.message, **error.fields}, Exit.REFUSED)
    except KeyboardInterrupt:
        return Answer({"error": "interrupted"}, Exit.REFUSED)
    except Exception as error:  # noqa: BLE001 - the one-object rule holds for our own bugs too
        traceback.print_exc()
        return Answer(
            {"error": "internal error", "type": type(error).__name__, "detail": str(error)},
            Exit.REFUSED,
        )


def _dispatch(words: Sequence[str]) -> Answer:
    top = _top_parser()
    if any(not _is_unicode(word) for word in words):
        top.error("arguments must be Unicode text")
    if not words or words[0].startswith("-"):
        arguments = top.parse_all(words)
        if arguments.version:
            return Answer({"version": import_module("forks_cli.version").VERSION})
        top.error("a command is required")
    name, rest = split_verb(words)
    if name not in SUMMARIES:
        (_group_parser(words[0]) if words[0] in GROUPS else top).refuse_command(words)
    verb: Any = import_module(module_of(name))
    parser = Parser(f"forks {name}", SUMMARIES[name])
    verb.add_arguments(parser)
    parsed = parser.parse_all(rest)
    if name in LAUNCHING and os.environ.get(CHILD):
        raise Refused(f"not inside a fork: {CHILD} is set", command=name)
    result: Answer = verb.run(parsed)
    return result


def _is_unicode(word: str) -> bool:
    """Tell it from bytes that are no UTF-8, which neither a log nor JSON can hold."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def _top_parser() -> Parser:
    parser = Parser("forks", "Train one agent session, fork it once per block of work.")
    parser.usage = "forks [-h|--version] COMMAND ..."
    parser.epilog = _listing(SUMMARIES)
    parser.add_argument("--version", action="store_true", help="print the version")
    return parser


def _group_parser(group: str) -> Parser:
    parser = Parser(f"forks {group}", f"The commands of {group}.")
    parser.usage = f"forks {group} [-h] COMMAND ..."
    parser.epilog = _listing(name for name in SUMMARIES if name.partition(" ")[0] == group)
    return parser


def _listing(names: Iterable[str]) -> str:
    width = max(map(len, SUMMARIES))
    lines = (f"  {name:{width}}  {SUMMARIES[name]}" for name in names)
    return "\n".join(("commands:", *lines))
