"""What the API's answers cost, by the list price of the model that the tests ask for."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

MODEL = "claude-opus-4-5"
# USD for a million tokens.
_INPUT, _OUTPUT, _WRITE_1H, _READ = 5.0, 25.0, 10.0, 0.5


class Bill(NamedTuple):
    """Tokens that were answered; all cache writes are to live for an hour."""

    input: int = 0
    output: int = 0
    written: int = 0
    read: int = 0

    @classmethod
    def total(cls, bills: Iterable["Bill"]) -> Self:
        """Add bills up."""
        return cls(*map(sum, zip(*bills, strict=True)))

    @property
    def usd(self) -> float:
        """The list price."""
        prompt = _INPUT * self.input + _WRITE_1H * self.written + _READ * self.read
        return (prompt + _OUTPUT * self.output) / 1e6

    @property
    def tokens(self) -> dict[str, Any]:
        """The token columns of a result."""
        return {
            "input": self.input,
            "output": self.output,
            "cache_creation": self.written,
            "cache_creation_1h": self.written,
            "cache_creation_5m": 0,
            "cache_read": self.read,
        }
