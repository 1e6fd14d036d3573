"""``forks list``: the bases and the jobs, as they stand."""

import argparse

from forks_cli.answer import Answer
from forks_cli.housekeeping import keep_house
from forks_cli.parser import add_run
from forks_core.decider.run import SeeOrchestrator, settings_of
from forks_core.projections.bases import base_row
from forks_core.projections.head import head_row
from forks_core.projections.jobs import job_row
from forks_core.rules.naming import in_order
from forks_core.system.open_run import open_configured
from forks_core.transact import transact


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Reap what is lost, then tell how all of it stands."""
    opened = open_configured(arguments.run, "list")
    transact(opened.live, SeeOrchestrator())
    lost = keep_house(opened)
    opened.live.log.sync()
    registry, now = opened.registry, opened.live.clock.now()
    ttl_s, lost_after_s = settings_of(registry).ttl_s, opened.timings.lost_after_s
    names = in_order(registry.jobs)
    return Answer(
        {
            "state": str(opened.folder.path),
            "bases": [
                base_row(registry, registry.bases[name], ttl_s, now)
                for name in sorted(registry.bases)
            ],
            "jobs": [job_row(registry, registry.jobs[name], now, lost_after_s) for name in names],
            "running": [name for name in names if not registry.jobs[name].ended],
            "lost_now": lost,
            "head": head_row(opened.live.head),
        }
    )
