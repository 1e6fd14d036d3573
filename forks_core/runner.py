"""The runner of a study: it asks what is next, does it, and records it, until the run is over.

It holds no state that counts: whatever it was doing when it was stopped, the log says what is
next. An attempt that went on meanwhile is adopted, one that ended is judged, and one whose
supervisor was never started is started.
"""

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, assert_never

from attrs import asdict, define
from immutables import Map

from forks_core.decider import Command
from forks_core.decider.launching import Call
from forks_core.decider.run import SeeOrchestrator
from forks_core.decider.runner import BeginPause, EndPause, StopStudy
from forks_core.decider.trials import AbortAttempt, BeginTrial, ConcludeAttempt
from forks_core.errors import ForksError
from forks_core.projections.next_step import next_step
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
from forks_core.projections.trials import going_on, open_trials, tried
from forks_core.registry import Created
from forks_core.rules.schedule import Block
from forks_core.transact import Live, transact
from forks_events.jobs import Text
from forks_events.trials import Check, StopReason, StudyStopped

LOOK_S = 2.0
"""Something is looked after at least this often."""


class Field(Protocol):
    """What the runner of a study does to the world."""

    def free_gb(self) -> float:
        """Tell the free disk, in GB."""

    def stops(self) -> int:
        """Tell how often a signal asked for the run to end."""

    def prepare(self, trial_id: str, attempt: int) -> tuple[Call, str]:
        """Make an attempt's working copy and store its prompt; return its call and the copy."""

    def begin(self, job: str) -> None:
        """Start a job's supervisor."""

    def is_begun(self, job: str) -> bool:
        """Tell whether a job's supervisor was started."""

    def judge(
        self, trial_id: str, attempt: int, job: str, unwanted: Callable[[], bool]
    ) -> tuple[Check | None, Text | None] | None:
        """Keep what changed in the working copy and run the check; None: it was unwanted."""

    def keep_diff(self, trial_id: str, attempt: int) -> Text | None:
        """Keep what changed in the working copy of an attempt that was broken off."""

    def end(self, jobs: Sequence[str]) -> None:
        """End jobs and all that belongs to them."""

    def keep_house(self) -> None:
        """Book what is lost, and tell the account."""

    def rest(self, seconds: float) -> None:
        """Return when something may have happened, at the latest after so many seconds."""

    def show(self) -> None:
        """Show whoever watches how far it is."""


@define
class Runner:
    """One run of a study.

    What it remembers is what the log said when it began, and how long it has rested.

    Args:
        live: The study's log; the runner was started in it.
        field: What is done to the world.
        blocks: The blocks to go through, perhaps a part of the study.
        whole: All blocks of the study.
        smoke: Whether only to try things out.
        closed: How it ends once what goes on is over, when nothing more shall begin.
    """

    live: Live
    field: Field
    blocks: Sequence[Block]
    whole: Sequence[Block]
    smoke: bool = False
    closed: Stop | None = None
    _tried: Map[str, int] | None = None
    _rests: tuple[datetime, float] | None = None

    def run(self) -> StudyStopped:
        """Go through the trials until the run is over, and say how it ended.

        Raises:
            ForksError: Something is in the way; what went on was seen to its end before.
        """
        self._adopt()
        try:
            return self._go()
        except ForksError as error:
            self.closed = Stop(reason=StopReason.FAILED, detail=error.message)
            with contextlib.suppress(ForksError):
                self._see_out(self.closed)
            raise

    def _see_out(self, failed: Stop) -> None:
        """See to its end what goes on; what is in the way may be in the way of judging it, too."""
        try:
            self._go()
        except ForksError:
            while jobs := going_on(self.live.refresh()):
                at_once = self._stops() >= AT_ONCE
                self.field.end(jobs) if at_once else self._watch(LOOK_S)
            self._do(failed)

    def _stops(self) -> int:
        return self.field.stops() + self.live.registry.runner.stops

    def _go(self) -> StudyStopped:
        while (stopped := self.step()) is None:
            self.field.show()
        return stopped

    def step(self) -> StudyStopped | None:
        """Do one thing; when that was to stop, return how."""
        self.live.refresh()
        self._do(next_step(self.live.registry, self.blocks, self.whole, self._view()))
        return self.live.registry.runner.stopped

    def _view(self) -> View:
        if self._tried is None:
            self._tried = tried(self.live.registry)
        return View(
            now=self.live.clock.now(),
            free_gb=self.field.free_gb(),
            stops=self.field.stops(),
            smoke=self.smoke,
            tried=self._tried,
            closed=self.closed,
        )

    def _do(self, step: Step) -> None:
        match step:
            case Judge():
                self._judge(step)
            case Abort():
                diff = self.field.keep_diff(step.trial_id, step.attempt)
                self._say(AbortAttempt(**asdict(step), diff=diff))
            case EndJobs():
                self.field.end(step.jobs)
            case Begin():
                self._begin(step)
            case Pause():
                self._say(BeginPause(**asdict(step)))
            case Rest():
                self._rest(step.until)
            case Watch():
                self._watch(LOOK_S)
            case Stop():
                self._say(StopStudy(**asdict(step)))
            case _:
                assert_never(step)

    def _say(self, command: Command) -> None:
        transact(self.live, command)

    def _adopt(self) -> None:
        """Start what was decided and never started; all else goes on by itself."""
        registry = self.live.refresh()
        for trial in open_trials(registry):
            job = trial.last.begun.job
            if isinstance(registry.jobs[job].state, Created) and not self.field.is_begun(job):
                self.field.begin(job)
        # Only now: what was never started has not spoken for as long as nobody was here.
        self.field.keep_house()

    def _begin(self, step: Begin) -> None:
        call, cwd = self.field.prepare(step.trial_id, step.attempt)
        self._say(BeginTrial(trial_id=step.trial_id, attempt=step.attempt, call=call, cwd=cwd))
        job = self.live.registry.trials[step.trial_id].last.begun.job
        self.field.begin(job)

    def _judge(self, step: Judge) -> None:
        judged = self.field.judge(step.trial_id, step.attempt, step.job, self._keeper())
        if judged is None:
            return
        check, diff = judged
        self._say(
            ConcludeAttempt(trial_id=step.trial_id, attempt=step.attempt, check=check, diff=diff)
        )
        self.field.keep_house()

    def _keeper(self) -> Callable[[], bool]:
        """What is asked while a check goes on: other attempts must not be orphaned by it."""
        at_s = self.live.clock.monotonic()

        def unwanted() -> bool:
            nonlocal at_s
            if self.live.clock.monotonic() - at_s >= LOOK_S:
                at_s = self.live.clock.monotonic()
                self._say(SeeOrchestrator())
            return self._stops() >= AT_ONCE

        return unwanted

    def _rest(self, until: datetime) -> None:
        """Wait for the end of a pause: at the same instant, whatever a clock is set to meanwhile."""
        clock = self.live.clock
        if self._rests is None or self._rests[0] != until:
            left_s = max(0.0, (until - clock.now()).total_seconds())
            self._rests = (until, clock.monotonic() + left_s)
        left_s = self._rests[1] - clock.monotonic()
        if left_s > 0:
            self._watch(min(LOOK_S, left_s))
        else:
            self._rests = None
            self._say(EndPause())

    def _watch(self, seconds: float) -> None:
        self._say(SeeOrchestrator())
        self.field.keep_house()
        self.field.rest(seconds)
