"""The configuration as ``init`` answers it."""

import json

import pytest
from attrs import evolve, fields

from forks_core.projections.config import config
from forks_core.reducer import fold
from forks_core.registry import INITIAL
from forks_events.run import LaunchFixed, RunConfigured
from forks_events.values import Launch
from tests.histories import LAUNCH, SETTINGS
from tests.projections.builders import OPENING, PRINT, at, registry


class TestConfig:
    """It is the launch, its fingerprint, how client and model were found, and every setting."""

    def test_before_init(self) -> None:
        """Without an init there is none, also where the run was opened already."""
        assert config(INITIAL) is None
        assert config(fold(OPENING[:1])) is None
        assert config(fold(OPENING[:2])) is None

    @pytest.mark.rule("B13.9")
    def test_keys(self) -> None:
        """Settings lie beside the launch, thresholds in a group of their own."""
        found = config(registry())
        assert found is not None
        assert found.keys() == {
            "launch",
            "fingerprint",
            "binary_resolved_by",
            "model_admission",
            "parallel_cap",
            "orphan_after",
            "pings",
            "ttl_s",
            "max_minutes",
            "stall_after_s",
            "no_output_s",
            "stagger_s",
            "thresholds",
            "account",
        }
        assert found["thresholds"].keys() == {
            "rebase_commits",
            "rebase_lines",
            "rebase_delta_tokens",
            "max_base_tokens",
            "max_rebases",
        }
        assert found["fingerprint"] == PRINT
        assert (found["binary_resolved_by"], found["pings"]) == ("PATH", False)

    @pytest.mark.rule("B13.8")
    def test_launch(self) -> None:
        """The launch is shown whole, as plain data, and a client's time of change is not in it."""
        found = config(registry())
        assert found is not None
        assert json.loads(json.dumps(found)) == found
        launch = found["launch"]
        assert launch.keys() == {field.name for field in fields(Launch)}
        assert launch["tools"] == ["Read", "Edit"]
        assert launch["binary"].keys() == {"path", "version", "size"}
        assert launch["append_system_prompt"].keys() == {"path", "sha256"}
        assert launch["mcp"] == {"strict": True, "config": "/run-forks/mcp-empty.json"}

    def test_the_last_one_stands(self) -> None:
        """After another init the new launch and settings are told."""
        other = evolve(LAUNCH, model="claude-sonnet-4-5")
        found = config(
            registry(
                LaunchFixed(at=at(1), fingerprint="0" * 64, launch=other),
                RunConfigured(
                    at=at(1),
                    fingerprint="0" * 64,
                    settings=evolve(SETTINGS, parallel_cap=9),
                    binary_resolved_by="--binary",
                    model_admission="exact id claude-sonnet-4-5 in /s.json",
                ),
            )
        )
        assert found is not None
        assert found["launch"]["model"] == "claude-sonnet-4-5"
        assert (found["fingerprint"], found["parallel_cap"]) == ("0" * 64, 9)
        assert found["binary_resolved_by"] == "--binary"
