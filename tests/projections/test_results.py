"""Jobs as results."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from forks_core.projections.jobs import brief_path, raw_path, result
from forks_core.registry import Ended, Registry
from forks_events.jobs import Text
from forks_events.values import Usage
from forks_events.words import Cache, Flag, Reason, Status, UsageBasis
from tests.projections.builders import REGISTRIES, ended, fork, reached, registry, train

RESULT = {
    "job",
    "kind",
    "base",
    "block",
    "phase",
    "status",
    "flags",
    "fingerprint",
    "session",
    "parent_session",
    "models_used",
    "tokens",
    "cost_delta_usd",
    "cost_source",
    "cost_estimate_usd",
    "cache_causes",
    "cache",
    "base_state",
    "wall_s",
    "turns",
    "denials",
    "note",
    "raw",
    "paths",
    "reason",
    "model_requested",
}
TOKENS = {
    "input",
    "output",
    "cache_creation",
    "cache_creation_1h",
    "cache_creation_5m",
    "cache_read",
}


def told(**fields: Any) -> dict[str, Any]:
    """The result of a fork that ended so."""
    state = registry(fork(paths=("a", "b")), ended(**fields))
    return result(state, state.jobs["j0001"], "/w-forks")


class TestResult:
    """A result says how the job ended, what it cost, and where its traces lie."""

    @pytest.mark.rule("B25.8")
    def test_keys(self) -> None:
        """Every key is there, whatever is known."""
        assert told().keys() >= RESULT

    @pytest.mark.rule("B25.9")
    def test_money_and_tokens(self) -> None:
        """Six columns of tokens, the money of this call alone, and how they were reckoned."""
        used = Usage(
            input=1,
            output=2,
            cache_creation=30,
            cache_creation_1h=20,
            cache_creation_5m=10,
            cache_read=900,
        )
        made = told(usage=used, cost_usd=0.25, usage_basis=UsageBasis.CARRIED, wall_s=3.5)
        assert made["tokens"] == {
            "input": 1,
            "output": 2,
            "cache_creation": 30,
            "cache_creation_1h": 20,
            "cache_creation_5m": 10,
            "cache_read": 900,
        }
        assert (made["cost_delta_usd"], made["wall_s"]) == (0.25, 3.5)
        assert made["usage_basis"] == "carried"

    def test_unknown_is_null(self) -> None:
        """What was not counted is null in all columns, never zero."""
        made = told(usage=None, cost_usd=None, models_used=(), raw=None)
        assert made["tokens"] == dict.fromkeys(TOKENS)
        assert (made["cost_delta_usd"], made["models_used"], made["raw"]) == (None, [], None)

    def test_zero_is_zero(self) -> None:
        """What was counted and is nothing stays zero."""
        made = told(usage=Usage(), usage_basis=UsageBasis.FIRST, cost_usd=0.0)
        assert made["tokens"] == dict.fromkeys(TOKENS, 0)
        assert made["cost_delta_usd"] == 0.0

    def test_output_without_a_result(self) -> None:
        """The output that responses tell of is a placeholder: unknown, where nothing else counts."""
        made = told(usage=Usage(input=12, output=1), usage_basis=None, cost_usd=None)
        assert (made["tokens"]["input"], made["tokens"]["output"]) == (12, None)

    def test_verdicts(self) -> None:
        """Status, reason, flags, cache and fingerprint are words."""
        made = told(
            status=Status.LOST,
            reason=Reason.SUPERVISOR_DEAD,
            flags=(Flag.COLD_START, Flag.RESULT_RECOVERED),
            cache=Cache.MISS,
            drift=("binary",),
        )
        assert (made["status"], made["reason"]) == ("lost", "supervisor_dead")
        assert made["flags"] == ["cold_start", "result_recovered"]
        assert (made["cache"], made["fingerprint"]) == ("miss", "drift:binary")
        assert (made["base_state"], made["model_requested"]) == ("warm", "claude-opus-4-5")

    @pytest.mark.rule("B25.7", "D16")
    def test_denials(self) -> None:
        """How many times tools were denied, and which ones."""
        made = told(denials=("Write", "Bash", "Write"))
        assert made["denials"] == 3
        assert made["denied_tools"] == ["Bash", "Write"]

    @pytest.mark.rule("B25.7", "D16")
    def test_turns(self) -> None:
        """Turns are distinct responses; the client's own count has a key of its own."""
        made = told(turns=4, num_turns=7)
        assert (made["turns"], made["num_turns"]) == (4, 7)

    def test_places(self) -> None:
        """The note is named when it is there, the output when there was any."""
        made = told(note=True, raw=Text(sha256="d" * 64, bytes=3))
        assert made["note"] == "/w-forks/notes/parser.md"
        assert made["raw"] == "/w-forks/raw/j0001.jsonl" == raw_path("/w-forks", "j0001")
        assert made["paths"] == ["a", "b"]
        assert told(note=False)["note"] is None
        brief = Text(sha256="e" * 64, bytes=1)
        assert brief_path("/w-forks", brief) == f"/w-forks/briefs/{'e' * 64}.md"

    def test_training(self) -> None:
        """A training has no block, no paths, no mode and no parent; its base was not warm yet."""
        state = registry(train(), ended())
        made = result(state, state.jobs["j0001"], "/w-forks")
        assert made["kind"] == "train"
        for key in ("block", "paths", "parent_session", "base_state", "note", "cache"):
            assert made[key] is None

    @settings(deadline=None)
    @given(REGISTRIES)
    def test_law_results(self, state: Registry) -> None:
        """Every job that is over, in every history, has a result of plain data."""
        for job in state.jobs.values():
            if job.ended:
                made = result(state, job, "/w-forks")
                assert json.loads(json.dumps(made)) == made
                assert made.keys() >= RESULT
                assert made["tokens"].keys() == TOKENS

    def test_reachability(self) -> None:
        """The law looks at jobs that are over, with tokens counted and without."""
        found = REGISTRIES.map(usages)
        assert reached(found, lambda counted: True in counted)
        assert reached(found, lambda counted: False in counted)


def usages(state: Registry) -> set[bool]:
    """Whether tokens were counted, of each job that is over."""
    over = (job.state for job in state.jobs.values())
    return {state.end.usage is not None for state in over if isinstance(state, Ended)}
