"""The schedule of a study: which trials there are, and in what order (A2-A5, E1).

Nothing is shuffled: the order of the tasks, the order of the arms and the two counts of repeats
decide everything. Which arm goes first changes from repeat to repeat and from task to task, so that
no arm is always the earlier one.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby, product
from operator import attrgetter
from typing import Any

from attrs import evolve, frozen

from forks_core.errors import Refused
from forks_core.rules.naming import LABEL
from forks_events.study import Entry

FIRST_TASKS = "CDB-"
NUMBERED_TASK = re.compile(r"MB-0*([0-9]+)")
SEEDS = 1_000_000


@frozen(kw_only=True)
class Block:
    """What is run and judged as a whole: the repeats of one task in one phase.

    Args:
        id: ``P<phase>-<task>``.
        phase: 1 or 2.
        task: The task.
        runs: The repeats, from 0.
        entries: Its trials, in order.
    """

    id: str
    phase: int
    task: str
    runs: tuple[int, ...]
    entries: tuple[Entry, ...]


def safe_id(text: str) -> bool:
    """Tell whether a name is fit for ids and files (E1).

    It has 1 to 80 letters, digits and ``. _ -`` of ASCII, and does not start with a dot.
    """
    return LABEL.fullmatch(text) is not None


def task_order(ids: Iterable[str], explicit: Iterable[str] | None = None) -> tuple[str, ...]:
    """Put tasks in order (A2).

    Args:
        ids: The tasks.
        explicit: The order that was asked for: it stands as it is, and nothing is sorted.
    """
    return tuple(sorted(ids, key=_task_key) if explicit is None else explicit)


def _task_key(task: str) -> tuple[Any, ...]:
    if task.startswith(FIRST_TASKS):
        return 0, task
    if match := NUMBERED_TASK.fullmatch(task):
        # Without leading zeros the longer number is the greater one, however long it is.
        return 1, len(match[1]), match[1], task
    return 2, task


def task_position(tasks: Sequence[str], task: str) -> int:
    """The first place of a task among all tasks, from 0 (A3.6).

    Raises:
        Refused: It is none of them.
    """
    if task not in tasks:
        raise Refused("unknown task", task=task, tasks=list(tasks))
    return tasks.index(task)


def first_arm(position: int, run_index: int, arms: int) -> int:
    """Which arm goes first, from 0: the next one with every task and every repeat (A3.1, A3.2).

    Args:
        position: The task's place among all tasks, from 0.
        run_index: The repeat, from 0.
        arms: How many arms there are.

    Raises:
        Refused: There is no arm.
    """
    if arms < 1:
        raise Refused("no arm", arms=arms)
    return (position + run_index) % arms


def arm_order(arms: Sequence[str], position: int, run_index: int) -> tuple[str, ...]:
    """All arms, each once, from the first one on and around (A3.3)."""
    first = first_arm(position, run_index, len(arms))
    return (*arms[first:], *arms[:first])


def trial_id(task: str, run_index: int, arm: str) -> str:
    """The id of one trial, which counts repeats from 1 (A3.4)."""
    return f"{task}-r{run_index + 1}-{arm}"


def block_id(phase: int, task: str) -> str:
    """The id of a block (A3.4)."""
    return f"P{phase}-{task}"


def seed(task: str, run_index: int) -> int:
    """The seed of one repeat of a task, under 1 000 000 and the same for all its arms (A5.1)."""
    digest = hashlib.sha256(f"{task}:{run_index}".encode()).hexdigest()
    return int(digest[:8], 16) % SEEDS


def blocks(
    tasks: Sequence[str],
    arms: Sequence[str],
    phase1_runs: int,
    phase2_runs: int,
    schedule_seed: int | None,
) -> tuple[Block, ...]:
    """Schedule every trial: all tasks with their first repeats, then all with the others (A4).

    Args:
        tasks: All tasks, in their order.
        arms: All arms, in their order.
        phase1_runs: Repeats of each task in the first phase; 0 makes no block.
        phase2_runs: Further repeats in the second phase; 0 makes no block.
        schedule_seed: A number that is recorded with every trial, and decides nothing.

    Raises:
        Refused: Of such a plan not every trial would be one of its own (E1).
    """
    _check_ids("task", tasks)
    _check_ids("arm", arms)
    for phase, runs in enumerate((phase1_runs, phase2_runs), start=1):
        if runs < 0:
            raise Refused("a count of repeats is negative", phase=phase, runs=runs)
    phases = (range(phase1_runs), range(phase1_runs, phase1_runs + phase2_runs))
    entries = tuple(_entries(tasks, arms, phases, schedule_seed))
    # Safe names may still meet: task "a-r1", arm "x" and task "a", arm "r2-x" share a-r1-r2-x.
    if twice := _repeated(entry.trial_id for entry in entries):
        raise Refused("two trials would have one id", trial_id=twice[0])
    return of_entries(entries)


def _entries(
    tasks: Sequence[str],
    arms: Sequence[str],
    phases: Iterable[Iterable[int]],
    schedule_seed: int | None,
) -> Iterator[Entry]:
    order = count()
    for (phase, runs), (position, task) in product(enumerate(phases, 1), enumerate(tasks)):
        for run_index in runs:
            ordered = arm_order(arms, position, run_index)
            for arm_slot, arm in enumerate(ordered):
                yield Entry(
                    trial_id=trial_id(task, run_index, arm),
                    phase=phase,
                    block=block_id(phase, task),
                    run_index=run_index,
                    run=run_index + 1,
                    task=task,
                    arm=arm,
                    task_pos=position,
                    arm_slot=arm_slot,
                    first_arm=ordered[0],
                    schedule_seed=schedule_seed,
                    order_index=next(order),
                )


def _check_ids(kind: str, ids: Sequence[str]) -> None:
    if not ids:
        raise Refused(f"no {kind}")
    for name in ids:
        if not safe_id(name):
            raise Refused(
                f"unsafe {kind}: 1 to 80 letters, digits and . _ - only, and no dot first",
                **{kind: name},
            )
    if twice := _repeated(ids):
        raise Refused(f"duplicate {kind}", **{kind: twice[0]})


def _repeated(ids: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(ids).items() if times > 1]


def flat(scheduled: Iterable[Block]) -> tuple[Entry, ...]:
    """All trials in the order of the schedule (A4.4)."""
    return tuple(entry for block in scheduled for entry in block.entries)


def of_entries(entries: Iterable[Entry]) -> tuple[Block, ...]:
    """The blocks that a recorded schedule is made of: `flat`, turned around."""
    return tuple(
        _block(tuple(together)) for _, together in groupby(entries, key=attrgetter("block"))
    )


def _block(entries: tuple[Entry, ...]) -> Block:
    runs = tuple(dict.fromkeys(entry.run_index for entry in entries))
    first = entries[0]
    return Block(id=first.block, phase=first.phase, task=first.task, runs=runs, entries=entries)


def only(
    scheduled: Sequence[Block], task: str | None = None, arm: str | None = None
) -> tuple[Block, ...]:
    """The part of a schedule that is one task's, or one arm's, or both.

    Each trial keeps its place in the whole study, and so which arm of its pair is first (A3.6).

    Raises:
        Refused: Nothing of the task, or of the arm, is scheduled.
    """
    every = flat(scheduled)
    if task is not None:
        task_position(tuple(dict.fromkeys(entry.task for entry in every)), task)
    arms = list(dict.fromkeys(entry.arm for entry in every))
    if arm is not None and arm not in arms:
        raise Refused("unknown arm", arm=arm, arms=arms)
    kept = (
        evolve(block, entries=tuple(entry for entry in block.entries if arm in {None, entry.arm}))
        for block in scheduled
        if task in {None, block.task}
    )
    return tuple(kept)


def first_runs(scheduled: Iterable[Block], task: str) -> tuple[Block, ...]:
    """Take the first run of a task alone, as a block; places and order stay those of the study.

    Raises:
        Refused: There is no such task.
    """
    for block in scheduled:
        if block.task == task and 0 in block.runs:
            entries = tuple(entry for entry in block.entries if entry.run_index == 0)
            return (evolve(block, runs=(0,), entries=entries),)
    raise Refused("unknown task", task=task)
