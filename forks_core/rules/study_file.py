"""The study file: what a researcher writes, checked key by key before anything is looked at.

It is TOML; the keys are those of `StudyFile` and the classes above it. What is left out has the
default that stands there.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from attrs import evolve, field, frozen
from immutables import Map

from forks_core.errors import Refused
from forks_core.rules.backoff import OVERLOAD_RETRIES
from forks_core.rules.cutoff import parse_utc
from forks_core.rules.naming import BASE_NAME
from forks_core.rules.quota import SEVEN_DAY_STOP
from forks_core.rules.schedule import safe_id
from forks_core.rules.wrong_keys import below, wrong_keys
from forks_events.codec import Undecodable, structure_written
from forks_events.study import Overage

SMOKE = "SMOKE-"
LONGEST_S = 7 * 86_400.0
MOST_RUNS = 1_000
LARGEST = 1_000_000_000
"""No amount is larger: sums of it can still be told."""
MOST_SEED = 10**15 - 1
"""So many digits a number in JSON holds exactly."""


@frozen(kw_only=True)
class AttemptsTable:
    """``study.max_attempts``: how often a trial is tried, by what went wrong before."""

    overloaded: int = OVERLOAD_RETRIES + 1
    other: int = 2
    auth: int = 2


@frozen(kw_only=True)
class StudyTable:
    """``[study]``; see `forks_events.study.Plan` for what the keys mean.

    Args:
        cutoff: A time; without a zone it is UTC.
        order: The tasks in the order to run them in; left out: sorted by their kind and number.
    """

    id: str
    phase1_runs: int = 3
    phase2_runs: int = 2
    schedule_seed: int | None = None
    seven_day_stop: float = SEVEN_DAY_STOP
    cutoff: str | None = None
    max_budget_usd: float | None = None
    budget_cap_usd: float | None = None
    overage: Overage = Overage.STOP
    concurrency: int = 1
    max_attempts: AttemptsTable = field(factory=AttemptsTable)
    min_free_gb: float = 2.0
    order: tuple[str, ...] | None = None


@frozen(kw_only=True)
class LaunchTable:
    """``[launch]``, and what an arm says otherwise: the fields of ``forks init``, as lists."""

    model: str | None = None
    effort: str | None = None
    permission_mode: str | None = None
    tools: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] | None = None
    append_system_prompt: str | None = None
    agent: str | None = None
    settings: str | None = None
    max_turns: int | None = None
    binary: str | None = None
    env: tuple[str, ...] | None = None
    git_instructions: str | None = None


@frozen(kw_only=True)
class ArmTable(LaunchTable):
    """``[[arm]]``: a name, perhaps a trained base to fork, and what differs in the launch."""

    name: str
    base: str | None = None


@frozen(kw_only=True)
class TaskTable:
    """``[[task]]``: paths are relative to the study file."""

    id: str
    prompt: str
    check: tuple[str, ...]
    workdir: str | None = None
    timeout_s: float = 1800.0
    check_timeout_s: float = 120.0


@frozen(kw_only=True)
class StudyFile:
    """The whole file."""

    study: StudyTable
    launch: LaunchTable = field(factory=LaunchTable)
    arm: tuple[ArmTable, ...]
    task: tuple[TaskTable, ...]
    pins: Map[str, str] = field(factory=Map)

    @property
    def cutoff(self) -> datetime | None:
        """Nothing is started from then on, or None."""
        return parse_utc(self.study.cutoff) if self.study.cutoff is not None else None


def read_study(data: Mapping[str, Any]) -> StudyFile:
    """Read a study out of parsed TOML.

    Raises:
        Refused: Something in it is not as it must be; ``key`` is its path.
    """
    try:
        found = structure_written(_with_cutoff_as_text(data), StudyFile)
    except Undecodable as error:
        first, *more = _without_pins(data, [*wrong_keys(error.__cause__ or error)])
        raise _refused(*first, more=[f"{key}: {why}" for key, why in more]) from error
    for key, why in _faults(found):
        raise _refused(key, why)
    return found


def _refused(key: str, why: str, **more: object) -> Refused:
    return Refused("the study file is not as it must be", key=key, detail=why, **more)


def _with_cutoff_as_text(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """TOML knows times, and the cutoff may be one; nowhere else is a time a text."""
    study = data.get("study")
    cutoff = study.get("cutoff") if isinstance(study, dict) else None
    if not isinstance(study, dict) or not isinstance(cutoff, date):
        return data
    return {**data, "study": {**study, "cutoff": cutoff.isoformat()}}


def _no_text(value: object) -> str:
    return "" if isinstance(value, str) else f"expected str, not {value!r}"


def _without_pins(data: Mapping[str, Any], wrong: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Tell what is wrong with pins pin by pin."""
    pins = data.get("pins")
    told = pins.items() if isinstance(pins, dict) else ()
    each = [(below("pins", name), why) for name, value in told if (why := _no_text(value))]
    return [fault for fault in wrong if not each or fault[0] != "pins"] + each


