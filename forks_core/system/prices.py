"""The price table: the one that comes with forks, or the one that FORKS_PRICES names."""

import os
from pathlib import Path

from forks_core.errors import Refused
from forks_core.rules.prices import PriceTable
from forks_events.codec import structure

PRICES = "FORKS_PRICES"
_OURS = Path(__file__).with_name("prices.toml")


def prices_at_hand() -> PriceTable:
    """The table that FORKS_PRICES names, or ours where that is none: a job that ends is not refused."""
    try:
        return prices()
    except Refused:
        return _read(_OURS)


def prices() -> PriceTable:
    """Read the price table.

    Raises:
        Refused: The table that FORKS_PRICES names cannot be read, or is none.
    """
    path = Path(os.environ.get(PRICES) or _OURS)
    try:
        return _read(path)
    except (OSError, ValueError) as error:
        raise Refused(f"{PRICES} names no price table", path=str(path), detail=str(error)) from None


def _read(path: Path) -> PriceTable:
    # Most commands end nothing, and need not pay for what reads it.
    import tomllib  # noqa: PLC0415

    return structure(tomllib.loads(path.read_text(encoding="utf-8")), PriceTable)
