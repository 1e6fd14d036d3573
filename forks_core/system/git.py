"""What git says of a folder; without git it says nothing, and no command fails for that."""

import subprocess
from pathlib import Path

_TIMEOUT_S = 60


def git(folder: Path, *arguments: str) -> tuple[bool, str]:
    """Run a git command that changes nothing.

    Args:
        folder: Where.
        arguments: What, after ``git --no-optional-locks``.

    Returns:
        Whether it succeeded, and what it printed (on failure: what it complained of).
    """
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    output = done.stdout if done.returncode == 0 else done.stderr
    return done.returncode == 0, output.decode(errors="replace").strip()


def toplevel(folder: Path) -> Path | None:
    """The top of the working tree that a folder lies in, or None outside git."""
    done, text = git(folder, "rev-parse", "--show-toplevel")
    return Path(text) if done and text else None


def head(folder: Path) -> str | None:
    """The commit at HEAD, or None outside git and before the first commit."""
    done, text = git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    return text if done and text else None
