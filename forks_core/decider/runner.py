"""What the runner of a study says of itself, and what others ask of it."""

from datetime import datetime

from attrs import frozen
from immutables import Map

from forks_core.decider.run import seen
from forks_core.registry import Registry
from forks_events import Event
from forks_events.trials import (
    PauseBegun,
    PauseEnded,
    RunnerStarted,
    StopReason,
    StopRequested,
    StudyStopped,
    Wait,
)
from forks_events.values import Process


@frozen(kw_only=True)
class StartRunner:
    """Somebody begins to go through the trials; the lock of the runner is his.

    Args:
        runner: Who.
        smoke: Whether only to try things out.
        preflight: What was looked at, name to pass, warn or fail.
        accepted: Names of failures that were accepted.
    """

    runner: Process
    smoke: bool
    preflight: Map[str, str]
    accepted: tuple[str, ...]


def start_runner(command: StartRunner, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, once for each start."""
    started = registry.runner.started
    if started and started.runner == command.runner and registry.runner.stopped is None:
        return ()
    return (
        *seen(registry, now),
        RunnerStarted(
            at=now,
            runner=command.runner,
            smoke=command.smoke,
            preflight=command.preflight,
            accepted=command.accepted,
        ),
    )


@frozen(kw_only=True)
class RequestStop:
    """Somebody wants the run of the study to end.

    Args:
        nth: Which request it is, from 1: the second one ends what goes on, too.
    """

    nth: int


def request_stop(command: RequestStop, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, to a run that goes on, once for each request."""
    runner = registry.runner
    if runner.started is None or runner.stopped is not None or command.nth != runner.stops + 1:
        return ()
    return (StopRequested(at=now),)


@frozen(kw_only=True)
class BeginPause:
    """Nothing shall be started until a time.

    Args:
        wait: What it waits for.
        until: When it is over.
        trial_id: The trial that it is about, or None.
        attempt: The attempt that led to it, or None.
    """

    wait: Wait
    until: datetime
    trial_id: str | None = None
    attempt: int | None = None


def begin_pause(command: BeginPause, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, unless a pause goes on."""
    if registry.runner.pause is not None:
        return ()
    about_quota = command.wait in {Wait.QUOTA, Wait.RATE_LIMIT}
    return (
        PauseBegun(
            at=now,
            wait=command.wait,
            trial_id=command.trial_id,
            attempt=command.attempt,
            until=command.until,
            planned_s=max(0.0, (command.until - now).total_seconds()),
            reading_at=registry.readings.quota.read_at if about_quota else None,
        ),
    )


@frozen(kw_only=True)
class EndPause:
    """The pause is over."""


def end_pause(_: EndPause, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, with the seconds that it took."""
    pause = registry.runner.pause
    if pause is None:
        return ()
    return (PauseEnded(at=now, real_s=max(0.0, (now - pause.at).total_seconds())),)


@frozen(kw_only=True)
class StopStudy:
    """The runner is done.

    Args:
        reason: Why.
        detail: A word more, or None.
        retry_at: When coming back will do, or None.
    """

    reason: StopReason
    detail: str | None = None
    retry_at: datetime | None = None


def stop_study(command: StopStudy, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say so, once for each run."""
    if registry.runner.started is None or registry.runner.stopped is not None:
        return ()
    return (
        StudyStopped(
            at=now, reason=command.reason, detail=command.detail, retry_at=command.retry_at
        ),
    )
