"""What a supervisor imposes on a job whose client it ended for being overdue."""

from collections.abc import Mapping

from forks_core.rules.outcome import Imposed
from forks_core.rules.supervision import Overdue
from forks_events.words import ErrorKind, Flag, Reason, Status

# A refused model and a result without an exit are concluded from the stream itself.
IMPOSED: Mapping[Overdue, Imposed] = {
    Overdue.TIMEOUT: Imposed(status=Status.TIMEOUT, detail="wall time"),
    Overdue.ORPHANED: Imposed(status=Status.KILLED, reason=Reason.ORPHANED, flags=(Flag.ORPHANED,)),
    Overdue.NO_OUTPUT: Imposed(
        status=Status.FAILED,
        reason=Reason.NO_RESULT,
        detail="no output",
        error_kind=ErrorKind.STARTUP,
    ),
}
FAILED = Imposed(status=Status.FAILED, reason=Reason.SUPERVISOR_ERROR)


def launch_error(error: OSError) -> Imposed:
    """The client could not be started."""
    detail = error.strerror or type(error).__name__
    return Imposed(status=Status.FAILED, reason=Reason.LAUNCH_ERROR, detail=detail)
