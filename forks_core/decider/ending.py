"""Ending a job: one commit holds how it ended, what it cost, and what follows from it.

Whoever ends it first wins: supervisor, killer, reaper. Each reads the raw file to its end and
brings what the log does not hold of it yet, so no crash leaves a result without its cost.
"""

from datetime import datetime

from attrs import evolve as change
from attrs import frozen
from immutables import Map

from forks_core.decider.jobs import heard, hit, known
from forks_core.registry import Job, Launched, Registry, Running, Stream, Training
from forks_core.rules import cache
from forks_core.rules.flags import session_of
from forks_core.rules.outcome import Conclusion, Imposed, conclude
from forks_core.rules.prices import PriceTable, estimate
from forks_core.rules.supervision import Timings, is_silent, last_sign
from forks_core.rules.usage import DIGITS, Reckoning, reckon
from forks_events import Event, Said
from forks_events.bases import BaseFailed, BaseTrained
from forks_events.jobs import JobEnded, Text
from forks_events.sessions import SessionCounted
from forks_events.values import Estimate
from forks_events.words import ErrorKind, Flag, Kind, Status


@frozen(kw_only=True)
class End:
    """The job is over.

    Args:
        job: The job.
        said: Every event that the raw file yields, from its beginning.
        stream: What they sum up to.
        raw: Digest and length of the raw file, or None when there is none.
        exit_code: The client's exit code, negative for a signal, or None.
        stderr_kind: What the client's standard error says went wrong, or None.
        imposed: What we ended it for, or None when the client ended by itself.
        wall_s: Seconds that it took, or None: they are reckoned from the registry.
        head: HEAD of the working directory now, or None.
        note: Whether the fork's note is there.
        flags: Flags that the supervisor raised.
        has_text: Whether an answer is to be found in the raw file.
        prices: What an unknown cost is estimated by, or None: it is not.
        lost_after_s: For a lost job, the silence that is required of it still.
    """

    job: str
    said: tuple[Said, ...]
    stream: Stream
    raw: Text | None
    exit_code: int | None = None
    stderr_kind: ErrorKind | None = None
    imposed: Imposed | None = None
    wall_s: float | None = None
    head: str | None = None
    note: bool = False
    flags: tuple[Flag, ...] = ()
    has_text: bool = True
    prices: PriceTable | None = None
    lost_after_s: float = Timings().lost_after_s


