"""``forks study schedule``: register a study and put its trials in order, once."""

import argparse
import uuid

from attrs import evolve

from forks_cli.answer import Answer
from forks_cli.parser import add_account, add_study
from forks_cli.settings import DEFAULTS
from forks_cli.study_plan import load_study
from forks_cli.version import VERSION
from forks_core.decider.study import Schedule
from forks_core.errors import Refused
from forks_core.projections.head import head_row
from forks_core.rules.naming import ACCOUNT
from forks_core.rules.schedule import flat, seed
from forks_core.system.agents import lend_agents
from forks_core.system.files import read_text
from forks_core.system.open_run import OpenRun, open_study
from forks_core.transact import transact
from forks_events.codec import unstructure
from forks_events.study import Entry
from forks_templates import PREAMBLE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)
    add_account(parser, default=None)
    parser.add_argument(
        "--lab", action="store_true", help="a demonstration or a test: no account hears of it"
    )


def run(arguments: argparse.Namespace) -> Answer:
    """Register it, or find it registered as it stands."""
    opened = open_study(arguments.file, "study schedule")
    said = _schedule(opened, account=arguments.account, lab=arguments.lab)
    study = opened.registry.study
    assert study is not None  # noqa: S101 - it was scheduled just now, or before
    return Answer(
        {
            "ok": True,
            "id": study.plan.id,
            "state": str(opened.folder.path),
            "scheduled_at": unstructure(study.at),
            "changed": said,
            "trials": [trial_row(entry) for entry in study.entries],
            "head": head_row(opened.live.head),
        }
    )


def _schedule(opened: OpenRun, *, account: str | None, lab: bool) -> bool:
    """Tell whether something was recorded."""
    study = load_study(opened)
    if opened.live.head.seq == 0 and opened.folder.has_evidence():
        raise Refused(
            "the log is missing or empty, but the state folder holds earlier work",
            state=str(opened.folder.path),
        )
    opened.folder.create(read_text(PREAMBLE, "preamble").encode())
    lend_agents(opened.folder, study.launches)
    command = Schedule(
        run=str(uuid.uuid4()),
        forks_version=VERSION,
        lab=lab,
        launches=study.launches,
        settings=evolve(DEFAULTS, pings=False, account=account or _account(opened)),
        plan=study.plan,
        entries=flat(study.blocks),
    )
    return bool(transact(opened.live, command))


def _account(opened: OpenRun) -> str:
    """Who pays where nobody says: the one who did before."""
    configured = opened.registry.run and opened.registry.run.configured
    return configured.settings.account if configured else ACCOUNT


def trial_row(entry: Entry) -> dict[str, object]:
    """A trial as the schedule has it, with the seed that both arms of its pair are given."""
    return {**unstructure(entry), "seed": seed(entry.task, entry.run_index)}
