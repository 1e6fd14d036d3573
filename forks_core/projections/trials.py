"""Trials as the registry has them: their place in the schedule, and how their calls went."""

from collections.abc import Iterable

from forks_core.errors import Refused
from forks_core.registry import SILENT, Ended, Registry
from forks_core.registry.trials import Attempt, Trial
from forks_core.rules.attempts import Call
from forks_core.rules.study_file import SMOKE
from forks_events.study import Entry, Plan, StudyScheduled, Task
from forks_events.trials import AttemptConcluded, InfraKind


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


def concluded(trial: Trial) -> Iterable[tuple[Attempt, AttemptConcluded]]:
    """The attempts that were judged, with their judgement, in order."""
    for attempt in trial.attempts:
        if isinstance(attempt.end, AttemptConcluded):
            yield attempt, attempt.end


def kinds_so_far(registry: Registry, trial: Trial) -> tuple[InfraKind | None, ...]:
    """What failed in each judged attempt, since a run last stopped on authentication."""
    since = registry.runner.auth_stopped_at
    return tuple(end.infra_kind for _, end in concluded(trial) if since is None or end.at > since)


def is_open(trial: Trial | None) -> bool:
    """Whether an attempt of it goes on, or waits to be judged."""
    return trial is not None and trial.last.end is None