def launch_of(shared: LaunchTable, arm: ArmTable) -> LaunchTable:
    """What an arm is launched by: what it says itself, else what is shared."""
    said = {
        name: getattr(arm, name)
        for name in LaunchTable.__annotations__
        if getattr(arm, name) is not None
    }
    return evolve(shared, **said)


def _faults(file: StudyFile) -> Iterator[tuple[str, str]]:
    yield from _study_faults(file.study)
    yield from _names("arm", "name", [arm.name for arm in file.arm])
    for number, arm in enumerate(file.arm):
        if arm.base is not None and not BASE_NAME.fullmatch(arm.base):
            yield f"arm[{number}].base", "only letters, digits and . _ -"
    yield from _names("task", "id", [task.id for task in file.task])
    for number, task in enumerate(file.task):
        if task.id.startswith(SMOKE):
            yield f"task[{number}].id", f"{SMOKE} is how the ids of smoke trials begin"
        yield from _task_faults(f"task[{number}]", task)
    order = file.study.order
    if order is not None and sorted(order) != sorted(task.id for task in file.task):
        yield "study.order", "it must name every task once"


def _study_faults(study: StudyTable) -> Iterator[tuple[str, str]]:
    tries = study.max_attempts
    yield from _label("study.id", study.id)
    yield from _outside("study.phase1_runs", study.phase1_runs, 0, MOST_RUNS)
    yield from _outside("study.phase2_runs", study.phase2_runs, 0, MOST_RUNS)
    yield from _outside("study.concurrency", study.concurrency, 1, MOST_RUNS)
    yield from _outside("study.min_free_gb", study.min_free_gb, 0, LARGEST)
    yield from _outside("study.schedule_seed", study.schedule_seed or 0, -MOST_SEED, MOST_SEED)
    for name in AttemptsTable.__annotations__:
        yield from _outside(f"study.max_attempts.{name}", getattr(tries, name), 1, MOST_RUNS)
    yield from _not_positive("study.seven_day_stop", study.seven_day_stop, 1)
    yield from _not_positive("study.max_budget_usd", study.max_budget_usd, LARGEST)
    yield from _not_positive("study.budget_cap_usd", study.budget_cap_usd, LARGEST)
    if not study.phase1_runs + study.phase2_runs:
        yield "study.phase1_runs", "there is no run in either phase"
    if study.budget_cap_usd is not None and study.max_budget_usd is None:
        yield "study.budget_cap_usd", "it needs max_budget_usd: one trial could spend all of it"
    if study.cutoff is not None:
        try:
            parse_utc(study.cutoff)
        except ValueError as error:
            yield "study.cutoff", str(error)


def _outside(key: str, value: float, least: float, most: float) -> Iterator[tuple[str, str]]:
    if not least <= value <= most:
        yield key, f"{least} to {most} only"


def _not_positive(key: str, value: float | None, most: float) -> Iterator[tuple[str, str]]:
    if value is not None and not 0 < value <= most:
        yield key, f"it must be over 0, and at most {most:.0f}"


def _names(table: str, key: str, names: list[str]) -> Iterator[tuple[str, str]]:
    if not names:
        yield table, "there is none"
    for number, name in enumerate(names):
        yield from _label(f"{table}[{number}].{key}", name)
        if name in names[:number]:
            yield f"{table}[{number}].{key}", f"{name} is there twice"


def _label(key: str, name: str) -> Iterator[tuple[str, str]]:
    if not safe_id(name):
        yield key, "only letters, digits and . _ -, not first a dot, at most 80 of them"


def _task_faults(key: str, task: TaskTable) -> Iterator[tuple[str, str]]:
    if not task.check or not task.check[0] or any("\0" in word for word in task.check):
        yield f"{key}.check", "it must name a program, and its arguments"
    for name in ("timeout_s", "check_timeout_s"):
        yield from _not_positive(f"{key}.{name}", getattr(task, name), LONGEST_S)
