"""``forks study rows``: every attempt of a study as a row, for who analyses it."""

import argparse
from functools import partial

from forks_cli.answer import Answer
from forks_cli.parser import add_study
from forks_cli.study_open import open_scheduled
from forks_core.projections.head import head_row
from forks_core.projections.rows import attempt_rows
from forks_core.projections.trials import open_trials
from forks_core.system.attempt_texts import attempt_texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)
    parser.add_argument("--jsonl", action="store_true", help="one row a line, and nothing else")
    parser.add_argument(
        "--complete",
        action="store_true",
        help="only what counts: final rows of complete blocks, no smoke",
    )


def run(arguments: argparse.Namespace) -> Answer:
    """Tell them; nothing is recorded."""
    opened = open_scheduled(arguments.file, "study rows")
    run = opened.run
    run.live.log.sync()
    rows = attempt_rows(run.registry, opened.blocks, partial(attempt_texts, run.folder))
    if arguments.complete:
        rows = [
            row for row in rows if row["final"] and not row["smoke"] and not row["block_incomplete"]
        ]
    if arguments.jsonl:
        return Answer(lines=rows)
    return Answer(
        {
            "rows": rows,
            "complete": arguments.complete,
            "open": len(open_trials(run.registry)),
            "head": head_row(run.live.head),
        }
    )
