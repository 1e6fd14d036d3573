"""A study file made a plan: its files looked up, its arms' launches fixed, its trials in order."""

import contextlib
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from attrs import frozen
from immutables import Map

from forks_cli.launch import EFFORTS, PERMISSION_MODE, Wanted, launch_of, rules_of
from forks_cli.launch_fields import (
    admission_of,
    agent_of,
    appended_of,
    binary_of,
    model_id,
    permission_mode,
    settings_of,
    variables_of,
)
from forks_cli.rules import split_rules
from forks_core.errors import Refused
from forks_core.rules import study_file
from forks_core.rules.fingerprint import fingerprint
from forks_core.rules.paths import normalise
from forks_core.rules.schedule import Block, blocks, task_order
from forks_core.rules.study_file import (
    LARGEST,
    ArmTable,
    LaunchTable,
    StudyFile,
    TaskTable,
    read_study,
)
from forks_core.system.client import inspect
from forks_core.system.files import read_text, sha256
from forks_core.system.open_run import OpenRun
from forks_core.system.tree import tree_sha256
from forks_events.study import Arm, Attempts, Plan, Task
from forks_events.values import Binary, FileDigest, Launch

_SWITCH = {"on": True, "off": False, None: False}
_MARK = "\ufeff"
Inspect = Callable[[str], Binary]
Named = Callable[[str], contextlib.AbstractContextManager[None]]
"""Names, by a field of an arm's launch, the place in the file where that is said."""


@frozen(kw_only=True)
class Study:
    """A study as its file says it now.

    Args:
        plan: The plan.
        launches: The arms' launches, in the order of the arms.
        blocks: Its blocks, in order.
    """

    plan: Plan
    launches: tuple[Launch, ...]
    blocks: tuple[Block, ...]


