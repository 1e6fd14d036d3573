"""The decisions: a command, the registry and the time give events, or a refusal.

A file a command: its class, and below it the function that decides. Nothing is done here, and
nothing is folded. The same command again says nothing new.
"""

from datetime import datetime
from typing import assert_never

from forks_core.decider.account import Forward, forward
from forks_core.decider.continue_ import Continue, continue_
from forks_core.decider.ending import End, end
from forks_core.decider.expire import Expire, expire
from forks_core.decider.fork import Fork, fork
from forks_core.decider.jobs import (
    Beat,
    Hear,
    HoldJob,
    LaunchJob,
    RequestKill,
    StartClient,
    beat,
    hear,
    hold_job,
    launch_job,
    request_kill,
    start_client,
)
from forks_core.decider.run import Init, SeeOrchestrator, init, see_orchestrator
from forks_core.decider.runner import (
    BeginPause,
    EndPause,
    RequestStop,
    StartRunner,
    StopStudy,
    begin_pause,
    end_pause,
    request_stop,
    start_runner,
    stop_study,
)
from forks_core.decider.study import Schedule, schedule
from forks_core.decider.train import Train, train
from forks_core.decider.trials import (
    AbortAttempt,
    BeginTrial,
    ConcludeAttempt,
    abort_attempt,
    begin_trial,
    conclude_attempt,
)
from forks_core.decider.wait import Deliver, deliver
from forks_core.registry import Registry
from forks_events import Event

OfStudy = (
    Schedule
    | BeginTrial
    | ConcludeAttempt
    | AbortAttempt
    | StartRunner
    | RequestStop
    | BeginPause
    | EndPause
    | StopStudy
)
Command = (
    OfStudy
    | Init
    | SeeOrchestrator
    | Train
    | Fork
    | Continue
    | Expire
    | LaunchJob
    | HoldJob
    | StartClient
    | Hear
    | Beat
    | RequestKill
    | End
    | Deliver
    | Forward
)


def decide(command: Command, registry: Registry, now: datetime) -> tuple[Event, ...]:  # noqa: C901, PLR0912
    """Decide a command.

    Args:
        command: What is asked.
        registry: The state that it is asked of.
        now: The time, aware UTC; every event carries it.

    Raises:
        Refused: It cannot be; the message says why, and nothing changes.
    """
    match command:
        case Hear():
            return hear(command, registry, now)
        case Beat():
            return beat(command, registry, now)
        case LaunchJob():
            return launch_job(command, registry, now)
        case HoldJob():
            return hold_job(command, registry, now)
        case StartClient():
            return start_client(command, registry, now)
        case End():
            return end(command, registry, now)
        case SeeOrchestrator():
            return see_orchestrator(command, registry, now)
        case Deliver():
            return deliver(command, registry, now)
        case Fork():
            return fork(command, registry, now)
        case Train():
            return train(command, registry, now)
        case RequestKill():
            return request_kill(command, registry, now)
        case Continue():
            return continue_(command, registry, now)
        case Expire():
            return expire(command, registry, now)
        case Init():
            return init(command, registry, now)
        case Forward():
            return forward(command, registry, now)
        case _:
            return _decide_of_study(command, registry, now)


def _decide_of_study(command: OfStudy, registry: Registry, now: datetime) -> tuple[Event, ...]:
    match command:
        case BeginTrial():
            return begin_trial(command, registry, now)
        case ConcludeAttempt():
            return conclude_attempt(command, registry, now)
        case AbortAttempt():
            return abort_attempt(command, registry, now)
        case BeginPause():
            return begin_pause(command, registry, now)
        case EndPause():
            return end_pause(command, registry, now)
        case StartRunner():
            return start_runner(command, registry, now)
        case StopStudy():
            return stop_study(command, registry, now)
        case RequestStop():
            return request_stop(command, registry, now)
        case Schedule():
            return schedule(command, registry, now)
        case _:
            assert_never(command)
