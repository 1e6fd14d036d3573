"""Jobs as rows, and as results."""

from datetime import datetime
from typing import Any, assert_never

from forks_core.projections.misses import miss_causes
from forks_core.registry import SILENT, Created, Ended, Job, Launched, Registry, Running
from forks_core.rules.cache import fingerprint_text
from forks_core.rules.naming import note_name
from forks_core.rules.supervision import is_silent
from forks_events.codec import unstructure
from forks_events.jobs import JobEnded, Text
from forks_events.words import Flag

Row = dict[str, Any]


def job_status(job: Job) -> str:
    """The status as one word: created, running, or how it ended. A held job is still created."""
    match job.state:
        case Created() | Launched():
            return "created"
        case Running():
            return "running"
        case Ended():
            return str(job.state.end.status.value)
        case _:
            assert_never(job.state)


def flags_of(registry: Registry, job: Job, now: datetime, lost_after_s: float) -> list[str]:
    """The flags of a job: as they were concluded, or as they stand now."""
    if isinstance(job.state, Ended):
        return [flag.value for flag in job.state.end.flags]
    held = isinstance(job.state, Launched) and job.state.behind
    standing = [
        *([Flag.HELD] if held else []),
        *(job.state.flags if isinstance(job.state, Running) else ()),
        *([Flag.SILENT] if is_silent(registry, job, now, lost_after_s) else []),
    ]
    return [flag.value for flag in standing]


def job_row(registry: Registry, job: Job, now: datetime, lost_after_s: float) -> Row:
    """A job as ``list`` shows it; one that has not ended also says how long and how far."""
    spec, end = job.spec, job.state.end if isinstance(job.state, Ended) else None
    state = job.state
    row: Row = {
        "job": spec.job,
        "kind": spec.kind,
        "base": spec.base,
        "block": spec.block,
        "phase": spec.phase,
        "mode": spec.mode,
        "paths": spec.paths,
        "status": job_status(job),
        "flags": flags_of(registry, job, now, lost_after_s),
        "reason": end and end.reason,
        "reason_detail": end and end.reason_detail,
        "error_kind": end and end.error_kind,
        "session": end.session if end else spec.session,
        "parent_session": spec.parent_session,
        "continues": spec.continues,
        "created_at": spec.at,
        "launched_at": None if isinstance(state, Created) else state.launched_at,
        "started_at": state.started_at if isinstance(state, Running | Ended) else None,
        "ended_at": end and end.at,
        "fingerprint": end and fingerprint_text(end.drift),
        "cache": end and end.cache,
        "delivered_at": state.delivered_at if isinstance(state, Ended) else None,
        "settled_at": state.settled_at if isinstance(state, Ended) else None,
        "wall_s": end and end.wall_s,
        "cost_delta_usd": end and end.cost_usd,
        "cost_estimate_usd": end and end.estimate and end.estimate.usd,
        "turns": end.turns if end else registry.streams.get(spec.job, SILENT).turns,
    }
    if end is None:
        row |= live_row(registry, job, now) | {"retrying": _retrying(registry, spec.job)}
    return {key: unstructure(value) for key, value in row.items()}


def live_row(registry: Registry, job: Job, now: datetime) -> Row:
    """How long a job has run, in seconds, and how long ago its client last said something."""
    spec, state = job.spec, job.state
    stream = registry.streams.get(spec.job, SILENT)
    output = state.output_at if isinstance(state, Running) else None
    last = max((at for at in (stream.heard_at, output) if at), default=None)
    since = state.started_at if isinstance(state, Running) else spec.at
    return {
        "job": spec.job,
        "block": spec.block,
        "elapsed_s": _seconds(since, now),
        "last_event_s_ago": _seconds(last, now) if last else None,
        "turns": stream.turns,
    }


def _retrying(registry: Registry, job: str) -> Row | None:
    """The retry that its client announced last, until something follows; status None: the network."""
    retried = registry.streams.get(job, SILENT).retried
    if retried is None:
        return None
    return {"attempt": retried.attempt, "error_status": retried.error_status}


def result(registry: Registry, job: Job, folder: str) -> Row:
    """An ended job's result, as ``wait`` delivers it.

    Args:
        registry: The state.
        job: The job; it has ended.
        folder: The state folder, for the paths of what lies in it.
    """
    assert isinstance(job.state, Ended)  # noqa: S101 - the caller's duty
    spec, end = job.spec, job.state.end
    note = f"{folder}/notes/{note_name(spec.block)}" if end.note and spec.block else None
    row: Row = {
        "job": spec.job,
        "kind": spec.kind,
        "base": spec.base,
        "block": spec.block,
        "phase": spec.phase,
        "status": end.status,
        "reason": end.reason,
        "reason_detail": end.reason_detail,
        "error_kind": end.error_kind,
        "resets_at": end.resets_at,
        "flags": end.flags,
        "fingerprint": fingerprint_text(end.drift),
        "session": end.session,
        "parent_session": spec.parent_session,
        "model_requested": registry.launches[spec.fingerprint].model,
        "models_used": end.models_used,
        "tokens": tokens(end),
        "usage_basis": end.usage_basis,
        **cost(end),
        "cache": end.cache,
        "cache_causes": miss_causes(registry, job),
        "base_state": spec.base_state,
        "wall_s": end.wall_s,
        "turns": end.turns,
        "num_turns": end.num_turns,
        "exit_code": end.exit_code,
        "denials": len(end.denials),
        "denied_tools": sorted(set(end.denials)),
        "note": note,
        "paths": spec.paths,
        "raw": raw_path(folder, spec.job) if end.raw else None,
        "raw_sha256": end.raw.sha256 if end.raw else None,
    }
    return {key: unstructure(value) for key, value in row.items()}


def cost(end: JobEnded) -> Row:
    """What a job cost in USD, and who says so; an estimate is a lower bound."""
    guess = end.estimate
    source = "client" if end.cost_usd is not None else None
    return {
        "cost_delta_usd": end.cost_usd,
        "cost_source": "estimate" if guess else source,
        "cost_estimate_usd": guess and guess.usd,
        "prices_as_of": guess and guess.prices_as_of,
    }


def tokens(end: Any) -> Row:
    """The six token columns; all of them are null when nothing was counted."""
    names = (
        "input",
        "output",
        "cache_creation",
        "cache_creation_1h",
        "cache_creation_5m",
        "cache_read",
    )
    columns = {name: getattr(end.usage, name) if end.usage else None for name in names}
    # Without a result only the prompt side is known: responses tell a placeholder of their output.
    return columns if end.usage_basis else columns | {"output": None}


def raw_path(folder: str, job: str) -> str:
    """Where the client's output lies, verbatim."""
    return f"{folder}/raw/{job}.jsonl"


def brief_path(folder: str, brief: Text) -> str:
    """Where a prompt lies, by its digest."""
    return f"{folder}/briefs/{brief.sha256}.md"


def _seconds(since: datetime, now: datetime) -> float:
    return round(max(0.0, (now - since).total_seconds()), 1)
