"""Errors, named by who must act. Any other exception is a bug."""

from collections.abc import Mapping
from typing import Any


class ForksError(Exception):
    """Something that forks can say in one sentence, with fields beside it.

    Args:
        message: The sentence.
        fields: What a program would want to read of it; JSON-able values.
    """

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields: Mapping[str, Any] = fields


class Refused(ForksError):
    """The caller must ask for something else: the state, or the input, does not allow it."""


class StorageFailed(ForksError):
    """The machine's keeper must act: the log or the state folder cannot be used as it is."""


class LogLocked(StorageFailed):
    """Whoever holds the log must let it go; nothing was changed."""


class LogDamaged(StorageFailed):
    """An auditor must look: a line in the log is not what was written."""


class IllegalHistory(Exception):
    """A developer must act: an event was appended that no decision could have led to."""
