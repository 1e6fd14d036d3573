"""``forks study check``: what a study file means, before anything of it is run."""

import argparse

from forks_cli.answer import Answer, Exit
from forks_cli.parser import add_study
from forks_cli.study_plan import load_study
from forks_core.decider.study import plan_changes
from forks_core.projections.study import study_row
from forks_core.rules.fingerprint import Change, fingerprint
from forks_core.system.open_run import open_study
from forks_events.codec import unstructure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)


def run(arguments: argparse.Namespace) -> Answer:
    """Read it and all that it names; nothing is recorded."""
    opened = open_study(arguments.file, "study check")
    study = load_study(opened)
    scheduled = opened.registry.study
    changed: dict[str, Change] = {}
    if scheduled:
        fixed = {fingerprint(launch): launch for launch in study.launches}
        known = {**opened.registry.launches, **fixed}
        changed = plan_changes(scheduled.plan, study.plan, known)
        opened.live.log.sync()
    content = {
        "ok": not changed,
        **study_row(study.plan, study.launches, study.blocks),
        "state": str(opened.folder.path),
        "scheduled_at": unstructure(scheduled.at) if scheduled else None,
        "changed": list(changed),
        "changes": changed,
    }
    return Answer(content, Exit.FOUND if changed else Exit.OK)
