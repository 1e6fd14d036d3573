"""Diagnostics: JSON lines for whoever looks after a process; never the event log, never a secret.

Most supervisors have nothing to tell, so structlog, which takes half as long to import as all else
together, is imported at the first line.
"""

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


class Diagnostics:
    """A process's diagnostics, on standard error.

    Args:
        context: What stands on each line.
    """

    def __init__(self, **context: Any) -> None:
        self._context = context

    def info(self, what: str, **fields: Any) -> None:
        """Tell what went as it should, and is worth knowing."""
        self._logger.info(what, **fields)

    def warning(self, what: str, **fields: Any) -> None:
        """Tell what did not go as it should, and was dealt with."""
        self._logger.warning(what, **fields)

    def error(self, what: str, **fields: Any) -> None:
        """Tell what somebody has to look after."""
        self._logger.error(what, **fields)

    @cached_property
    def _logger(self) -> "FilteringBoundLogger":
        import structlog  # noqa: PLC0415

        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
            logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        )
        return cast("FilteringBoundLogger", structlog.get_logger().bind(**self._context))
