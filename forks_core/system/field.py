"""The field of a study's runner: working copies, supervisors, checks, and the log's news."""

import json
import shutil
import string
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from forks_core.claude.text import answer_text
from forks_core.decider.launching import Call
from forks_core.errors import Refused
from forks_core.projections.jobs import result
from forks_core.projections.trials import call_of, open_trials, scheduled, task_of
from forks_core.rules.attempts import infra_kind
from forks_core.rules.paths import normalise
from forks_core.rules.schedule import seed
from forks_core.system.as_left import all_kept, beside, keep_as_left, let_go, put_back
from forks_core.system.calls import Request, prepare
from forks_core.system.checker import run_check
from forks_core.system.files import (
    make_private,
    read_text,
    sha256,
    storage,
    write_durably,
)
from forks_core.system.killer import kill
from forks_core.system.launching import start
from forks_core.system.open_run import OpenRun
from forks_core.system.tree import tree_sha256
from forks_core.system.working_copy import make_copy, write_diff
from forks_events.jobs import Text
from forks_events.study import Task
from forks_events.trials import Check
from forks_events.words import Reason

_LOOK_S = 0.05
_GB = 1e9


class StudyField:
    """The world that a study is run in.

    Args:
        run: The study's run, opened.
        stops: Tells how often a signal asked for the end.
        show: Shows whoever watches how far it is.
        keep: Books what is lost, and tells the account.
    """

    def __init__(
        self,
        run: OpenRun,
        *,
        stops: Callable[[], int],
        show: Callable[[], None],
        keep: Callable[[], None],
    ) -> None:
        self._run = run
        self._folder = Path(run.path).parent
        self.stops = stops
        self.show = show
        self._keep = keep
        # What an earlier run has kept, and perhaps was not there any more to let go.
        self._kept = set(all_kept(run.folder.path / "copies"))

    def keep_house(self) -> None:
        """Book what is lost, tell the account, and let go what was kept for a verdict."""
        self._keep()
        if not self._kept:
            return
        going_on = {
            (trial.last.begun.trial_id, trial.last.begun.attempt)
            for trial in open_trials(self._run.registry)
        }
        for trial_id, attempt in self._kept - going_on:
            let_go(self._run.folder.working_copy(trial_id, attempt))
        self._kept &= going_on

    def free_gb(self) -> float:
        """Tell the free disk, in GB."""
        with storage(self._run.folder.path):
            return shutil.disk_usage(self._run.folder.path).free / _GB

    def prepare(self, trial_id: str, attempt: int) -> tuple[Call, str]:
        """Make an attempt's working copy and store its prompt; return its call and the copy.

        Raises:
            Refused: What the task is made of has changed since it was scheduled, or is gone.
        """
        plan, entry, _ = scheduled(self._run.registry, trial_id)
        task = task_of(plan, entry)
        copy = self._run.folder.working_copy(trial_id, attempt)
        self._copy(task, copy)
        prompt = Path(normalise(task.prompt.path, str(self._folder)))
        text = read_text(prompt, "prompt")
        if sha256(text.encode()) != task.prompt.sha256:
            raise Refused("the prompt has changed since it was scheduled", task=task.id)
        filled = string.Template(text).safe_substitute(
            seed=seed(entry.task, entry.run_index), trial=trial_id, workdir=str(copy)
        )
        arm = next(arm for arm in plan.arms if arm.name == entry.arm)
        launch = self._run.registry.launches[arm.fingerprint]
        request = Request(brief=prompt, block=entry.block, phase=entry.phase)
        return prepare(self._run, launch, request, filled), str(copy)

    def _copy(self, task: Task, copy: Path) -> None:
        source = self._source(task)
        make_copy(source, copy)
        if task.workdir is not None and tree_sha256(copy) != task.workdir.sha256:
            raise Refused(
                "the task's folder has changed since it was scheduled, or its copy was touched",
                task=task.id,
                copy=str(copy),
            )

    def _source(self, task: Task) -> Path | None:
        if task.workdir is None:
            return None
        return Path(normalise(task.workdir.path, str(self._folder)))

    def begin(self, job: str) -> None:
        """Start a job's supervisor."""
        start(self._run, self._run.job(job).spec)

    def is_begun(self, job: str) -> bool:
        """Tell whether a job's supervisor was started."""
        return self._run.processes.is_marked(self._run.marker(job))

    def judge(
        self, trial_id: str, attempt: int, job: str, unwanted: Callable[[], bool]
    ) -> tuple[Check | None, Text | None] | None:
        """Keep what changed in the working copy, and run the check where it can say something."""
        plan, entry, _ = scheduled(self._run.registry, trial_id)
        task = task_of(plan, entry)
        folder = self._run.folder
        copy = folder.working_copy(trial_id, attempt)
        marker = self._run.marker(f"{trial_id}/a{attempt}/check")
        if beside(copy).is_dir():
            # A check of it was interrupted, and may go on: it must not work on what is put back.
            self._run.processes.end([], marker)
            put_back(copy)
        diff = self._write_diff(task, trial_id, attempt)
        call = call_of(self._run.registry, job)
        if call is None or infra_kind(call) is not None:
            return None, diff
        self._kept.add((trial_id, attempt))
        if not beside(copy).is_dir():
            keep_as_left(copy)
        told = folder.kept(trial_id, attempt, "result.json")
        with storage(told):
            write_durably(told, json.dumps(self._told(trial_id, attempt, job)).encode() + b"\n")
        found = run_check(
            task.check,
            copy,
            env={
                "FORKS_TRIAL": trial_id,
                "FORKS_SEED": str(seed(entry.task, entry.run_index)),
                "FORKS_RESULT": str(told),
            },
            timeout_s=task.check_timeout_s,
            output=folder.kept(trial_id, attempt, "check.out"),
            errors=folder.kept(trial_id, attempt, "check.err"),
            processes=self._run.processes,
            marker=marker,
            unwanted=unwanted,
        )
        if found.exit_code is None and not found.timed_out and unwanted():
            return None
        check = Check(
            exit_code=found.exit_code,
            timed_out=found.timed_out,
            score=found.score,
            checks=found.checks,
            output=found.output,
            wall_s=round(found.wall_s, 3),
        )
        return check, diff

    def keep_diff(self, trial_id: str, attempt: int) -> Text | None:
        """Keep what changed in the working copy of an attempt that was broken off."""
        if not self._run.folder.working_copy(trial_id, attempt).is_dir():
            return None
        plan, entry, _ = scheduled(self._run.registry, trial_id)
        return self._write_diff(task_of(plan, entry), trial_id, attempt)

    def _write_diff(self, task: Task, trial_id: str, attempt: int) -> Text | None:
        folder = self._run.folder
        target = folder.kept(trial_id, attempt, "diff")
        with storage(folder.path):
            make_private(target.parent)
        return write_diff(self._source(task), folder.working_copy(trial_id, attempt), target)

    def _told(self, trial_id: str, attempt: int, job: str) -> dict[str, Any]:
        """What a check is told of the attempt: its result, and what the agent answered."""
        run, raw = self._run, self._run.folder.raw(job)
        return {
            "trial_id": trial_id,
            "attempt": attempt,
            "result": result(run.registry, run.job(job), str(run.folder.path)),
            "text": answer_text(raw.read_bytes()) if raw.exists() else None,
        }

    def end(self, jobs: Sequence[str]) -> None:
        """End jobs and all that belongs to them."""
        for job in jobs:
            kill(self._run, job, Reason.KILL)

    def rest(self, seconds: float) -> None:
        """Return when the log has grown, a stop was asked for, or the time is up."""
        head, stops = self._run.live.head, self.stops()
        until_s = time.monotonic() + seconds
        while (left_s := until_s - time.monotonic()) > 0:
            time.sleep(min(_LOOK_S, left_s))
            self._run.live.refresh()
            if self._run.live.head != head or self.stops() != stops:
                return
