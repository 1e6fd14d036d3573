"""The account log: quota and money belong to a credential, and are gathered here from all runs."""

import os
from pathlib import Path

from forks_core.errors import Refused
from forks_core.rules.paths import normalise
from forks_core.system.files import PRIVATE_FOLDER, storage, sync_folder, working_directory
from forks_core.system.open_run import load
from forks_core.system.state_folder import StateFolder
from forks_core.transact import Live

ACCOUNT = "FORKS_ACCOUNT"
LOCK_WAIT_S = 2.0
"""An account that is busy for longer is left to whoever comes next: no call waits for it."""


def account_folder() -> StateFolder:
    """Where the account log lies: what FORKS_ACCOUNT names, else the platform's place for state.

    Raises:
        Refused: Nothing names a place.
    """
    named = os.environ.get(ACCOUNT)
    if named:
        return StateFolder(Path(normalise(named, working_directory())))
    state = os.environ.get("XDG_STATE_HOME") or ""
    home = Path(state) if state.startswith("/") else _home() / ".local" / "state"
    return StateFolder(home / "forks" / "account")


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise Refused(f"there is no home; name the account's folder by {ACCOUNT}") from error


def open_account(verb: str, *, lock_wait_s: float = LOCK_WAIT_S) -> Live:
    """Open the account log and fold it; there need not be one yet.

    Args:
        verb: What is being done, for the record.
        lock_wait_s: Seconds to wait for another writer.

    Raises:
        StorageFailed: It cannot be read, or is damaged.
    """
    return load(account_folder(), verb, lock_wait_s=lock_wait_s)


def make_account() -> None:
    """Make the account's folder where it is missing.

    Raises:
        StorageFailed: It cannot be made.
    """
    folder = account_folder().path
    with storage(folder):
        for path in (folder, folder / "cache"):
            if not path.is_dir():
                path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
                sync_folder(path.parent)
