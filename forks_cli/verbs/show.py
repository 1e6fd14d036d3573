"""``forks show``: a job or a base in full, as often as one likes."""

import argparse
from typing import Any

from forks_cli.answer import Answer
from forks_cli.parser import add_run
from forks_core.claude.argv import argv
from forks_core.claude.text import answer_text
from forks_core.decider.run import settings_of
from forks_core.errors import Refused
from forks_core.projections.bases import base_row
from forks_core.projections.head import head_row
from forks_core.projections.jobs import brief_path, job_row, result
from forks_core.registry import Base, Ended, Job
from forks_core.rules.naming import in_order
from forks_core.system.files import file_sha256
from forks_core.system.open_run import OpenRun, open_configured
from forks_core.system.raw import stderr_tail
from forks_events.codec import unstructure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    add_run(parser)
    parser.add_argument("name", metavar="JOB|BASE", help="a job id or a base's name")


def run(arguments: argparse.Namespace) -> Answer:
    """Show it; nothing is recorded."""
    opened = open_configured(arguments.run, "show")
    registry = opened.registry
    opened.live.log.sync()
    if job := registry.jobs.get(arguments.name):
        content = _job(opened, job)
    elif base := registry.bases.get(arguments.name):
        content = _base(opened, base)
    else:
        raise Refused(
            "unknown job or base",
            name=arguments.name,
            jobs=in_order(registry.jobs),
            bases=sorted(registry.bases),
        )
    return Answer({**content, "head": head_row(opened.live.head)})


def _job(opened: OpenRun, job: Job) -> dict[str, Any]:
    folder, launch, spec = opened.folder, opened.launch_of(job), job.spec
    now = opened.live.clock.now()
    raw = folder.raw(spec.job)
    return {
        "job": job_row(opened.registry, job, now, opened.timings.lost_after_s),
        "result": _result(opened, job),
        "raw_state": _raw_state(opened, job),
        "text": answer_text(raw.read_bytes()) if raw.exists() else None,
        "stderr": stderr_tail(folder, spec.job),
        "created": unstructure(spec),
        "brief": brief_path(str(folder.path), spec.brief),
        "supervisor_log": str(folder.supervisor_log(spec.job)),
        "argv": list(argv(launch, spec)),
        "state": unstructure(job.state),
    }


def _result(opened: OpenRun, job: Job) -> dict[str, Any] | None:
    if not job.ended:
        return None
    return result(opened.registry, job, str(opened.folder.path))


def _raw_state(opened: OpenRun, job: Job) -> str | None:
    """Whether the raw file is still what the end of the job says: ok, missing or altered."""
    if not isinstance(job.state, Ended) or job.state.end.raw is None:
        return None
    found = file_sha256(opened.folder.raw(job.spec.job))
    if found is None:
        return "missing"
    return "ok" if found == job.state.end.raw.sha256 else "altered"


def _base(opened: OpenRun, base: Base) -> dict[str, Any]:
    registry = opened.registry
    now = opened.live.clock.now()
    return {
        "base": base_row(registry, base, settings_of(registry).ttl_s, now),
        "launch": unstructure(registry.launches[base.fingerprint]),
        "runtime": unstructure(base.state).get("runtime"),
    }
