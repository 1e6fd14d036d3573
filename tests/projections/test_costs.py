"""What a result says a job cost, and who says so."""

from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.projections.jobs import result
from forks_core.rules.prices import Price, PriceTable
from forks_events import Event
from forks_events.stream import StreamTurned
from forks_events.values import Usage
from forks_events.words import Reason, Status, UsageBasis
from tests.histories import MODEL
from tests.projections.builders import ended, fork, launched, registry, started, turned

# Round prices, so that what is expected can be reckoned in the head.
PRICES = PriceTable(
    as_of="2026-08-22",
    models=Map(
        {
            MODEL: Price(
                input=5.0, output=25.0, cache_write_5m=6.25, cache_write_1h=10.0, cache_read=0.5
            ),
            "claude-haiku-4-5": Price(
                input=1.0, output=5.0, cache_write_5m=1.25, cache_write_1h=2.0, cache_read=0.1
            ),
        }
    ),
)
KILLED: dict[str, Any] = {
    "status": Status.KILLED,
    "reason": Reason.KILL,
    "cost_usd": None,
    "usage_basis": None,
    "models_used": (),
    "exit_code": -9,
}
GOOD: dict[str, Any] = {"cost_usd": 0.25, "usage_basis": UsageBasis.FIRST}


def told(*heard: Event, **end: Any) -> dict[str, Any]:
    """What the result of a fork says of its cost, whose client gave these responses."""
    state = registry(fork(), launched(), started(), *heard, ended(**end))
    made = result(state, state.jobs["j0001"], "/w-forks", PRICES)
    names = ("cost_delta_usd", "cost_source", "cost_estimate_usd", "prices_as_of")
    return {name: made[name] for name in names}


def by(model: str | None, event: StreamTurned) -> StreamTurned:
    """The same response of another model."""
    return evolve(event, model=model)


@pytest.mark.rule("B23.5")
class TestEstimate:
    """A job that was killed without a result has a cost that is unknown, and an estimate of it."""

    def test_killed(self) -> None:
        """Its distinct responses are priced, a subagent's too, and the cost stays unknown."""
        # 100 x 5 + 1000 x 10 + 20000 x 0.5, and the subagent's 40 x 5: 20,700 millionths.
        heard = (
            turned("j0001", 1, input=100, cache_creation=1000, cache_read=20_000),
            turned("j0001", 2, main=False, input=40),
        )
        assert told(*heard, **KILLED) == {
            "cost_delta_usd": None,
            "cost_source": "estimate",
            "cost_estimate_usd": 0.0207,
            "prices_as_of": "2026-08-22",
        }

    def test_several_models(self) -> None:
        """Each model's tokens have its own price."""
        # 100 x 5 + 100 x 1.
        heard = (
            turned("j0001", 1, input=100),
            by("claude-haiku-4-5-20251001", turned("j0001", 2, main=False, input=100)),
        )
        assert told(*heard, **KILLED)["cost_estimate_usd"] == 0.0006

    @pytest.mark.parametrize("model", ["claude-novel-9", None])
    def test_unknown_model(self, model: str | None) -> None:
        """A model without a price leaves all of it unknown: nobody says anything."""
        heard = (turned("j0001", 1, input=100), by(model, turned("j0001", 2, input=1)))
        assert told(*heard, **KILLED) == {
            "cost_delta_usd": None,
            "cost_source": None,
            "cost_estimate_usd": None,
            "prices_as_of": None,
        }

    def test_nothing_seen(self) -> None:
        """A job that never had a response is not estimated to have cost nothing."""
        made = told(**KILLED | {"usage": None})
        assert (made["cost_delta_usd"], made["cost_source"], made["cost_estimate_usd"]) == (
            None,
            None,
            None,
        )

    def test_placeholders(self) -> None:
        """What a response tells of its output is a placeholder, and is not priced."""
        heard = (turned("j0001", 1, input=100, output=4),)
        assert told(*heard, **KILLED)["cost_estimate_usd"] == 0.0005


class TestClient:
    """Where a result gave a cost it is the client's, and nothing is estimated."""

    @pytest.mark.parametrize("cost", [0.25, 0.0])
    def test_told(self, cost: float) -> None:
        """Zero is a cost too."""
        heard = (turned("j0001", 1, input=100),)
        assert told(*heard, **GOOD | {"cost_usd": cost}) == {
            "cost_delta_usd": cost,
            "cost_source": "client",
            "cost_estimate_usd": None,
            "prices_as_of": None,
        }

    def test_unknown_model(self) -> None:
        """What the client says of a model that has no price here is what it cost."""
        made = told(by("claude-novel-9", turned("j0001", 1, input=100)), **GOOD)
        assert (made["cost_delta_usd"], made["cost_source"]) == (0.25, "client")

    @pytest.mark.rule("D8")
    def test_lost(self) -> None:
        """A lost job with a result costs what the result says."""
        end = {"status": Status.LOST, "reason": Reason.SUPERVISOR_DEAD, "usage": Usage(input=1)}
        assert told(turned("j0001", 1, input=100), **GOOD | end)["cost_source"] == "client"
