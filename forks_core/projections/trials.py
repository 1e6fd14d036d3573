"""Trials as the registry has them: their place in the schedule, and how their calls went."""

from collections.abc import Iterable
from typing import Any

from immutables import Map

from forks_core.errors import Refused
from forks_core.projections.blocks import pending
from forks_core.registry import SILENT, Ended, Job, Registry
from forks_core.registry.trials import Attempt, Trial
from forks_core.rules.attempts import Call, verdict
from forks_core.rules.naming import job_number
from forks_core.rules.schedule import Block
from forks_core.rules.study_file import SMOKE
from forks_events.study import Entry, Plan, StudyScheduled, Task
from forks_events.trials import AttemptConcluded, InfraKind
from forks_events.words import Reason, Status


def study_of(registry: Registry) -> StudyScheduled:
    """The study as it was scheduled.

    Raises:
        Refused: It was not.
    """
    if registry.study is None:
        raise Refused("the study is not scheduled yet; forks study schedule comes first")
    return registry.study


def scheduled(registry: Registry, trial_id: str) -> tuple[Plan, Entry, bool]:
    """The plan, the trial's place in it, and whether it is a smoke trial.

    Raises:
        Refused: The trial is not scheduled.
    """
    study = study_of(registry)
    smoke = trial_id.startswith(SMOKE)
    name = trial_id.removeprefix(SMOKE)
    for entry in study.entries:
        if entry.trial_id == name:
            return study.plan, entry, smoke
    raise Refused("unknown trial", trial_id=trial_id)


def task_of(plan: Plan, entry: Entry) -> Task:
    """The task of a trial."""
    return next(task for task in plan.tasks if task.id == entry.task)


def call_of(registry: Registry, job: str) -> Call | None:
    """How a trial's call went, or None while it goes on."""
    state = registry.jobs[job].state
    if not isinstance(state, Ended):
        return None
    readings = registry.readings
    return Call(
        end=state.end,
        stream=registry.streams.get(job, SILENT),
        rejected=job in readings.rejected,
        resets_at=readings.rejected.get(job),
    )


def is_broken_off(job: Job, call: Call) -> bool:
    """Whether an attempt was ended by whoever runs the study.

    That is so also when the killer himself was gone before he could say it, and the job was booked
    as lost. A client that had given its good result when it was ended did its work.
    """
    killed = call.end.status is Status.KILLED and call.end.reason in {Reason.KILL, Reason.EXPIRE}
    lost = call.end.status is Status.LOST and job.kill is not None
    return (killed or lost) and not call.stream.succeeded


def concluded(trial: Trial) -> Iterable[tuple[Attempt, AttemptConcluded]]:
    """The attempts that were judged, with their judgement, in order."""
    for attempt in trial.attempts:
        if isinstance(attempt.end, AttemptConcluded):
            yield attempt, attempt.end


def kinds_so_far(
    registry: Registry, trial: Trial, *more: InfraKind | None
) -> tuple[InfraKind | None, ...]:
    """What failed in each judged attempt, since the trial was last given up and tried anew.

    Nothing but a new run follows an attempt that gave up, or one that a smoke trial was over with.

    Args:
        registry: The state.
        trial: The trial.
        more: What failed in the attempts after those.
    """
    limits = study_of(registry).plan.max_attempts
    kinds: tuple[InfraKind | None, ...] = ()
    for kind in (*(end.infra_kind for _, end in concluded(trial)), *more):
        if kinds and ((judged := verdict(kinds, limits)).final or judged.gives_up):
            kinds = ()
        kinds = (*kinds, kind)
    return kinds


def tried(registry: Registry) -> Map[str, int]:
    """The last attempt at each trial that is over: what was tried before a run begins."""
    return Map(
        {name: trial.last.begun.attempt - is_open(trial) for name, trial in registry.trials.items()}
    )


def open_trials(registry: Registry) -> tuple[Trial, ...]:
    """The trials with an attempt that goes on, or waits to be judged, in the order of their jobs."""
    return tuple(
        sorted(
            (trial for trial in registry.trials.values() if is_open(trial)),
            key=lambda trial: job_number(trial.last.begun.job),
        )
    )


def going_on(registry: Registry) -> tuple[str, ...]:
    """The jobs of attempts that go on, in order."""
    jobs = (trial.last.begun.job for trial in open_trials(registry))
    return tuple(job for job in jobs if not registry.jobs[job].ended)


def is_open(trial: Trial | None) -> bool:
    """Whether an attempt of it goes on, or waits to be judged."""
    return trial is not None and trial.last.end is None


def is_under_way(registry: Registry, blocks: Iterable[Block]) -> bool:
    """Whether a study goes on, or is done: then no gate may keep it from being run again.

    What was paid is judged, a wait goes on to its end, and what is done is said to be done.

    Args:
        registry: The state.
        blocks: All blocks of the study.
    """
    goes_on = bool(open_trials(registry)) or registry.runner.pause is not None
    return goes_on or not pending(blocks, final_rows(registry))


def final_rows(registry: Registry) -> list[dict[str, Any]]:
    """The trials that are over, as rows that the rules of blocks look at."""
    return [
        {"trial_id": name, "smoke": name.startswith(SMOKE), "final": True, "excluded": end.excluded}
        for name, trial in registry.trials.items()
        if (end := trial.final) is not None
    ]
