"""Scheduling a study: its plan, its arms' launches and the order of its trials, said once."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from attrs import frozen

from forks_core.decider.run import opening
from forks_core.errors import Refused
from forks_core.registry import Registry
from forks_core.rules.fingerprint import Change, changes, fingerprint
from forks_events import Event
from forks_events.codec import unstructure
from forks_events.run import LaunchFixed, RunConfigured
from forks_events.study import Entry, Plan, StudyScheduled
from forks_events.values import Launch, Settings

_PLACE = re.compile(
    r"arms\..+\.launch\.((?P<own>cwd|mcp\.config)"
    r"|(append_system_prompt|agent|settings|binary)\.path)"
)
"""Where a launch's files lie: below the study's state folder, or perhaps beside the study."""


@frozen(kw_only=True)
class Schedule:
    """Register a study before its first trial.

    Args:
        run: Id for the study's run if it is opened now.
        forks_version: The forks that asks.
        lab: Whether it is for demonstration or test.
        launches: The arms' launches.
        settings: Limits of its calls.
        plan: The plan.
        entries: The trials that follow from it, in order.
    """

    run: str
    forks_version: str
    lab: bool
    launches: tuple[Launch, ...]
    settings: Settings
    plan: Plan
    entries: tuple[Entry, ...]


def schedule(command: Schedule, registry: Registry, now: datetime) -> tuple[Event, ...]:
    """Say nothing when it is scheduled as it stands; refuse a plan that was changed since."""
    launches = {fingerprint(launch): launch for launch in command.launches}
    if registry.study is not None:
        known = {**registry.launches, **launches}
        if changed := plan_changes(registry.study.plan, command.plan, known):
            what = "its folder was moved or copied" if is_moved(changed) else "its plan has changed"
            raise Refused(
                f"the study was scheduled, and {what} since", fields=list(changed), changes=changed
            )
        configured = registry.run and registry.run.configured
        if configured and configured.settings.account != command.settings.account:
            raise Refused(
                "the study was scheduled for another account", account=configured.settings.account
            )
        return ()
    opened = opening(now, command.run, command.forks_version, lab=command.lab)
    configured = RunConfigured(
        at=now,
        fingerprint=command.plan.arms[0].fingerprint,
        settings=command.settings,
        binary_resolved_by="study",
        model_admission="study",
    )
    return (
        *(() if registry.run else (opened,)),
        *(LaunchFixed(at=now, fingerprint=of, launch=launches[of]) for of in launches),
        configured,
        StudyScheduled(at=now, plan=command.plan, entries=command.entries),
    )


def plan_changes(before: Plan, after: Plan, launches: Mapping[str, Launch]) -> dict[str, Change]:
    """Tell what of a plan has changed, by dotted paths with the names of arms and tasks in them.

    Args:
        before: The plan as it was scheduled.
        after: The plan as it is.
        launches: The launches of both, by fingerprint.
    """
    return changes(_named(before, launches), _named(after, launches))


def is_moved(paths: Iterable[str]) -> bool:
    """Tell whether all that changed, by its dotted paths, is where the study's folder lies."""
    found = [_PLACE.fullmatch(path) for path in paths]
    return all(found) and any(place and place["own"] for place in found)


def _named(plan: Plan, launches: Mapping[str, Launch]) -> dict[str, object]:
    arms = {
        arm.name: {"base": arm.base, "launch": unstructure(launches[arm.fingerprint])}
        for arm in plan.arms
    }
    return {
        **unstructure(plan),
        "arms": arms,
        "tasks": {task.id: unstructure(task) for task in plan.tasks},
        "order_of_arms": [arm.name for arm in plan.arms],
        "order_of_tasks": [task.id for task in plan.tasks],
    }