def load_study(opened: OpenRun) -> Study:
    """Read a study's file and all that it names; nothing is recorded.

    Raises:
        Refused: Something in it is not as it must be; ``key`` is its path in the file.
    """
    path = Path(opened.path)
    if opened.registry.run is not None and opened.registry.study is None:
        # s.toml and s.md would share s-forks.
        raise Refused("the state folder is a run's, of another file", state=str(opened.folder.path))
    text = read_text(path, "study")
    try:
        file = read_study(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        marked = text.startswith(_MARK)
        detail = "it begins with a byte order mark: save it without one" if marked else str(error)
        raise Refused("the study file is not TOML", file=str(path), detail=detail) from error
    except RecursionError:
        detail = "nested too deep"
        raise Refused("the study file is not TOML", file=str(path), detail=detail) from None
    digest = FileDigest(path=path.name, sha256=sha256(text.encode()))
    # Many arms are run by one client: it is asked once.
    look: Inspect = cache(inspect)
    launches = tuple(_launch(file, number, opened, look) for number in range(len(file.arm)))
    plan = _plan(file, digest, launches, opened)
    with _at("task"):
        scheduled = blocks(
            [task.id for task in plan.tasks],
            [arm.name for arm in plan.arms],
            plan.phase1_runs,
            plan.phase2_runs,
            plan.schedule_seed,
        )
    return Study(plan=plan, launches=launches, blocks=scheduled)


@contextlib.contextmanager
def _at(key: str) -> Iterator[None]:
    """Name the place in the file of whatever is refused."""
    try:
        yield
    except Refused as error:
        raise Refused(error.message, **{"key": key, **error.fields}) from error


def _plan(
    file: StudyFile, digest: FileDigest, launches: tuple[Launch, ...], opened: OpenRun
) -> Plan:
    told, tasks = file.study, {task.id: (n, task) for n, task in enumerate(file.task)}
    tries = told.max_attempts
    return Plan(
        id=told.id,
        file=digest,
        phase1_runs=told.phase1_runs,
        phase2_runs=told.phase2_runs,
        schedule_seed=told.schedule_seed,
        seven_day_stop=told.seven_day_stop,
        cutoff=file.cutoff,
        max_budget_usd=told.max_budget_usd,
        budget_cap_usd=told.budget_cap_usd,
        overage=told.overage,
        concurrency=told.concurrency,
        max_attempts=Attempts(overloaded=tries.overloaded, other=tries.other, auth=tries.auth),
        min_free_gb=told.min_free_gb,
        arms=tuple(map(_arm, file.arm, launches)),
        tasks=tuple(
            _task(f"task[{tasks[name][0]}]", tasks[name][1], opened)
            for name in task_order(tasks, told.order)
        ),
        pins=Map(file.pins),
    )


def _arm(arm: ArmTable, launch: Launch) -> Arm:
    return Arm(name=arm.name, fingerprint=fingerprint(launch), base=arm.base)


def _task(key: str, task: TaskTable, opened: OpenRun) -> Task:
    return Task(
        id=task.id,
        prompt=_prompt(f"{key}.prompt", task.prompt, Path(opened.path).parent),
        workdir=_workdir(f"{key}.workdir", task.workdir, opened),
        check=task.check,
        timeout_s=task.timeout_s,
        check_timeout_s=task.check_timeout_s,
    )


def _prompt(key: str, name: str, folder: Path) -> FileDigest:
    with _at(key):
        text = read_text(Path(normalise(name, str(folder))), "prompt")
        if not text.strip():
            raise Refused("the prompt is empty: no client starts on nothing", prompt=name)
    return FileDigest(path=name, sha256=sha256(text.encode()))


def _workdir(key: str, name: str | None, opened: OpenRun) -> FileDigest | None:
    if name is None:
        return None
    with _at(key):
        path = Path(normalise(name, str(Path(opened.path).parent)))
        if not path.is_dir():
            raise Refused("not a folder", path=str(path))
        state = opened.folder.path
        if state.resolve().is_relative_to(path.resolve()):
            # What is recorded would change what is copied, and so the study itself.
            raise Refused("the study's own state would lie in it", path=str(path), state=str(state))
        try:
            return FileDigest(path=name, sha256=tree_sha256(path))
        except OSError as error:
            raise Refused("cannot read the folder", path=str(path), detail=str(error)) from error


def _launch(file: StudyFile, number: int, opened: OpenRun, look: Inspect) -> Launch:
    folder = str(Path(opened.path).parent)
    arm = file.arm[number]
    table = study_file.launch_of(file.launch, arm)

    def at(field: str) -> contextlib.AbstractContextManager[None]:
        shared = getattr(arm, field) is None and getattr(file.launch, field) is not None
        return _at(f"launch.{field}" if shared else f"arm[{number}].{field}")

    wanted = _wanted(table, at)
    with at("tools"):
        if table.tools is not None and not split_rules(table.tools):
            raise Refused("it is empty: name at least one tool")
        rules = rules_of(wanted)
    with at("model"):
        admission_of(wanted.model, Path(folder))
    with at("agent"):
        agent_of(wanted.agent, folder)
    with at("settings"):
        settings_of(wanted.settings, folder)
    with at("append_system_prompt"):
        prompt = appended_of(table.append_system_prompt, folder)
    with at("binary"):
        binary = look(binary_of(table.binary and normalise(table.binary, folder))[0])
    return launch_of(
        wanted,
        rules,
        folder=folder,
        # Each attempt has a working copy of its own below it.
        cwd=str(opened.folder.path / "copies"),
        binary=binary,
        mcp_config=str(opened.folder.mcp_config),
        prompt=prompt,
    )


def _wanted(table: LaunchTable, at: Named) -> Wanted:
    with at("model"):
        if table.model is None:
            raise Refused("no model, neither here nor in [launch]")
        model = model_id(table.model)
    with at("effort"):
        if table.effort is not None and table.effort not in EFFORTS:
            raise Refused("unknown effort", effort=table.effort, allowed=list(EFFORTS))
    with at("permission_mode"):
        permission_mode(PERMISSION_MODE if table.permission_mode is None else table.permission_mode)
    with at("git_instructions"):
        if table.git_instructions not in _SWITCH:
            raise Refused("git_instructions is on or off", value=table.git_instructions)
    with at("max_turns"):
        if table.max_turns is not None and not 0 < table.max_turns <= LARGEST:
            raise Refused(f"max_turns is 1 to {LARGEST}", value=table.max_turns)
    with at("env"):
        variables_of(table.env)
    return Wanted(
        model=model,
        effort=table.effort,
        permission_mode=table.permission_mode,
        tools=table.tools,
        allowed_tools=table.allowed_tools,
        disallowed_tools=table.disallowed_tools,
        agent=table.agent,
        settings=table.settings,
        max_turns=table.max_turns,
        env=table.env,
        git_instructions=_SWITCH[table.git_instructions],
    )
