"""Preparing a call: what the world says of the launch now, and the prompt, stored durably."""

import uuid
from pathlib import Path

from attrs import frozen

from forks_core.decider.launching import Call
from forks_core.rules.fingerprint import launch_drift
from forks_core.rules.prompt import Delta
from forks_core.system import git
from forks_core.system.client import look_again
from forks_core.system.open_run import OpenRun
from forks_core.system.prices import prices
from forks_events.jobs import Text
from forks_events.values import Launch


@frozen(kw_only=True)
class Request:
    """What the caller says of a call.

    Args:
        brief: The file that the caller named.
        block: The caller's name for the work, or None.
        phase: The caller's phase, or None.
    """

    brief: Path
    block: str | None
    phase: int | str | None


def prepare(
    run: OpenRun, launch: Launch, request: Request, prompt: str, session: str | None = None
) -> Call:
    """Look at the launch's files, and store the prompt.

    Args:
        run: The run.
        launch: The launch that the call repeats.
        request: What the caller says of it.
        prompt: The exact prompt.
        session: The session that goes on, or None for a fresh one.

    Raises:
        Refused: The client is gone or mute, or FORKS_PRICES names no price table.
        StorageFailed: The prompt cannot be stored.
    """
    # What an unknown cost will be estimated by: better refused now than not told then.
    prices()
    found = look_again(launch)
    data = prompt.encode()
    return Call(
        request=str(uuid.uuid4()),
        session=session or str(uuid.uuid4()),
        block=request.block,
        phase=request.phase,
        brief=Text(sha256=run.folder.keep_brief(data), bytes=len(data)),
        brief_source=str(request.brief),
        drift=launch_drift(launch, found),
        binary_version=found.binary.version,
        head=git.head(Path(launch.cwd)),
    )


def delta(cwd: Path, commit: str | None) -> Delta | None:
    """Ask git what changed in a working directory since a commit; None without one."""
    if commit is None:
        return None
    return Delta(
        commit=commit,
        log=git.git(cwd, "log", "--oneline", f"{commit}..HEAD")[1],
        stat=git.git(cwd, "diff", "--shortstat", commit)[1],
    )
