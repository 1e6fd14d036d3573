"""The outbox: what a run's log says of quota and money is passed on to the account log.

Each run is passed on from where the account log says it was left, so it does not matter who does
it, or how often. The two logs are never locked together. A run for demonstration or test passes
nothing on.
"""

import uuid
from pathlib import Path

from forks_core.decider.account import Forward
from forks_core.errors import ForksError, LogLocked
from forks_core.projections.outbox import outbox
from forks_core.system.account import LOCK_WAIT_S, account_folder, make_account, open_account
from forks_core.system.open_run import OpenRun
from forks_core.transact import transact

_AGAIN_S = 60.0
_gave_up: dict[Path, float] = {}
"""Accounts that were busy for too long, and when: who has just waited in vain does not wait again."""


def forward(run: OpenRun) -> str | None:
    """Pass on what nobody has passed on yet.

    Returns:
        Why that could not be done, or None: the run does not suffer for it, and whoever comes next
        tries again.
    """
    try:
        _forward(run)
    except ForksError as error:
        return f"the account could not be told: {error.message}"
    return None


def _forward(run: OpenRun) -> None:
    if run.registry.run is None or run.registry.run.opened.lab:
        return
    opened = run.registry.run.opened
    account = open_account(run.live.author.verb, lock_wait_s=_wait_s(run))
    done = account.registry.forwarded.get(opened.run, 0)
    if run.live.head.seq <= done:
        return
    reading = run.live.log.read(done + 1)
    # What others recorded meanwhile is folded before it is spoken of.
    run.live.refresh()
    entries = outbox(reading.envelopes, run.registry, str(run.folder.path))
    if not entries:
        return
    # What the account holds must not be lost of the run.
    run.live.log.sync()
    make_account()
    command = Forward(
        log=str(uuid.uuid4()),
        forks_version="" if account.registry.run else _version(),
        run=opened.run,
        entries=entries,
        seq=reading.head.seq,
    )
    try:
        transact(account, command)
    except LogLocked:
        _gave_up[account_folder().path] = run.live.clock.monotonic()
        raise


def _wait_s(run: OpenRun) -> float:
    gave_up_s = _gave_up.get(account_folder().path)
    just_now = gave_up_s is not None and run.live.clock.monotonic() - gave_up_s < _AGAIN_S
    return 0.0 if just_now else LOCK_WAIT_S


def _version() -> str:
    # To look it up costs more than all the rest, and only a new log asks for it.
    from importlib.metadata import version  # noqa: PLC0415

    return version("agent-forks")
