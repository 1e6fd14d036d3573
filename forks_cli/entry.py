"""The door: what a caller may interrupt from the first moment on, and gets an answer all the same."""

import signal
import sys
from importlib import import_module
from typing import NoReturn

_REFUSED = 2


def main() -> int:
    """Run one command; being told to end is answered like everything else."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    try:
        code: int = import_module("forks_cli.main").main()
    except KeyboardInterrupt:
        sys.stdout.write('{"error": "interrupted"}\n')
        sys.stdout.flush()
        return _REFUSED
    return code


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
