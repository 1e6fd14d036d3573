"""The timings that are in force."""

import json

import pytest
from attrs import asdict, fields

from forks_core.errors import Refused
from forks_core.rules.supervision import Timings
from forks_core.system.timings import timings


@pytest.mark.rule("B33.1")
class TestTimings:
    """They are as documented, but for what FORKS_TIMINGS says."""

    def test_none(self) -> None:
        """Without the variable, or with an empty one, nothing is overridden."""
        assert timings({}) == timings({"FORKS_TIMINGS": ""}) == Timings()

    @pytest.mark.parametrize("name", [field.name for field in fields(Timings)])
    def test_each(self, name: str) -> None:
        """Each of them can be overridden, alone."""
        found = asdict(timings({"FORKS_TIMINGS": json.dumps({name: 7})}))
        assert found == asdict(Timings()) | {name: 7.0}

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            "[]",
            "7",
            '{"none_s": 1}',
            '{"tick_s": "soon"}',
            '{"tick_s": NaN}',
            '{"tick_s": -1}',
        ],
    )
    def test_refused(self, text: str) -> None:
        """What is no object of seconds by name is refused."""
        with pytest.raises(Refused, match="FORKS_TIMINGS must be a JSON object of seconds"):
            timings({"FORKS_TIMINGS": text})
