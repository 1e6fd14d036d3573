"""A study that was scheduled, opened for work, and held against its file."""

from attrs import frozen

from forks_cli.study_plan import Study, load_study
from forks_core.decider.study import is_moved, plan_changes
from forks_core.errors import Refused
from forks_core.projections import trials
from forks_core.rules.fingerprint import fingerprint
from forks_core.rules.schedule import Block, of_entries
from forks_core.system.open_run import OpenRun, open_study
from forks_events.study import Plan


@frozen(kw_only=True)
class OpenStudy:
    """A scheduled study at hand.

    Args:
        run: Its run.
        plan: Its plan, as it was scheduled.
        blocks: Its blocks, in order.
    """

    run: OpenRun
    plan: Plan
    blocks: tuple[Block, ...]

    @property
    def is_run(self) -> bool:
        """Whether somebody goes through it, as far as can be known from here."""
        runner = self.run.registry.runner
        if runner.started is None or runner.stopped is not None:
            return False
        return self.run.processes.is_alive(runner.started.runner) is not False


def open_scheduled(file: str, verb: str) -> OpenStudy:
    """Open a study by its file.

    Raises:
        Refused: It was not scheduled yet.
    """
    run = open_study(file, verb)
    study = trials.study_of(run.registry)
    return OpenStudy(run=run, plan=study.plan, blocks=of_entries(study.entries))


def must_be_as_scheduled(opened: OpenStudy) -> Study:
    """Read the study's file again, and all that it names.

    Raises:
        Refused: Something has changed since it was scheduled; ``fields`` says what, ``changes``
            from what to what.
    """
    study = load_study(opened.run)
    fixed = {fingerprint(launch): launch for launch in study.launches}
    known = {**opened.run.registry.launches, **fixed}
    if changed := plan_changes(opened.plan, study.plan, known):
        what = "study's folder was moved or copied" if is_moved(changed) else "study has changed"
        raise Refused(
            f"the {what} since it was scheduled",
            fields=list(changed),
            changes=changed,
            file=opened.run.path,
        )
    return study
