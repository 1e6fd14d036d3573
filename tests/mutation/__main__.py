"""``python -m tests.mutation``: judge mutants, and report."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from tests.mutation.child import Finding, Outcome
from tests.mutation.mutants import Mutant
from tests.mutation.run import files, findings, mutants, sample
from tests.mutation.survivors import survivors


def main(words: Sequence[str] | None = None) -> int:
    """Judge the mutants that are asked for; 1 when one survives that nothing explains."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("files", nargs="*", help="sources; default: the rules and the decisions")
    parser.add_argument("--sample", type=int, metavar="N", help="only so many of their mutants")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones")
    parser.add_argument("--jobs", type=int, metavar="N", help="at once; default: as CPUs")
    asked = parser.parse_args(words)
    chosen = sample(mutants(asked.files or files()), asked.sample, asked.seed)
    found = list(findings(chosen, asked.jobs))
    unexplained = [
        finding
        for finding in found
        if finding.outcome is Outcome.SURVIVED and not is_explained(finding.mutant)
    ]
    sys.stdout.write("\n".join(report(found, unexplained)) + "\n")
    return 1 if unexplained else 0


def is_explained(mutant: Mutant) -> bool:
    """Whether a survivor is an accepted one."""
    return any(survivor.is_of(mutant) for survivor in survivors())


def report(found: Sequence[Finding], unexplained: Sequence[Finding]) -> list[str]:
    """Tell how many there were of each outcome, and the survivors that nothing explains."""
    counted = Counter(finding.outcome for finding in found)
    figures = [f"{counted[outcome]} {outcome.value}" for outcome in Outcome]
    told = (finding.mutant for finding in unexplained)
    return [
        f"{len(found)} mutants: {', '.join(figures)}, {len(unexplained)} unexplained",
        *(f"{it.file}:{it.number}: {it.operator}: {it.change}" for it in told),
    ]


if __name__ == "__main__":
    sys.exit(main())
