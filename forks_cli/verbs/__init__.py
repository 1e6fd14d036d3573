"""The verbs: a file each, with its arguments and what it does.

Only the one that is asked for is imported, since imports cost more than work.
"""

from collections.abc import Sequence
from keyword import iskeyword

SUMMARIES = {
    "where": "say what forks runs on, and what would make the next command fail",
    "init": "fix a run's launch and settings",
    "train": "train a base",
    "fork": "fork a base for a block of work",
    "continue": "go on in the session of a fork that is over",
    "wait": "wait for jobs and deliver their results",
    "list": "list bases and jobs",
    "kill": "end a job and all its processes",
    "expire": "retire bases, and end what runs of them",
    "show": "show a job or a base in full, any number of times",
    "replay": "fold the log up to an event or a time",
    "gate": "say whether a study may be launched, by the latest readings of the quota",
    "quota": "tell an account's quota windows, their ages and their resets",
    "spend": "tell what an account has spent",
    "study check": "say what a study file means",
    "study schedule": "register a study and put its trials in order, once",
    "study preflight": "look at all that a study depends on, before its first trial",
    "study run": "go through a study's trials; run it again to go on",
    "study status": "tell how a study stands",
    "study stop": "end a study's run after this attempt; asked again, at once",
    "study rows": "tell every attempt of a study as a row",
    "demo": "run the main job in a folder of its own, against a stand-in or a real client",
    "completion": "print a shell's completion script",
}

# A session that is a fork itself must not start others.
LAUNCHING = frozenset({"train", "fork", "continue", "study run"})


GROUPS = frozenset(name.partition(" ")[0] for name in SUMMARIES if " " in name)
"""First words of the verbs that have two."""


def module_of(verb: str) -> str:
    """The module of a verb; one that Python keeps for itself has an underscore behind it."""
    name = verb.replace(" ", "_")
    return f"forks_cli.verbs.{name}{'_' if iskeyword(name) else ''}"


def split_verb(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The verb that a call names, of one word or two, and the words behind it."""
    length = 2 if words and words[0] in GROUPS else 1
    return " ".join(words[:length]), words[length:]
