"""The supervisor's program: ``python -P -m forks_core.system.supervise --run RUN --job JOB``."""

import argparse
import contextlib
import ctypes
import os

from forks_core.system.diagnostics import Diagnostics
from forks_core.system.open_run import open_configured
from forks_core.system.supervisor import Supervisor

_PR_SET_CHILD_SUBREAPER = 36
_STANDARD_ERROR = 2


def main() -> None:
    """Supervise one job; standard output and error go to the supervisor's log."""
    close_inherited()
    parser = argparse.ArgumentParser(prog="forks supervisor")
    parser.add_argument("--run", required=True)
    parser.add_argument("--job", required=True)
    arguments = parser.parse_args()
    log = Diagnostics(job=arguments.job, pid=os.getpid())
    become_subreaper()
    run = open_configured(arguments.run, "supervise")
    os.chdir(run.folder.path)
    Supervisor(run, arguments.job, log).supervise()


def close_inherited() -> None:
    """Close what the caller left open to us: nobody shall wait on a pipe for as long as we live."""
    for number in [int(name) for name in os.listdir("/proc/self/fd")]:  # noqa: PTH208 - numbers
        if number > _STANDARD_ERROR:
            with contextlib.suppress(OSError):
                os.close(number)


def become_subreaper() -> None:
    """Be the parent of every descendant whose own parent dies, so that none escapes the sweep."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
