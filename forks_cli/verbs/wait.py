"""``forks wait``: until jobs are over; each result is delivered once."""

import argparse
import time
from collections.abc import Sequence

from forks_cli.answer import Answer, Exit
from forks_cli.housekeeping import keep_house, tell_account
from forks_cli.parser import add_run, positive_int
from forks_core.decider.run import SeeOrchestrator
from forks_core.decider.wait import Deliver
from forks_core.errors import Refused
from forks_core.projections.jobs import live_row, result
from forks_core.projections.waiting import Waiting, waiting
from forks_core.rules.naming import in_order
from forks_core.system.open_run import OpenRun, open_configured
from forks_core.transact import transact
from forks_events.envelope import Envelope
from forks_events.jobs import JobDelivered

MAX_TIMEOUT_S = 570
_LOOK_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="jobs to wait for")
    parser.add_argument(
        "--all", action="store_true", help="every job that is not settled, but trials"
    )
    parser.add_argument("--any", action="store_true", help="until one of them is over")
    parser.add_argument(
        "--timeout", type=positive_int, default=540, metavar="S", help="seconds, at most"
    )


def run(arguments: argparse.Namespace) -> Answer:
    """Wait, then deliver what is over."""
    opened = open_configured(arguments.run, "wait")
    names = _names(arguments, opened)
    until = time.monotonic() + arguments.timeout
    reap_at = 0.0
    while True:
        if time.monotonic() >= reap_at:
            # As long as somebody waits, no job is an orphan.
            transact(opened.live, SeeOrchestrator())
            keep_house(opened)
            reap_at = time.monotonic() + opened.timings.wait_poll_s
        met = waiting(opened.live.refresh(), names, first=arguments.any).met
        left_s = until - time.monotonic()
        if met or left_s <= 0:
            break
        time.sleep(min(_LOOK_S, left_s))
    said = transact(opened.live, Deliver(names=names, first=arguments.any))
    tell_account(opened)
    return _answer(opened, names, said, first=arguments.any)


def _names(arguments: argparse.Namespace, opened: OpenRun) -> tuple[str, ...] | None:
    if arguments.timeout > MAX_TIMEOUT_S:
        raise Refused("timeout is too long", timeout=arguments.timeout, max=MAX_TIMEOUT_S)
    if arguments.jobs and arguments.all:
        raise Refused("name jobs or --all, not both")
    if not arguments.jobs and not arguments.all:
        raise Refused("name jobs or --all")
    unknown = [name for name in arguments.jobs if name not in opened.registry.jobs]
    if unknown:
        raise Refused("unknown jobs", jobs=unknown, known=in_order(opened.registry.jobs))
    return tuple(dict.fromkeys(arguments.jobs)) if arguments.jobs else None


def _answer(
    opened: OpenRun,
    names: tuple[str, ...] | None,
    said: Sequence[Envelope],
    *,
    first: bool,
) -> Answer:
    """Judge the wait as it was when it was recorded."""
    at = said[0].event.at if said else None
    wait = waiting(opened.registry, names, first=first, at=at)
    delivered = [event.event.job for event in said if isinstance(event.event, JobDelivered)]
    now = opened.live.clock.now()
    return Answer(
        {
            "done": [_result(opened, name) for name in delivered],
            "running": [
                live_row(opened.registry, job, now) for job in wait.members if not job.ended
            ],
            "pings": [],
            "met": wait.met,
        },
        _code(wait),
    )


def _result(opened: OpenRun, name: str) -> dict[str, object]:
    return result(opened.registry, opened.job(name), str(opened.folder.path))


def _code(wait: Waiting) -> Exit:
    if not wait.met:
        return Exit.NOT_MET
    return Exit.OK if wait.all_ok else Exit.NOT_OK
