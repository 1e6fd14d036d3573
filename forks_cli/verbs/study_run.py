"""``forks study run``: go through a study's trials; to go on, run it again."""

import argparse
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from immutables import Map

from forks_cli.answer import Answer, Exit, diagnose
from forks_cli.housekeeping import keep_house
from forks_cli.parser import add_study
from forks_cli.preflight import exit_code, look_further, preflight_row
from forks_cli.progress import Progress
from forks_cli.signals import Stops, heard
from forks_cli.study_open import OpenStudy, must_be_as_scheduled, open_scheduled
from forks_core.decider.runner import StartRunner
from forks_core.decider.study import is_moved
from forks_core.errors import LogLocked, Refused
from forks_core.projections.head import head_row
from forks_core.projections.steps import Stop
from forks_core.projections.study_status import study_status
from forks_core.projections.trials import is_under_way, open_trials
from forks_core.rules.looks import GATES, QUOTA, Found
from forks_core.rules.schedule import Block, first_runs, only
from forks_core.runner import Runner
from forks_core.system.field import StudyField
from forks_core.system.files import storage
from forks_core.system.lock import locked
from forks_core.system.preflight import Preflight
from forks_core.system.prices import prices
from forks_core.system.processes import myself
from forks_core.transact import transact
from forks_events.codec import unstructure
from forks_events.trials import StopReason, StudyStopped

_CODES = {StopReason.DONE: Exit.OK, StopReason.QUOTA: Exit.LATER}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_study(parser)
    add = parser.add_argument
    add("--task", metavar="ID", help="only this task")
    add("--arm", metavar="NAME", help="only this arm")
    add("--smoke", action="store_true", help="try things out: one run of each; it never counts")
    add(
        "--accept",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="failures of the preflight to accept",
    )


def run(arguments: argparse.Namespace) -> Answer:
    """Run it, until it is done or something says stop."""
    opened = open_scheduled(arguments.file, "study run")
    prices()
    blocks = _blocks(arguments, opened)
    lock = opened.run.folder.runner_lock
    try:
        with contextlib.ExitStack() as held:
            with storage(lock):
                held.enter_context(locked(lock, 0.0))
            _must_be_as_scheduled(arguments, opened, blocks)
            found = look_further(opened)
            _must_be_looked_at(arguments.accept, found)
            told = {one.name: one.found.value for one in found.looks}
            failed = {one.name for one in found.failures(arguments.accept)}
            goes_on = failed <= GATES and is_under_way(opened.run.registry, opened.blocks)
            if failed and not goes_on:
                _see_out(arguments, opened, blocks, told, "the preflight failed")
                return _refused(found, arguments.accept)
            closed = _closed(opened, found, arguments.accept)
            stopped = _run(arguments, opened, blocks, told, closed)
            row = _row(opened, stopped)
            return Answer(row, _code(stopped.reason, row, smoke=arguments.smoke))
    except LogLocked as error:
        if error.fields.get("lock") != str(lock):
            raise
        raise Refused(
            "another runner goes through this study; wait for it, or forks study stop",
            pid=error.fields.get("holder"),
        ) from error


def _blocks(arguments: argparse.Namespace, opened: OpenStudy) -> tuple[Block, ...]:
    blocks = opened.blocks
    if arguments.task is not None or arguments.arm is not None:
        blocks = only(blocks, task=arguments.task, arm=arguments.arm)
    if not arguments.smoke:
        return blocks
    return first_runs(blocks, arguments.task or opened.plan.tasks[0].id)


def _must_be_looked_at(accepted: Sequence[str], found: Preflight) -> None:
    names = dict.fromkeys(one.name for one in found.looks)
    if unknown := [name for name in accepted if name not in names]:
        raise Refused("nothing of that name was looked at", accept=unknown, names=list(names))


def _must_be_as_scheduled(
    arguments: argparse.Namespace, opened: OpenStudy, blocks: Sequence[Block]
) -> None:
    try:
        must_be_as_scheduled(opened)
    except Refused as error:
        changed = error.fields.get("fields") or ["tasks"]
        # By what its task is now no attempt can be judged, nor can one that lay elsewhere.
        if not is_moved(changed) and not any(path.startswith("tasks") for path in changed):
            _see_out(arguments, opened, blocks, {"study": Found.FAIL.value}, error.message)
        raise


def _see_out(
    arguments: argparse.Namespace,
    opened: OpenStudy,
    blocks: Sequence[Block],
    looks: Mapping[str, str],
    why: str,
) -> None:
    """Before a run is refused, what was paid is judged."""
    if open_trials(opened.run.registry):
        closed = Stop(reason=StopReason.FAILED, detail=why)
        _run(arguments, opened, blocks, looks, closed)


def _closed(opened: OpenStudy, found: Preflight, accepted: Sequence[str]) -> Stop | None:
    """How a run ends that may begin nothing more: the account's quota says no.

    The end of a wait for a window is recorded, and by then the window has begun anew.
    """
    gated = any(one.name == QUOTA for one in found.failures(accepted))
    if not gated or opened.run.registry.runner.pause is not None:
        return None
    gate = found.gate
    return Stop(reason=StopReason.QUOTA, detail=gate.reason, retry_at=gate.retry_at)


def _refused(found: Preflight, accepted: Sequence[str]) -> Answer:
    row = preflight_row(found, accepted)
    retry_at = row["gate"].get("retry_at")
    content = {"error": "the preflight failed", "retry_at": retry_at, **row}
    return Answer(content, exit_code(found, accepted))


def _run(
    arguments: argparse.Namespace,
    opened: OpenStudy,
    blocks: Sequence[Block],
    looks: Mapping[str, str],
    closed: Stop | None,
) -> StudyStopped:
    run = opened.run
    start = StartRunner(
        runner=myself(),
        smoke=arguments.smoke,
        preflight=Map(looks),
        accepted=tuple(arguments.accept),
    )
    stops = Stops(diagnose)
    progress = Progress(run.live, opened.blocks, diagnose)
    field = StudyField(
        run,
        stops=stops.count,
        show=progress.show,
        keep=lambda: _ignore(keep_house(run)),
    )
    runner = Runner(
        live=run.live,
        field=field,
        blocks=blocks,
        whole=opened.blocks,
        smoke=arguments.smoke,
        closed=closed,
    )
    # Heard before it is said that it runs: whoever reads that may ask for its end.
    with heard(stops):
        transact(run.live, start)
        return runner.run()


def _code(reason: StopReason, row: Mapping[str, Any], *, smoke: bool) -> Exit:
    """What was asked for may be done while the rest of the study remains."""
    remain = reason is StopReason.DONE and not smoke and row["done"] < row["trials"]
    return Exit.REMAIN if remain else _CODES.get(reason, Exit.REMAIN)


def _ignore(_: object) -> None:
    """What was lost shows in the rows."""


def _row(opened: OpenStudy, stopped: StudyStopped) -> dict[str, Any]:
    live = opened.run.live
    status = study_status(live.registry, opened.blocks, live.clock.now())
    told = (
        "trials",
        "done",
        "states",
        "blocks",
        "blocks_complete",
        "spent_usd",
        "costs_estimated",
        "costs_unknown",
        "left_s",
    )
    return {
        "ok": stopped.reason is StopReason.DONE,
        "reason": stopped.reason.value,
        "detail": stopped.detail,
        "retry_at": unstructure(stopped.retry_at),
        **{name: status[name] for name in told},
        "state": str(opened.run.folder.path),
        "head": head_row(live.head),
    }
