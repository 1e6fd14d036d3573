"""The same trouble on a client of each generation, booked by what each of them tells."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from forks_core.system.loopback import Answer, refuse_token, reject, say
from tests.client.bill import MODEL
from tests.client.install import version_of
from tests.client.theatre import Row, Theatre
from tests.client.versions import EACH
from tests.client.world import marked, until

pytestmark = [pytest.mark.client, EACH, pytest.mark.long]
FORK = "j0002"
SOON_S = 10.0
NOTHING = {0}
_SHORTLY = ("--max-minutes", "0.1")


def is_counted_afresh(theatre: Theatre) -> bool:
    """Whether the client tells what a call used itself, not what its session did."""
    return version_of(theatre.client) < (2, 1, 277)


def failed(theatre: Theatre, answer: Answer, *words: str) -> Row:
    """Train a base, let a fork of it fail, and return its result."""
    theatre.train()
    theatre.script("one", answer)
    theatre.fork("one", *words)
    return theatre.result()


def assert_cost(theatre: Theatre, row: Row) -> None:
    """Assert that a job is booked what the API has answered it, its client's helpers included."""
    if theatre.is_modern:
        bill = theatre.bill(row["session"])
        assert row["tokens"] == bill.tokens
        assert row["cost_delta_usd"] == pytest.approx(bill.usd, abs=1e-9)
    usd = theatre.told(row["job"])["total_cost_usd"]
    assert row["cost_delta_usd"] > 0
    if is_counted_afresh(theatre):
        assert row["cost_delta_usd"] == pytest.approx(usd, abs=1e-9)
    else:
        assert row["cost_delta_usd"] < usd


class TestALimit:
    """A window of the quota is used up."""

    @pytest.mark.parametrize("window", ["five_hour", "seven_day"])
    def test_rejected(self, theatre: Theatre, window: str) -> None:
        """The job fails by its result, uses nothing, and harms no base: the next fork hits."""
        before, wait_s = datetime.now(UTC), 4321
        row = failed(theatre, reject(window, resets_in_s=wait_s))
        assert (row["status"], row["reason"]) == ("failed", "is_error")
        assert (row["error_kind"], row["exit_code"]) == ("rate_limit", 1)
        assert (row["turns"], row["cache"]) == (0, None)
        late = datetime.fromisoformat(row["resets_at"]) - before - timedelta(seconds=wait_s)
        if theatre.is_modern:
            assert (row["cost_delta_usd"], set(row["tokens"].values())) == (0, NOTHING)
            assert abs(late) < timedelta(seconds=SOON_S)
        else:
            # It has the reset in words alone, to the minute, and its helpers were answered.
            told = theatre.told(FORK)
            assert MODEL not in told["modelUsage"]
            assert row["cost_delta_usd"] == pytest.approx(told["total_cost_usd"], abs=1e-9)
            assert abs(late) < timedelta(seconds=60 + SOON_S)
        theatre.fork("two")
        row = theatre.result()
        assert (row["status"], row["cache"]) == ("ok", "hit")
        assert row["usage_basis"] == ("fresh" if is_counted_afresh(theatre) else "carried")
        assert_cost(theatre, row)


class TestTheCredential:
    """The token is refused."""

    def test_refused(self, theatre: Theatre) -> None:
        """A client of 2.1 gives up soon; the older one would try for minutes, up to its time limit."""
        row = failed(theatre, refuse_token(), *(() if theatre.is_modern else _SHORTLY))
        if theatre.is_modern:
            assert (row["status"], row["reason"]) == ("failed", "is_error")
            assert (row["error_kind"], row["exit_code"]) == ("auth", 1)
            assert (row["cost_delta_usd"], set(row["tokens"].values())) == (0, NOTHING)
        else:
            assert (row["status"], row["error_kind"]) == ("timeout", None)
            assert row["cost_delta_usd"] is None
            assert theatre.asked("one") > 1
        assert (row["turns"], row["cache"], row["resets_at"]) == (0, None, None)


class TestTheModel:
    """The settings forbid the model."""

    def test_restricted(self, theatre: Theatre) -> None:
        """A client of 2.1 says that it would run another one, and fails; the older one does not care."""
        theatre.init()
        settings = theatre.config / "settings.json"
        settings.write_text(json.dumps({"availableModels": ["claude-sonnet-5-5"]}))
        theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
        row = theatre.result()
        asked = [seen for seen in theatre.api.requests if seen.model == MODEL]
        if not theatre.is_modern:
            assert (row["status"], row["error_kind"], row["turns"]) == ("ok", None, 1)
            assert asked
            assert_cost(theatre, row)
            return
        assert (row["status"], row["reason"]) == ("failed", "model_refused")
        assert (row["error_kind"], asked) == ("model", [])
        assert theatre.forks("fork", *theatre.fork_words("one")).code == 2
        until(lambda: not marked(theatre.marker), within_s=5)


class TestTheBudget:
    """An answer costs more than the job may."""

    def test_over(self, theatre: Theatre) -> None:
        """It fails, by whatever its client calls it, and is booked what the answer cost."""
        row = failed(theatre, say("Too dear."), "--max-budget-usd", "0.0001")
        told = theatre.told(FORK)
        assert told["subtype"] == "error_max_budget_usd"
        assert (told["is_error"], row["exit_code"]) == (
            (True, 1) if theatre.is_modern else (False, 0)
        )
        assert (row["status"], row["reason"]) == ("failed", "is_error")
        assert row["error_kind"] == "budget"
        # The older client's helpers may have used the budget up before it was answered.
        assert row["turns"] == 1 or not theatre.is_modern
        assert_cost(theatre, row)


class TestTheSession:
    """The base's session is gone."""

    def test_unknown(self, theatre: Theatre) -> None:
        """No answer is asked for; a client of 2.1 has a result of it, the older one only its exit."""
        session = theatre.train()["session"]
        (kept,) = theatre.config.glob(f"projects/*/{session}.jsonl")
        kept.unlink()
        theatre.fork("one")
        row = theatre.result()
        reason, cost = ("is_error", 0) if theatre.is_modern else ("exit_code", None)
        assert (row["status"], row["reason"]) == ("failed", reason)
        assert (row["error_kind"], row["exit_code"]) == ("session_missing", 1)
        assert (row["turns"], row["cache"], row["cost_delta_usd"]) == (0, None, cost)
        assert theatre.asked("one") == 0
        assert session in theatre.ok("show", FORK)["stderr"]
