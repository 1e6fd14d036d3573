"""What the runner of a study does next: one pure answer to the registry and the time.

Attempts that are over are judged first. Then, before every attempt, the gates in this order: a
stop was asked for; the cutoff; the budget; the disk; the quota says stop; for a block of phase 2,
that phase 1 is complete and the block fits before the cutoff. A run that is closed begins nothing
more. Then the waits: of the trial that failed, and of the quota. While attempts go on, nothing
stops or pauses before they are over.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from forks_core.projections.blocks import pending, phase2_allowed
from forks_core.projections.pace import charged_usd, estimate_s
from forks_core.projections.steps import (
    AT_ONCE,
    Abort,
    Begin,
    EndJobs,
    Judge,
    Pause,
    Rest,
    Step,
    Stop,
    View,
    Watch,
)
from forks_core.projections.trials import (
    call_of,
    final_rows,
    going_on,
    is_broken_off,
    kinds_so_far,
    open_trials,
)
from forks_core.registry import Registry
from forks_core.registry.trials import Trial
from forks_core.rules.attempts import Verdict, verdict
from forks_core.rules.backoff import wait_s
from forks_core.rules.budget import budget_allows
from forks_core.rules.cutoff import block_fits, past_cutoff
from forks_core.rules.quota import Action, current, gate, stopped_until
from forks_core.rules.schedule import Block
from forks_core.rules.study_file import SMOKE
from forks_events.study import Entry, Plan
from forks_events.trials import AttemptConcluded, InfraKind, StopReason, Wait


def next_step(
    registry: Registry, blocks: Sequence[Block], whole: Sequence[Block], view: View
) -> Step:
    """Say what is next.

    Args:
        registry: The state; its study is scheduled.
        blocks: The blocks to go through, perhaps a part of the study.
        whole: All blocks of the study.
        view: The world.
    """
    assert registry.study is not None  # noqa: S101 - the caller's duty
    table = _Table(registry, registry.study.plan, tuple(blocks), tuple(whole), view)
    return table.judging() or table.ending() or table.starting()


class _Table:
    """The question, laid out."""

    def __init__(
        self,
        registry: Registry,
        plan: Plan,
        blocks: tuple[Block, ...],
        whole: tuple[Block, ...],
        view: View,
    ) -> None:
        self._registry = registry
        self._plan = plan
        self._blocks = blocks
        self._whole = whole
        self._view = view
        self._stops = registry.runner.stops + view.stops
        self._open = open_trials(registry)
        quota = registry.readings.quota
        self._gate = gate(current(quota, view.now), stop=plan.seven_day_stop, overage=plan.overage)

    def judging(self) -> Step | None:
        """The first attempt whose job is over."""
        for trial in self._open:
            begun = trial.last.begun
            call = call_of(self._registry, begun.job)
            if call is None:
                continue
            if is_broken_off(self._registry.jobs[begun.job], call):
                return Abort(trial_id=begun.trial_id, attempt=begun.attempt)
            if self._stops < AT_ONCE:
                return Judge(trial_id=begun.trial_id, attempt=begun.attempt, job=begun.job)
        return None

    def ending(self) -> Step | None:
        """End what goes on when a stop was asked for twice."""
        if self._stops < AT_ONCE:
            return None
        jobs = going_on(self._registry)
        return EndJobs(jobs=jobs) if jobs else Stop(reason=StopReason.USER)

    def starting(self) -> Step:
        """Begin the next attempt, or say why not."""
        pause = self._registry.runner.pause
        if self._stops:
            return Watch() if self._open else Stop(reason=StopReason.USER)
        if pause is not None:
            return Watch() if self._open else Rest(until=pause.until)
        found = [self._for(block, entry) for block, entry in self._candidates()]
        closed = self._view.closed if found else None
        stop = next((step for step in found if isinstance(step, Stop)), closed)
        begin = next((step for step in found if isinstance(step, Begin)), None)
        if begin is not None and stop is None:
            return begin
        if self._open:
            return Watch()
        return stop or next(iter(found), Stop(reason=StopReason.DONE))

    def _candidates(self) -> Iterator[tuple[Block, Entry]]:
        """The trials that may be next: the first of each pair that is free, in the first block."""
        block = next((known for known in self._blocks if self._pending(known)), None)
        if block is None:
            return
        lanes: dict[int, list[Entry]] = {}
        for entry in self._pending(block):
            lanes.setdefault(entry.run_index, []).append(entry)
        mine = {self._name(entry) for lane in lanes.values() for entry in lane}
        if not mine.issuperset(trial.last.begun.trial_id for trial in self._open):
            # What an earlier run of another part has begun goes on; nothing runs beside it.
            return
        for run in sorted(lanes)[: self._plan.concurrency]:
            trial = self._trial(lanes[run][0])
            if trial is None or trial.last.end is not None:
                yield block, lanes[run][0]

    def _pending(self, block: Block) -> list[Entry]:
        return [entry for entry in block.entries if not self._is_over(self._trial(entry))]

    def _is_over(self, trial: Trial | None) -> bool:
        if trial is None or trial.final is None:
            return False
        # What was tried out in an earlier run is tried out again.
        return not self._view.smoke or self._is_of_this_run(trial)

    def _is_of_this_run(self, trial: Trial) -> bool:
        begun = trial.last.begun
        return begun.attempt > self._view.tried.get(begun.trial_id, 0)

    def _trial(self, entry: Entry) -> Trial | None:
        return self._registry.trials.get(self._name(entry))

    def _name(self, entry: Entry) -> str:
        return f"{SMOKE}{entry.trial_id}" if self._view.smoke else entry.trial_id

    # The gates

    def _for(self, block: Block, entry: Entry) -> Step:
        trial, name = self._trial(entry), self._name(entry)
        judged = self._verdict(trial)
        if judged and judged.gives_up:
            return Stop(reason=StopReason.AUTH, detail=name)
        return (
            self._stopped()
            or self._phase_2(block)
            or self._waits(name, trial, judged)
            or Begin(trial_id=name, attempt=len(trial.attempts) + 1 if trial else 1)
        )

    def _verdict(self, trial: Trial | None) -> Verdict | None:
        """What follows from the trial's last attempt, when that was judged and is not over."""
        if trial is None or not isinstance(trial.last.end, AttemptConcluded) or trial.final:
            return None
        judged = verdict(kinds_so_far(self._registry, trial), self._plan.max_attempts)
        return None if judged.gives_up and not self._is_of_this_run(trial) else judged

    def _stopped(self) -> Stop | None:
        plan, view = self._plan, self._view
        if past_cutoff(plan.cutoff, view.now):
            return Stop(reason=StopReason.TIME, detail="the cutoff is past")
        spent = charged_usd(self._registry, plan.max_budget_usd)
        # What goes on may spend all that it is allowed.
        going_on = len(self._open) * (plan.max_budget_usd or 0.0)
        if not budget_allows(spent + going_on, plan.max_budget_usd, plan.budget_cap_usd):
            detail = (
                f"{spent:.6f} USD of {plan.budget_cap_usd:g}, and {plan.max_budget_usd:g} a trial"
            )
            return Stop(reason=StopReason.BUDGET, detail=detail)
        if view.free_gb < plan.min_free_gb:
            return Stop(reason=StopReason.DISK, detail=f"{view.free_gb:.1f} GB free")
        if self._gate.action is Action.STOP:
            retry_at = stopped_until(self._registry.readings.quota, stop=plan.seven_day_stop)
            return Stop(reason=StopReason.QUOTA, detail=self._gate.reason, retry_at=retry_at)
        return None

    def _phase_2(self, block: Block) -> Stop | None:
        """Ask before a block of phase 2 whether it may begin; one that has begun goes on."""
        begun = any(self._trial(entry) for entry in block.entries)
        if block.phase == 1 or begun or self._view.smoke:
            return None
        rows = final_rows(self._registry)
        # The quota was asked before: with too little of it, no trial begins in any phase.
        if not phase2_allowed(self._whole, rows, quota_ok=True):
            missing = pending((known for known in self._whole if known.phase == 1), rows)
            detail = f"{len(missing)} left, {missing[0].trial_id} first"
            return Stop(reason=StopReason.INCOMPLETE_PHASE1, detail=detail)
        took = estimate_s(self._registry, self._whole, block)
        if not block_fits(self._plan.cutoff, self._view.now, took):
            return Stop(reason=StopReason.TIME, detail=f"{block.id} does not fit")
        return None

    # The waits

    def _waits(self, name: str, trial: Trial | None, judged: Verdict | None) -> Step | None:
        end = trial.last.end if trial else None
        if judged and judged.wait and isinstance(end, AttemptConcluded) and trial:
            until = self._until(trial, end, judged)
            waited = self._registry.runner.waited.get(name) == end.attempt
            if not waited and until > self._view.now:
                return self._pause(
                    Pause(wait=judged.wait, until=until, trial_id=name, attempt=end.attempt)
                )
        read_at = self._registry.readings.quota.read_at
        if self._gate.action is Action.WAIT and self._registry.runner.waited_reading != read_at:
            wait = wait_s(0, self._gate.wait_until, self._view.now)
            return self._pause(
                Pause(wait=Wait.QUOTA, until=self._view.now + timedelta(seconds=wait))
            )
        return None

    def _until(self, trial: Trial, end: AttemptConcluded, judged: Verdict) -> datetime:
        seconds = judged.wait_s
        if seconds is None:
            waits = kinds_so_far(self._registry, trial).count(InfraKind.RATE_LIMIT) - 1
            seconds = wait_s(waits, end.resets_at or self._gate.wait_until, end.at)
        # A clock that was set back since makes no wait longer.
        return min(end.at, self._view.now) + timedelta(seconds=seconds)

    def _pause(self, pause: Pause) -> Step:
        if past_cutoff(self._plan.cutoff, pause.until):
            return Stop(
                reason=StopReason.TIME, detail=f"to wait for {pause.wait.value} passes the cutoff"
            )
        return pause