def end(command: End, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Conclude the job, unless it is over, or was given up as lost and has spoken since."""
    job = known(registry, command.job)
    if job.ended or _is_found_again(command, job, registry, now):
        return ()
    stream = command.stream
    reckoning = reckon(stream, job.spec.spent_before)
    conclusion = conclude(
        stream,
        model=registry.launches[job.spec.fingerprint].model,
        session=job.spec.session,
        models_used=reckoning.models_used,
        cost_usd=reckoning.cost_usd,
        exit_code=command.exit_code,
        stderr_kind=command.stderr_kind,
        imposed=command.imposed,
        kill=job.kill,
        has_text=command.has_text,
    )
    ended = _ended(command, job, registry, reckoning, conclusion, now)
    left = tuple(
        SessionCounted(at=now, session=one.session or job.spec.session, spent=one.spent)
        for one in stream.left
    )
    counted = (
        (SessionCounted(at=now, session=ended.session, spent=reckoning.carry),)
        if reckoning.carry
        else ()
    )
    return (
        *heard(registry, job, 0, command.said, now),
        ended,
        *left,
        *counted,
        *_of_the_base(command, job, registry, ended, now),
    )


def _is_found_again(command: End, job: Job, registry: Registry, now: datetime) -> bool:
    return _is_lost(command) and not is_silent(registry, job, now, command.lost_after_s)


def _is_lost(command: End) -> bool:
    return command.imposed is not None and command.imposed.status is Status.LOST


def _ended(
    command: End,
    job: Job,
    registry: Registry,
    reckoning: Reckoning,
    conclusion: Conclusion,
    now: datetime,
) -> JobEnded:
    stream = command.stream
    result = stream.result
    verdict = None
    if job.spec.kind is not Kind.TRAIN and job.spec.base is not None:
        verdict = cache.verdict(stream.first.usage if stream.first else None, job.spec.base_context)
    drift = _drift(job, registry, stream)
    # Nobody knows what a lost job did after its last sign of life.
    until = last_sign(registry, job) if _is_lost(command) else now
    return JobEnded(
        at=now,
        job=command.job,
        status=conclusion.status,
        reason=conclusion.reason,
        reason_detail=conclusion.detail,
        error_kind=conclusion.error_kind,
        resets_at=conclusion.resets_at,
        flags=_flags(
            command,
            job,
            conclusion,
            reckoning,
            cold=cache.is_cold_start(job.spec.base_state, verdict, drift),
        ),
        exit_code=command.exit_code,
        wall_s=round(_wall_s(job, until) if command.wall_s is None else command.wall_s, 1),
        session=session_of(stream) or job.spec.session,
        turns=stream.turns,
        num_turns=result.num_turns if result else None,
        models_used=reckoning.models_used,
        usage=reckoning.usage,
        usage_basis=reckoning.basis,
        cost_usd=reckoning.cost_usd,
        estimate=_estimate(command, reckoning),
        cache=verdict,
        drift=drift,
        denials=stream.denials,
        note=command.note,
        raw=command.raw,
    )


def _estimate(command: End, reckoning: Reckoning) -> Estimate | None:
    """Reckon what an unknown cost is at least; what responses tell of their output is no count."""
    seen = {model: change(used, output=0) for model, used in command.stream.seen.items()}
    if reckoning.cost_usd is not None or not seen or command.prices is None:
        return None
    usd = estimate(seen, command.prices)
    return (
        None if usd is None else Estimate(usd=round(usd, DIGITS), prices_as_of=command.prices.as_of)
    )


def _drift(job: Job, registry: Registry, stream: Stream) -> tuple[str, ...]:
    base = registry.base_of(job)
    trained = base.active.runtime if base and base.active else Map[str, str]()
    launch = registry.launches[job.spec.fingerprint]
    runtime = cache.runtime_drift(
        stream.opened.runtime if stream.opened else Map(), trained, launch.permission_mode
    )
    return tuple(sorted({*job.spec.drift, *runtime}))


def _flags(
    command: End, job: Job, conclusion: Conclusion, reckoning: Reckoning, *, cold: bool
) -> tuple[Flag, ...]:
    state = job.state
    beaten = state.flags if isinstance(state, Running) else ()
    held = (Flag.HELD,) if isinstance(state, Launched) and state.behind else ()
    found = (
        *beaten,
        *held,
        *command.flags,
        *conclusion.flags,
        *((Flag.USAGE_MISMATCH,) if reckoning.mismatch else ()),
        *((Flag.COLD_START,) if cold and job.spec.kind is not Kind.TRAIN else ()),
    )
    return tuple(dict.fromkeys(found))


def _wall_s(job: Job, until: datetime) -> float:
    match job.state:
        case Running(started_at=since) | Launched(launched_at=since):
            pass
        case _:
            since = job.spec.at
    return max(0.0, (until - since).total_seconds())


def _of_the_base(
    command: End, job: Job, registry: Registry, ended: JobEnded, now: datetime
) -> tuple[Event, ...]:
    base = registry.base_of(job)
    if (
        job.spec.kind is not Kind.TRAIN
        or base is None
        or base.job != command.job
        or not isinstance(base.state, Training)
    ):
        return ()
    if ended.status is not Status.OK:
        return (BaseFailed(at=now, base=base.name),)
    stream = command.stream
    trained = BaseTrained(
        at=now,
        base=base.name,
        session=ended.session,
        commit=command.head or job.spec.head,
        context_tokens=stream.last.usage.prompt if stream.last else None,
        runtime=stream.opened.runtime if stream.opened else Map(),
    )
    return (trained, *hit(registry, base.name, stream.last.seen_at if stream.last else None, now))
