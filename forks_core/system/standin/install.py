"""Put the stand-in where a client is looked for."""

import shlex
import sys
from pathlib import Path

_PACKAGE_ROOT = Path(__file__).resolve().parents[3]


def install(folder: Path) -> Path:
    """Write the launcher `claude-standin` into a folder and return its path.

    The launcher is a shell script that becomes this very interpreter, so a long path or one
    with spaces does no harm. It overwrites an older launcher; the folder is made if need be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    launcher = folder / "claude-standin"
    program = (
        f"import sys; sys.path.append({str(_PACKAGE_ROOT)!r}); "
        "from forks_core.system.standin.program import main; sys.exit(main())"
    )
    command = shlex.join([sys.executable, "-P", "-c", program])
    launcher.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    return launcher
