"""The preflight: what a run of a study depends on, looked at before the first trial."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from forks_core.errors import Refused
from forks_core.projections.trials import scheduled, task_of
from forks_core.registry import UNREAD, Active, Retired
from forks_core.rules.looks import DISK, Found, Look, pin_looks, plan_looks, quota_look
from forks_core.rules.paths import normalise
from forks_core.rules.quota import LaunchGate, launch_gate
from forks_core.system import git
from forks_core.system.account import open_account
from forks_core.system.introduction import Introduction, introduce
from forks_core.system.open_run import OpenRun
from forks_core.system.tree import tree_sha256
from forks_events.study import Plan, Task
from forks_events.values import Launch

_GB = 1e9


@frozen(kw_only=True)
class Preflight:
    """All that was looked at.

    Args:
        looks: The looks, in order.
        arms: What each arm's client reports of itself.
        gate: What the launch gate says.
    """

    looks: tuple[Look, ...]
    arms: Mapping[str, Mapping[str, Any]]
    gate: LaunchGate

    def failures(self, accepted: Sequence[str] = ()) -> tuple[Look, ...]:
        """What fails, and is not accepted."""
        return tuple(
            look for look in self.looks if look.found is Found.FAIL and look.name not in accepted
        )

    @property
    def differences(self) -> dict[str, dict[str, Any]]:
        """What the arms' clients report differently: name to each arm's value."""
        names = sorted({name for told in self.arms.values() for name in told})
        values = {name: {arm: told.get(name) for arm, told in self.arms.items()} for name in names}
        return {name: of for name, of in values.items() if len({*map(repr, of.values())}) > 1}


def preflight(run: OpenRun, plan: Plan, launches: Mapping[str, Launch]) -> Preflight:
    """Look at everything; no trial is started, and nothing is recorded.

    Args:
        run: The study's run; its file was read and is as it was scheduled.
        plan: The plan.
        launches: Arm to its launch.
    """
    run.folder.create_copies()
    arms = {name: _introduce(run, launch) for name, launch in launches.items()}
    told = {name: found.told for name, found in arms.items() if found.told}
    quota = open_account("study preflight").registry.quotas
    account = run.require_init().settings.account
    now = run.live.clock.now()
    known = quota.get(account, UNREAD)
    gate = launch_gate(known, now, stop=plan.seven_day_stop, overage=plan.overage)
    looks = (
        *_client_looks(launches),
        _disk(run, plan),
        _repository(run),
        _copies(run),
        *plan_looks(plan, now),
        *_check_looks(run, plan),
        *_base_looks(run, plan),
        *(_arm_look(name, found, launches[name]) for name, found in arms.items()),
        *pin_looks(plan, observed(launches, told)),
        quota_look(gate),
    )
    return Preflight(looks=looks, arms=told, gate=gate)


def _introduce(run: OpenRun, launch: Launch) -> Introduction:
    with tempfile.TemporaryDirectory(prefix="forks-preflight-", ignore_cleanup_errors=True) as made:
        try:
            return introduce(run, launch, Path(made))
        except OSError as error:
            return Introduction(told=None, complaint=str(error))


def _client_looks(launches: Mapping[str, Launch]) -> Iterator[Look]:
    for binary in sorted({launch.binary.path for launch in launches.values()}):
        version = next(one.binary.version for one in launches.values() if one.binary.path == binary)
        yield Look(name="client", found=Found.PASS, detail=f"{version}, {binary}")


def _disk(run: OpenRun, plan: Plan) -> Look:
    if not os.access(run.folder.path, os.W_OK):
        return Look(name=DISK, found=Found.FAIL, detail="the state folder cannot be written")
    free = shutil.disk_usage(run.folder.path).free / _GB
    enough = free >= plan.min_free_gb
    detail = f"{free:.1f} GB free, {plan.min_free_gb:g} needed"
    return Look(name=DISK, found=Found.PASS if enough else Found.FAIL, detail=detail)


def _repository(run: OpenRun) -> Look:
    folder = Path(run.path).parent
    if git.toplevel(folder) is None:
        return Look(name="git", found=Found.WARN, detail="the study is in no git repository")
    # What a run writes itself is no change of the study.
    ours = f":(exclude){run.folder.path.name}"
    words = ("status", "--porcelain", "--untracked-files=all", "--", ".", ours)
    changed = [line[3:] for line in git.git(folder, *words)[1].splitlines() if line.strip()]
    if changed:
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        detail = f"not committed: {changed[0]}{more}"
        return Look(name="git", found=Found.WARN, detail=detail)
    return Look(name="git", found=Found.PASS, detail=f"HEAD {git.head(folder)}")


def _copies(run: OpenRun) -> Look:
    """The working copies: one that was made for an attempt to come must be as it was made."""
    begun = 0
    for copy in sorted((run.folder.path / "copies").glob("*/a[0-9]*")):
        if not copy.name[1:].isdecimal():
            continue
        trial = run.registry.trials.get(copy.parent.name)
        if trial is not None and int(copy.name[1:]) <= len(trial.attempts):
            begun += 1
        elif complaint := _touched(run, copy):
            return Look(name="copies", found=Found.FAIL, detail=f"{copy}: {complaint}")
    return Look(name="copies", found=Found.PASS, detail=f"{begun} kept")


def _touched(run: OpenRun, copy: Path) -> str | None:
    try:
        plan, entry, _ = scheduled(run.registry, copy.parent.name)
        workdir = task_of(plan, entry).workdir
        same = workdir is None or tree_sha256(copy) == workdir.sha256
    except Refused:
        # No trial's: somebody else's, and in nobody's way.
        return None
    except OSError as error:
        return str(error)
    return None if same else "it was touched; move it away"


def _check_looks(run: OpenRun, plan: Plan) -> Iterator[Look]:
    for task in plan.tasks:
        program = task.check[0]
        found = _can_run(program, task, Path(run.path).parent)
        where = "in the task's folder" if "/" in program else "on PATH"
        yield Look(
            name=f"check:{task.id}",
            found=Found.PASS if found else Found.FAIL,
            detail=program if found else f"there is no program {program} {where}",
        )


def _can_run(program: str, task: Task, folder: Path) -> bool:
    """Whether the check's program is there; what has a slash is looked for from the folder."""
    if "/" not in program:
        return shutil.which(program) is not None
    place = normalise(task.workdir.path, str(folder)) if task.workdir else ""
    path = Path(place, program)
    return path.is_absolute() and path.is_file() and os.access(path, os.X_OK)


