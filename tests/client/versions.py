"""The clients that tests are run on; the older ones only when they are asked for."""

import pytest

from tests.client.install import VERSION

BOTH = pytest.mark.parametrize(
    "client",
    [VERSION, pytest.param("2.0.76", marks=pytest.mark.older_clients)],
    indirect=True,
)
"""Two that differ in how they count, in what they say, and in how they end."""

EACH = pytest.mark.parametrize(
    "client",
    [
        VERSION,
        pytest.param("2.1.197", marks=pytest.mark.older_clients),
        pytest.param("2.0.76", marks=pytest.mark.older_clients),
    ],
    indirect=True,
)
"""One of each generation: what it carries on, what it announces, how it fails."""
