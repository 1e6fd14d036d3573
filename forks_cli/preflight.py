"""The preflight of a study as verbs use it: its file first, then the world."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from forks_cli.answer import Exit
from forks_cli.study_open import OpenStudy, must_be_as_scheduled
from forks_cli.words import counted
from forks_core.errors import Refused
from forks_core.projections.quota import launch_gate_row
from forks_core.rules.looks import PIN, QUOTA, Found, Look
from forks_core.system.agents import lend_agents
from forks_core.system.preflight import Preflight, preflight


def look(opened: OpenStudy) -> Preflight:
    """Look at the study's file and what it names, then at the world."""
    try:
        must_be_as_scheduled(opened)
    except Refused as error:
        told = ", ".join(error.fields.get("fields") or ()) or error.fields.get("key") or ""
        detail = f"{error.message}: {told}"
        return _with(Look(name="study", found=Found.FAIL, detail=detail), _world(opened))
    return look_further(opened)


def look_further(opened: OpenStudy) -> Preflight:
    """Look at the world, for a study whose file was found to be as it was scheduled."""
    return _with(_as_scheduled(opened), _world(opened))


def _with(files: Look, found: Preflight) -> Preflight:
    return evolve(found, looks=(files, *found.looks))


def _world(opened: OpenStudy) -> Preflight:
    launches = {arm.name: opened.run.registry.launches[arm.fingerprint] for arm in opened.plan.arms}
    lend_agents(opened.run.folder, launches.values())
    return preflight(opened.run, opened.plan, launches)


def _as_scheduled(opened: OpenStudy) -> Look:
    plan = opened.plan
    detail = f"as scheduled: {counted(len(plan.tasks), 'task')}, {counted(len(plan.arms), 'arm')}"
    return Look(name="study", found=Found.PASS, detail=detail)


def preflight_row(found: Preflight, accepted: Sequence[str] = ()) -> dict[str, Any]:
    """What was looked at, what each arm's client reports, and in what the arms differ."""
    failures = found.failures(accepted)
    return {
        "ok": not failures,
        "looks": [
            {"name": one.name, "found": one.found.value, "detail": one.detail}
            for one in found.looks
        ],
        "failed": [one.name for one in failures],
        "accepted": list(accepted),
        "arms": {name: dict(told) for name, told in found.arms.items()},
        "differences": found.differences,
        "gate": launch_gate_row(found.gate),
    }


def exit_code(found: Preflight, accepted: Sequence[str]) -> Exit:
    """How a run that is refused for its preflight exits: for pins, for the quota, or else."""
    names = [one.name for one in found.failures(accepted)]
    if any(name.startswith(PIN) for name in names):
        return Exit.PINS
    return Exit.LATER if names == [QUOTA] else Exit.REFUSED
