"""``forks study stop``: end a study's run after this attempt; asked again, at once."""

import argparse

from forks_cli.answer import Answer
from forks_cli.parser import add_study
from forks_cli.study_open import open_scheduled
from forks_core.decider.runner import RequestStop
from forks_core.projections.trials import going_on
from forks_core.transact import transact


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Ask for it; a study that is not run is left as it is."""
    opened = open_scheduled(arguments.file, "study stop")
    run, lives = opened.run, opened.is_run
    runner = run.registry.runner
    started = runner.started
    asked = lives and bool(transact(run.live, RequestStop(nth=runner.stops + 1)))
    stops = run.registry.runner.stops
    orphans = [] if lives else going_on(run.registry)
    return Answer(
        {
            "ok": True,
            "asked": asked,
            "running": lives,
            "at_once": stops > 1,
            "runner": started.runner.pid if started and lives else None,
            # Nobody goes through it, and yet these go on: they end by themselves, or by forks kill.
            "going_on": list(orphans),
        }
    )
