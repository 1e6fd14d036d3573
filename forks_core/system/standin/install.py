"""Put the stand-in where a client is looked for."""

import shlex
import sys
from pathlib import Path

_PACKAGE_ROOT = Path(__file__).resolve().parents[3]


def install(folder: Path, home: Path | None = None) -> Path:
    """Write the launcher `claude-standin` into a folder and return its path.

    The launcher is a shell script that becomes this very interpreter, so a long path or one
    with spaces does no harm. It overwrites an older launcher; the folder is made if need be.
    With a `home`, the sessions lie there unless FORKS_STANDIN_HOME says otherwise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    launcher = folder / "claude-standin"
    program = (
        f"import sys; sys.path.append({str(_PACKAGE_ROOT)!r}); "
        "from forks_core.system.standin.program import main; sys.exit(main())"
    )
    command = shlex.join([sys.executable, "-P", "-c", program])
    settled = f": ${{FORKS_STANDIN_HOME:={shlex.quote(str(home))}}}\nexport FORKS_STANDIN_HOME\n"
    lines = f'#!/bin/sh\n{settled if home else ""}exec {command} "$@"\n'
    launcher.write_text(lines, encoding="utf-8")
    launcher.chmod(0o755)
    return launcher
