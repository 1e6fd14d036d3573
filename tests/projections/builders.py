"""Events and registries, made small; times are seconds after noon."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from attrs import evolve
from hypothesis import Phase, find, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.reducer import fold
from forks_core.registry import Registry
from forks_events import Event
from forks_events.bases import BaseCreated, BaseHit, BaseTrained
from forks_events.jobs import (
    ClientStarted,
    JobBeat,
    JobCreated,
    JobDelivered,
    JobEnded,
    JobHeld,
    JobLaunched,
    JobSettled,
    Text,
)
from forks_events.run import LaunchFixed, RunConfigured, RunOpened
from forks_events.stream import StreamTurned
from forks_events.values import Process, Usage
from forks_events.words import Flag, Kind, Mode, Status, Warmth
from tests.histories import LAUNCH, NOON, SETTINGS
from tests.strategies import histories

_T = TypeVar("_T")
SESSION = "11111111-1111-4111-8111-111111111111"
PRINT = "f" * 64


def at(seconds: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


OPENING: tuple[Event, ...] = (
    RunOpened(at=NOON, run="r", format=1, forks_version="0.1.0", lab=True),
    LaunchFixed(at=NOON, fingerprint=PRINT, launch=LAUNCH),
    RunConfigured(
        at=NOON,
        fingerprint=PRINT,
        settings=SETTINGS,
        binary_resolved_by="PATH",
        model_admission="no availableModels list",
    ),
)


def registry(*events: Event) -> Registry:
    """Fold the events onto a run that had its init."""
    return fold((*OPENING, *events))


def process(pid: int, ticks: int = 1) -> Process:
    """A process of this machine."""
    return Process(host="h", boot="b", pid=pid, ticks=ticks)


SUPERVISOR, CLIENT = process(10), process(11)
_SPEC = JobCreated(
    at=NOON,
    job="j0001",
    request="request",
    kind=Kind.FORK,
    base="api",
    continues=None,
    block="parser",
    phase=None,
    mode=Mode.SEQUENTIAL,
    paths=None,
    cwd=None,
    session="s-j0001",
    parent_session=SESSION,
    fingerprint=PRINT,
    brief=Text(sha256="b" * 64, bytes=3),
    brief_source="/brief.md",
    max_s=5400.0,
    max_budget_usd=None,
    stagger_s=20.0,
    spent_before=None,
    base_context=1000,
    base_state=Warmth.WARM,
    warm_until=at(3600),
    drift=(),
    binary_version="2.1.332",
    head=None,
    forced=False,
)
_TRAINING: dict[str, Any] = {
    "kind": Kind.TRAIN,
    "block": None,
    "mode": None,
    "session": SESSION,
    "parent_session": None,
    "base_context": None,
    "base_state": None,
    "warm_until": None,
}
_END = JobEnded(
    at=NOON,
    job="j0001",
    status=Status.OK,
    reason=None,
    reason_detail=None,
    error_kind=None,
    resets_at=None,
    flags=(),
    exit_code=0,
    wall_s=1.0,
    session="s",
    turns=1,
    num_turns=1,
    models_used=(LAUNCH.model,),
    usage=Usage(input=1, output=2, cache_creation=3, cache_read=900),
    usage_basis=None,
    estimate=None,
    cost_usd=0.25,
    cache=None,
    drift=(),
    denials=(),
    note=False,
    raw=None,
)


def _made(event: _T, fields: dict[str, Any]) -> _T:
    made: Any = event
    return cast("_T", evolve(made, **fields))


def fork(job: str = "j0001", **told: Any) -> JobCreated:
    """A fork of the base ``api``, created at noon unless told otherwise."""
    return _made(_SPEC, {"job": job, "session": f"s-{job}"} | told)


def train(job: str = "j0001", **told: Any) -> JobCreated:
    """The training of the base ``api``, created at noon unless told otherwise."""
    return _made(_SPEC, {"job": job} | _TRAINING | told)


def named(job: str = "j0001", seconds: float = 0, **told: Any) -> BaseCreated:
    """The base ``api`` gets its name."""
    event = BaseCreated(
        at=at(seconds), base="api", job=job, session=SESSION, fingerprint=PRINT, phase=None
    )
    return _made(event, told)


def trained(seconds: float = 0, **told: Any) -> BaseTrained:
    """The base ``api`` can be forked."""
    event = BaseTrained(
        at=at(seconds),
        base="api",
        session=SESSION,
        commit="c" * 40,
        context_tokens=1000,
        runtime=Map(),
    )
    return _made(event, told)


def hit(seconds: float) -> BaseHit:
    """The prefix of the base ``api`` was read."""
    return BaseHit(at=at(seconds), base="api", hit_at=at(seconds))


def launched(job: str = "j0001", seconds: float = 0) -> JobLaunched:
    """Its supervisor stands."""
    return JobLaunched(at=at(seconds), job=job, supervisor=SUPERVISOR)


def held(job: str, behind: str, seconds: float = 0) -> JobHeld:
    """It waits for a sibling."""
    return JobHeld(at=at(seconds), job=job, behind=behind)


def started(job: str = "j0001", seconds: float = 0) -> ClientStarted:
    """Its client runs."""
    return ClientStarted(at=at(seconds), job=job, client=CLIENT)


def beat(
    job: str, seconds: float, output: float | None = None, flags: tuple[Flag, ...] = ()
) -> JobBeat:
    """Its supervisor lives, and has seen output then."""
    output_at = None if output is None else at(output)
    return JobBeat(at=at(seconds), job=job, output_at=output_at, flags=flags)


def turned(job: str, seconds: float, *, main: bool = True, **used: int) -> StreamTurned:
    """Its client gave a response."""
    return StreamTurned(
        at=at(seconds),
        job=job,
        seen_at=at(seconds),
        main=main,
        model=LAUNCH.model,
        usage=Usage(**used),
    )


def ended(job: str = "j0001", seconds: float = 0, **told: Any) -> JobEnded:
    """It is over: ok unless told otherwise."""
    return _made(_END, {"at": at(seconds), "job": job, "session": f"s-{job}"} | told)


def delivered(job: str, seconds: float) -> JobDelivered:
    """A wait has shown it."""
    return JobDelivered(at=at(seconds), job=job)


def settled(job: str, seconds: float) -> JobSettled:
    """A wait was satisfied by it."""
    return JobSettled(at=at(seconds), job=job)


REGISTRIES = histories().map(fold)
"""Registries that decisions could have led to."""


def reached(drawn: st.SearchStrategy[_T], condition: Callable[[_T], bool]) -> bool:
    """Tell whether a law's inputs hold one that meets the condition; else hypothesis complains."""
    quick = settings(
        max_examples=2000, phases=[Phase.generate], deadline=None, derandomize=True, database=None
    )
    find(drawn, condition, settings=quick)
    return True
