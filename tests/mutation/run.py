"""Running mutants: which tests judge a file, and what the judgement comes to."""

import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from hypothesis import Phase, settings

from tests.mutation.child import Child, Finding, judge
from tests.mutation.mutants import ROOT, Mutant, mutants_of

ROOMS = ("forks_core/rules", "forks_core/decider")
TIMEOUT_S = 60.0
# Rules are judged by their own tests first, then by those of the decisions that rest on them.
_ALL = "tests/decider"
# Tests of other names that a file's rules are proved by.
_ALSO = {
    "models": ("tests/rules/test_outcome.py", "tests/rules/test_usage.py"),
    "flags": ("tests/rules/test_outcome_overruled.py", "tests/rules/test_outcome.py"),
    "outcome": ("tests/claude/test_recordings.py",),
    "usage": ("tests/claude/test_recordings.py",),
}
_POLL_S = 0.01


def files() -> list[str]:
    """The sources of the rooms that are mutated."""
    return [
        str(path.relative_to(ROOT)) for room in ROOMS for path in sorted((ROOT / room).glob("*.py"))
    ]


def stages_of(file: str) -> list[list[str]]:
    """The tests that judge a file, the likeliest first."""
    path = Path(file)
    mirror = ROOT / "tests" / path.parent.name
    name = path.stem.removesuffix("_")
    own = sorted(str(test.relative_to(ROOT)) for test in mirror.glob(f"test_{name}*.py"))
    first = [*own, *_ALSO.get(name, ())]
    return [*([first] if first else []), [_ALL]]


def mutants(names: Sequence[str]) -> list[Mutant]:
    """Every mutant of these sources."""
    return [
        mutant
        for name in names
        for mutant in mutants_of(name, (ROOT / name).read_text(encoding="utf-8"))
    ]


def sample(found: Sequence[Mutant], number: int | None, seed: int) -> list[Mutant]:
    """So many of the mutants, the same ones for the same seed; all of them without a number."""
    if number is None or number >= len(found):
        return list(found)
    chosen = random.Random(seed).sample(range(len(found)), number)
    return [found[at] for at in sorted(chosen)]


def findings(chosen: Sequence[Mutant], jobs: int | None = None) -> Iterator[Finding]:
    """Judge mutants, several at once, as they come."""
    _be_quick()
    waiting, working = list(reversed(chosen)), list[Child]()
    while waiting or working:
        while waiting and len(working) < (jobs or os.cpu_count() or 1):
            mutant = waiting.pop()
            working.append(judge(mutant, stages_of(mutant.file), TIMEOUT_S))
        for child in list(working):
            if (finding := child.poll()) is not None:
                working.remove(child)
                yield finding
        time.sleep(_POLL_S)


def _be_quick() -> None:
    """Let laws look at fewer cases, the same ones each time, and not shrink what they find."""
    settings.register_profile(
        "mutation",
        max_examples=30,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
    )
    settings.load_profile("mutation")
