"""What every verb that works on a run does beside its work: nothing lost stays unbooked."""

from forks_cli.answer import diagnose
from forks_core.system.open_run import OpenRun
from forks_core.system.outbox import forward
from forks_core.system.reaper import reap


def keep_house(opened: OpenRun) -> list[str]:
    """Book lost jobs, and pass on to the account what is left of anybody's; return the lost ones."""
    lost = reap(opened)
    tell_account(opened)
    return lost


def tell_account(opened: OpenRun) -> None:
    """Pass on what the run has to say to its account."""
    if complaint := forward(opened):
        diagnose(complaint)
