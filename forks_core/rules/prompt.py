"""The prompts: a template and what the run knows, put together."""

from collections.abc import Mapping, Sequence
from string import Template

from attrs import frozen

from forks_events.words import Mode

SHORT = 12


@frozen(kw_only=True)
class Delta:
    """What changed since the base was trained, as git tells it; on failure what git complained of.

    Args:
        commit: The base's commit.
        log: One line a commit, base to HEAD.
        stat: Summary of the working tree against the base.
    """

    commit: str
    log: str
    stat: str


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill ``$name`` in; unknown names stay, and what is filled in is not looked at again."""
    return Template(template).safe_substitute(values)


def delta_header(delta: Delta | None) -> str:
    """Tell a fork how the disk differs from what its base has read."""
    if delta is None:
        return (
            "It is not known which commit the base was trained on: treat everything on disk as "
            "possibly changed since."
        )
    short = delta.commit[:SHORT]
    return (
        f"The base was trained on commit {delta.commit}.\n\n"
        f"Commits {short}..HEAD:\n\n{_fenced(delta.log or '(none)')}\n\n"
        f"Working tree against {short}:\n\n{_fenced(delta.stat or '(no changes)')}"
    )


def _fenced(text: str) -> str:
    return f"```\n{text}\n```"


def commit_rule(mode: Mode, paths: Sequence[str] | None) -> str:
    """Tell a fork whether it commits, and what it may touch."""
    listed = ", ".join(f"`{path}`" for path in paths or ())
    if mode is Mode.PARALLEL:
        return (
            "Other forks work beside you in the same tree. Do not commit and do not stage "
            f"anything. Touch only these paths: {listed}. The orchestrator commits after its gate."
        )
    rule = (
        "When your gate passes, commit your work: name every path explicitly, and never add "
        "everything at once."
    )
    return f"{rule} Expected paths: {listed}." if listed else rule
