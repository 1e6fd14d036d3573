"""Names: job ids, base names, block names, the state folder of a run."""

import re
from collections.abc import Iterable

BASE_NAME = re.compile(r"[A-Za-z0-9_.-]+")
LABEL = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,80}")
"""Names that stand in file names and ids: of studies, tasks and arms, and of accounts."""
ACCOUNT = "default"
"""The account of whoever has only one."""
MODEL_ID = re.compile(r"claude-[a-z0-9-]+(\[1m\])?")
AGENT_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.:-]+")
JOB_ID = re.compile(r"j([0-9]{4,})")
NOTE_LENGTH = 200
"""Characters of a block's name in its note's: file systems take 255 bytes, whatever is added."""


def job_number(job: str) -> int:
    """The number in a job id, or 0 when it has another form. Ids are ordered by it."""
    match = JOB_ID.fullmatch(job)
    return int(match[1]) if match else 0


def next_job(jobs: Iterable[str]) -> str:
    """The id after the largest one there is: ``j`` and at least four digits; never used again."""
    return f"j{max(map(job_number, jobs), default=0) + 1:04}"


def in_order(jobs: Iterable[str]) -> list[str]:
    """Job ids by number: j9999 before j10000."""
    return sorted(jobs, key=lambda job: (job_number(job), job))


def parse_phase(text: str | None) -> int | str | None:
    """A phase of digits is a number; any other text stays one.

    So do more digits than a JSON number holds exactly: neither log nor caller could read them.
    """
    return int(text) if text is not None and re.fullmatch("[0-9]{1,15}", text) else text


def note_name(block: str) -> str:
    """The file name of a block's note: what is not a letter, a digit or one of ``. _ -`` is ``_``.

    A long name is cut; blocks whose notes would then be one are told apart by who came first.
    """
    return re.sub(r"[^A-Za-z0-9._-]", "_", block)[:NOTE_LENGTH] + ".md"


def marker(run: str, job: str) -> str:
    """The value of ``FORKS_JOB``, by which every process of a job is found."""
    return f"{run}/{job}"
