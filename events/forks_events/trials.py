"""Events of the trials of a study, and of the runner that goes through them.

Identity, place and seed of a trial are the schedule's; how its call ended is its job's. Texts stay
in files: the raw stream, the check's output, the working copy's diff.
"""

from datetime import datetime
from enum import Enum

from attrs import frozen
from immutables import Map

from forks_events.jobs import Text
from forks_events.values import Process


class TrialStatus(Enum):
    """How an attempt ended, for who compares arms."""

    COMPLETED = "completed"
    TIMEOUT = "timeout"
    INFRA_ERROR = "infra_error"
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    AGENT_ERROR = "agent_error"


class InfraKind(Enum):
    """What went wrong that has nothing to do with the arm."""

    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    MCP_START = "mcp_start"
    CLIENT_CRASH = "client_crash"
    RUNNER = "runner"


class Wait(Enum):
    """What a pause waits for."""

    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    OTHER = "other"


class StopReason(Enum):
    """Why a run of a study ended; FAILED: forks itself could not go on."""

    DONE = "DONE"
    TIME = "TIME"
    BUDGET = "BUDGET"
    QUOTA = "QUOTA"
    USER = "USER"
    DISK = "DISK"
    AUTH = "AUTH"
    INCOMPLETE_PHASE1 = "INCOMPLETE_PHASE1"
    FAILED = "FAILED"


@frozen(kw_only=True)
class Check:
    """What judged the work.

    Args:
        exit_code: 0 passed, 1 failed, anything else is an error of the check; None: it could not
            be started, or was ended.
        timed_out: Whether it was ended because its time was up.
        score: What it said of how well, from 0 to 1, or None.
        checks: What it said of parts, name to whether they are well.
        output: What it printed, as far as it was kept, or None.
        wall_s: Seconds that it took.
    """

    exit_code: int | None
    timed_out: bool
    score: float | None
    checks: Map[str, bool]
    output: Text | None
    wall_s: float


@frozen(kw_only=True)
class TrialBegun:
    """An attempt at a trial was decided; its job was created in the same commit.

    Args:
        at: When.
        trial_id: The trial; of a smoke trial ``SMOKE-`` and the id.
        attempt: Number of the attempt, from 1.
        job: Its job.
        smoke: Whether it only tries things out, and never counts.
        quota: Utilization of each window that was known then.
    """

    at: datetime
    trial_id: str
    attempt: int
    job: str
    smoke: bool
    quota: Map[str, float]


@frozen(kw_only=True)
class AttemptConcluded:
    """An attempt was judged.

    Args:
        at: When.
        trial_id: The trial.
        attempt: The attempt.
        final: Whether the trial is over with it.
        status: How it ended.
        infra_kind: What went wrong that has nothing to do with the arm, or None.
        resets_at: When the limit ends that it ran into, or None.
        excluded: Whether it says nothing of the arm.
        passed: Whether the work is right.
        evaluator_error: Whether the check itself failed.
        check: What judged it, or None: nothing did.
        diff: What it changed in its working copy, or None.
        quota: Utilization of each window that was known then.
    """

    at: datetime
    trial_id: str
    attempt: int
    final: bool
    status: TrialStatus
    infra_kind: InfraKind | None
    resets_at: datetime | None
    excluded: bool
    passed: bool
    evaluator_error: bool
    check: Check | None
    diff: Text | None
    quota: Map[str, float]


@frozen(kw_only=True)
class AttemptAborted:
    """An attempt was broken off by whoever runs the study: the trial stays pending.

    Args:
        at: When that was recorded.
        trial_id: The trial.
        attempt: The attempt.
        diff: What it had changed in its working copy by then, or None: nothing, or nobody knows.
    """

    at: datetime
    trial_id: str
    attempt: int
    diff: Text | None


@frozen(kw_only=True)
class RunnerStarted:
    """Somebody goes through the trials.

    Args:
        at: When.
        runner: Who.
        smoke: Whether only to try things out.
        preflight: What was looked at before, name to pass, warn or fail.
        accepted: Names of failures that were accepted.
    """

    at: datetime
    runner: Process
    smoke: bool
    preflight: Map[str, str]
    accepted: tuple[str, ...]


@frozen(kw_only=True)
class StopRequested:
    """Somebody wants the run to end: after this attempt, or, asked again, at once."""

    at: datetime


@frozen(kw_only=True)
class PauseBegun:
    """Nothing is started for a while.

    Args:
        at: When it began.
        wait: What it waits for.
        trial_id: The trial that it is about, or None.
        attempt: The attempt that led to it, or None.
        until: When it is over.
        planned_s: Seconds until then.
        reading_at: When the reading was taken that led to it, or None.
    """

    at: datetime
    wait: Wait
    trial_id: str | None
    attempt: int | None
    until: datetime
    planned_s: float
    reading_at: datetime | None


@frozen(kw_only=True)
class PauseEnded:
    """The pause is over.

    Args:
        at: When.
        real_s: Seconds that it really took.
    """

    at: datetime
    real_s: float


@frozen(kw_only=True)
class StudyStopped:
    """The runner is done, for now or for good.

    Args:
        at: When.
        reason: Why.
        detail: A word more, or None.
        retry_at: When coming back will do, or None.
    """

    at: datetime
    reason: StopReason
    detail: str | None
    retry_at: datetime | None


TrialEvent = TrialBegun | AttemptConcluded | AttemptAborted
RunnerEvent = RunnerStarted | StopRequested | PauseBegun | PauseEnded | StudyStopped
