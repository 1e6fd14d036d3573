"""Events of a study: a plan that was registered before its first trial, and the order of its trials.

The log holds what the plan is made of by names, numbers and digests, so that a plan that was
changed later shows what was changed.
"""

from datetime import datetime
from enum import Enum

from attrs import frozen
from immutables import Map

from forks_events.values import FileDigest


class Overage(Enum):
    """What a rejected quota window means while the account pays for what goes beyond."""

    STOP = "stop"
    GO = "go"


@frozen(kw_only=True)
class Attempts:
    """How often one trial is tried at most, by what went wrong before.

    Args:
        overloaded: While the service is overloaded.
        other: After any other failure of the infrastructure.
        auth: While the credential is refused.
    """

    overloaded: int
    other: int
    auth: int


@frozen(kw_only=True)
class Arm:
    """One way of running the agent.

    Args:
        name: Its name.
        fingerprint: Its launch; a LaunchFixed with it came before.
        base: The trained base that each of its trials forks, or None: each starts fresh.
    """

    name: str
    fingerprint: str
    base: str | None


@frozen(kw_only=True)
class Task:
    """One piece of work that every arm is given.

    Args:
        id: Its name.
        prompt: The prompt, before anything is filled in.
        workdir: The folder that each attempt gets a copy of, by a digest of all that is in it;
            None: an empty one.
        check: The program and its arguments that judge the work afterwards.
        timeout_s: Seconds that an attempt may take.
        check_timeout_s: Seconds that the check may take.
    """

    id: str
    prompt: FileDigest
    workdir: FileDigest | None
    check: tuple[str, ...]
    timeout_s: float
    check_timeout_s: float


@frozen(kw_only=True)
class Plan:
    """What was registered.

    Args:
        id: The study's name.
        file: The study file, by the digest of its bytes.
        phase1_runs: Repeats of each task in the first phase.
        phase2_runs: Repeats of each task in the second phase.
        schedule_seed: A number that is recorded with every trial, and decides nothing.
        seven_day_stop: Share of the seven-day window at which nothing is started any more.
        cutoff: Nothing is started from then on, or None.
        max_budget_usd: Money that one attempt may spend, or None.
        budget_cap_usd: Money that the whole study may spend, or None.
        overage: What a rejected window means while overage is paid for.
        concurrency: Pairs that run at once.
        max_attempts: How often a trial is tried.
        min_free_gb: Free disk that is needed to start an attempt, in GB (10^9 bytes).
        arms: The arms, in the order of the file.
        tasks: The tasks, in the order in which they are run.
        pins: Observed name to the value that it must have.
    """

    id: str
    file: FileDigest
    phase1_runs: int
    phase2_runs: int
    schedule_seed: int | None
    seven_day_stop: float
    cutoff: datetime | None
    max_budget_usd: float | None
    budget_cap_usd: float | None
    overage: Overage
    concurrency: int
    max_attempts: Attempts
    min_free_gb: float
    arms: tuple[Arm, ...]
    tasks: tuple[Task, ...]
    pins: Map[str, str]


@frozen(kw_only=True)
class Entry:
    """One trial of the schedule: one arm on one repeat of one task.

    Args:
        trial_id: ``<task>-r<run>-<arm>``.
        phase: 1 or 2.
        block: ``P<phase>-<task>``.
        run_index: The repeat, from 0.
        run: The repeat, from 1.
        task: The task.
        arm: The arm.
        task_pos: The task's place among all tasks, from 0.
        arm_slot: The arm's place within its pair, from 0.
        first_arm: The arm that goes first in its pair.
        schedule_seed: The plan's, recorded only.
        order_index: Its place in the whole schedule, from 0.
    """

    trial_id: str
    phase: int
    block: str
    run_index: int
    run: int
    task: str
    arm: str
    task_pos: int
    arm_slot: int
    first_arm: str
    schedule_seed: int | None
    order_index: int


@frozen(kw_only=True)
class StudyScheduled:
    """The plan was registered and its trials were put in order: once, before the first of them.

    Args:
        at: When.
        plan: The plan.
        entries: The trials, in order.
    """

    at: datetime
    plan: Plan
    entries: tuple[Entry, ...]


StudyEvent = StudyScheduled