def _base_looks(run: OpenRun, plan: Plan) -> Iterator[Look]:
    for name in sorted({arm.base for arm in plan.arms if arm.base is not None}):
        base = run.registry.bases.get(name)
        match base.state if base is not None else None:
            case Active():
                found, detail = Found.PASS, "trained"
            case Retired():
                found, detail = Found.FAIL, "retired: no trial can fork it any more"
            case _:
                found = Found.FAIL
                detail = "not trained; forks train --run takes the study file"
        yield Look(name=f"base:{name}", found=found, detail=detail)


def _arm_look(name: str, found: Introduction, launch: Launch) -> Look:
    told = found.told
    if told is None:
        return Look(name=f"arm:{name}", found=Found.FAIL, detail=found.complaint or "")
    broken = told["model"] is None
    detail = f"{told['model']}, {len(told['tools'])} tools, permissions {told['permissionMode']}"
    off = told["permissionMode"] not in {launch.permission_mode, None}
    return Look(
        name=f"arm:{name}", found=Found.FAIL if broken or off else Found.PASS, detail=detail
    )


def observed(
    launches: Mapping[str, Launch], told: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """What can be pinned, name to value: of the machine, of the first arm, and of each by name."""
    found: dict[str, str] = {
        "python_version": platform.python_version(),
        "platform": platform.platform(),
    }
    for number, (arm, launch) in enumerate(launches.items()):
        own = {
            "client_version": launch.binary.version,
            "model": launch.model,
            **{name: _plain(value) for name, value in told.get(arm, {}).items() if value},
        }
        found |= {f"{arm}.{name}": value for name, value in own.items()}
        if number == 0:
            found |= own
    return found


def _plain(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)
