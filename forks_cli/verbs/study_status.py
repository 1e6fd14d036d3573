"""``forks study status``: every trial, the blocks, the spend, and what is waited for."""

import argparse

from forks_cli.answer import Answer
from forks_cli.parser import add_study
from forks_cli.study_open import open_scheduled
from forks_core.projections.head import head_row
from forks_core.projections.study_status import study_status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Tell how it stands; nothing is recorded."""
    opened = open_scheduled(arguments.file, "study status")
    run = opened.run
    run.live.log.sync()
    status = study_status(run.registry, opened.blocks, run.live.clock.now())
    return Answer(
        {
            **status,
            "running": opened.is_run,
            "state": str(run.folder.path),
            "head": head_row(run.live.head),
        }
    )
