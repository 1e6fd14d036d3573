"""The survivors that are accepted, each with the reason."""

import tomllib
from pathlib import Path

from attrs import frozen

from tests.mutation.mutants import Mutant

FILE = Path(__file__).parent / "survivors.toml"


@frozen(kw_only=True)
class Survivor:
    """A mutant that no test can, or need, find.

    Args:
        file: The source.
        line: The line, without the blanks around it.
        operator: Name of the operator.
        change: What became of what.
        why: Why it is no fault, or why it may live.
    """

    file: str
    line: str
    operator: str
    change: str
    why: str

    def is_of(self, mutant: Mutant) -> bool:
        """Whether it tells of this mutant."""
        told = (self.file, self.line, self.operator, self.change)
        return told == (mutant.file, mutant.line, mutant.operator, mutant.change)


def survivors() -> list[Survivor]:
    """The accepted survivors."""
    told = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return [Survivor(**row) for row in told.get("survivor", [])]
