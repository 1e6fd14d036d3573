"""Diagnostics: JSON lines for whoever looks after a process; never the event log, never a secret."""

import sys
from typing import Any, cast

import structlog

Diagnostics = structlog.typing.FilteringBoundLogger


def diagnostics(**context: Any) -> Diagnostics:
    """Make a logger that writes to standard error, with ``context`` on each line."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
    return cast("Diagnostics", structlog.get_logger().bind(**context))
