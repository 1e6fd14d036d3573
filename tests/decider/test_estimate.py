"""What a job whose cost nobody told is estimated to have cost, fixed in the log with its end."""

import pytest
from attrs import evolve
from immutables import Map

from forks_core.projections.jobs import cost
from forks_core.rules.outcome import Imposed
from forks_core.rules.prices import Price, PriceTable
from forks_events.jobs import JobEnded
from forks_events.stream import StreamEvent, StreamTurned
from forks_events.values import Estimate, Usage
from forks_events.words import Reason, Status
from tests.decider.world import MODEL, START, end, fork_command, resulted, trained

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
KILLED = Imposed(status=Status.KILLED, reason=Reason.KILL)
LOST = Imposed(status=Status.LOST, reason=Reason.SUPERVISOR_DEAD)
UNTOLD = {
    "cost_delta_usd": None,
    "cost_source": None,
    "cost_estimate_usd": None,
    "prices_as_of": None,
}


def turned(model: str | None = MODEL, *, main: bool = True, **used: int) -> StreamTurned:
    """A response."""
    return StreamTurned(
        at=START, job="j0002", seen_at=None, main=main, model=model, usage=Usage(**used)
    )


def ended(
    *said: StreamEvent, imposed: Imposed = KILLED, prices: PriceTable | None = PRICES
) -> JobEnded:
    """The end of a fork whose client said this, and was ended."""
    world = trained()
    world.do(fork_command())
    world.run("j0002", 200)
    command = evolve(end("j0002", said, imposed=imposed), prices=prices, lost_after_s=0.0)
    world.later(1)
    return next(event for event in world.do(command) if isinstance(event, JobEnded))


@pytest.mark.rule("B23.5")
class TestEstimate:
    """A job without a result has a cost that is unknown, and an estimate of it."""

    def test_killed(self) -> None:
        """Its distinct responses are priced, a subagent's too, and the cost stays unknown."""
        # 100 x 5 + 1000 x 10 + 20000 x 0.5, and the subagent's 40 x 5: 20,700 millionths.
        made = ended(
            turned(input=100, cache_creation=1000, cache_read=20_000),
            turned(main=False, input=40),
        )
        assert (made.cost_usd, made.estimate) == (
            None,
            Estimate(usd=0.0207, prices_as_of="2026-08-22"),
        )
        assert cost(made) == {
            "cost_delta_usd": None,
            "cost_source": "estimate",
            "cost_estimate_usd": 0.0207,
            "prices_as_of": "2026-08-22",
        }

    def test_several_models(self) -> None:
        """Each model's tokens have its own price."""
        # 100 x 5 + 100 x 1.
        haiku = turned("claude-haiku-4-5-20251001", main=False, input=100)
        assert cost(ended(turned(input=100), haiku))["cost_estimate_usd"] == 0.0006

    @pytest.mark.parametrize("model", ["claude-novel-9", None])
    def test_unknown_model(self, model: str | None) -> None:
        """A model without a price leaves all of it unknown: nobody says anything."""
        assert cost(ended(turned(input=100), turned(model, input=1))) == UNTOLD

    def test_nothing_seen(self) -> None:
        """A job that never had a response is not estimated to have cost nothing."""
        assert cost(ended()) == UNTOLD

    def test_no_prices(self) -> None:
        """Without a table nothing is estimated."""
        assert cost(ended(turned(input=100), prices=None)) == UNTOLD

    def test_placeholders(self) -> None:
        """What a response tells of its output is a placeholder, and is not priced."""
        assert cost(ended(turned(input=100, output=4)))["cost_estimate_usd"] == 0.0005


class TestClient:
    """Where a result gave a cost it is the client's, and nothing is estimated."""

    @pytest.mark.parametrize("imposed", [KILLED, LOST])
    def test_told(self, imposed: Imposed) -> None:
        """Also of a job that was killed, or lost, after its result."""
        made = ended(turned(input=100), resulted("j0002", 0.25), imposed=imposed)
        # Its client carried on what the training had cost.
        assert (made.cost_usd, made.estimate) == (0.15, None)
        assert cost(made)["cost_source"] == "client"
