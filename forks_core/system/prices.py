"""The price table: the one that comes with forks, or the one that FORKS_PRICES names."""

import os
import tomllib
from pathlib import Path

from forks_core.errors import Refused
from forks_core.rules.prices import PriceTable
from forks_events.codec import structure

PRICES = "FORKS_PRICES"
_OURS = Path(__file__).with_name("prices.toml")


def prices() -> PriceTable:
    """Read the price table.

    Raises:
        Refused: The table that FORKS_PRICES names cannot be read, or is none.
    """
    path = Path(os.environ.get(PRICES) or _OURS)
    try:
        return structure(tomllib.loads(path.read_text(encoding="utf-8")), PriceTable)
    except (OSError, ValueError) as error:
        raise Refused(f"{PRICES} names no price table", path=str(path), detail=str(error)) from None
