"""Older clients, which count and cache in ways of their own."""

import json

import pytest

from forks_core.system.loopback import run, say
from tests.client.bill import MODEL
from tests.client.theatre import TRAINING, Theatre

pytestmark = [pytest.mark.client, pytest.mark.older_clients]


@pytest.mark.parametrize("client", ["2.1.197"], indirect=True)
def test_the_main_job(theatre: Theatre) -> None:
    """A client that counts each call afresh: hits all the same, and each job at its own cost."""
    theatre.script(TRAINING, run("cat README.md"), say("I have read it."))
    theatre.script("one", run("echo one > one.txt"), say("One is done."))
    trained = theatre.train()
    theatre.fork("one")
    theatre.fork("two")
    rows = [trained, *theatre.ok("wait", "--all")["done"]]
    assert [row["usage_basis"] for row in rows] == ["first", "fresh", "fresh"]
    assert [row["cache"] for row in rows] == [None, "hit", "hit"]
    for row in rows:
        bill = theatre.bill(row["session"])
        assert (row["status"], row["tokens"]) == ("ok", bill.tokens)
        assert row["cost_delta_usd"] == pytest.approx(bill.usd, abs=1e-9)
    costs = [row["cost_delta_usd"] for row in rows]
    assert sum(costs) == pytest.approx(theatre.bill().usd, abs=1e-9)


@pytest.mark.parametrize("client", ["2.0.76"], indirect=True)
class TestWithoutEfforts:
    """A client that does not know how hard it should try."""

    def test_none_leaves_the_flag_out(self, theatre: Theatre) -> None:
        """Initialised with no effort it trains and forks, each job at what its client says."""
        rows = [theatre.train()]
        theatre.fork("one")
        rows.append(theatre.result())
        assert [row["status"] for row in rows] == ["ok", "ok"]
        assert [row["cache"] for row in rows] == [None, "hit"]
        assert [row["usage_basis"] for row in rows] == ["first", "fresh"]
        for row in rows:
            assert "--effort" not in theatre.ok("show", row["job"])["argv"]
            usd = theatre.told(row["job"])["total_cost_usd"]
            assert row["cost_delta_usd"] == pytest.approx(usd, abs=1e-9)
            assert usd > 0

    def test_an_edit_voids_the_prefix(self, theatre: Theatre) -> None:
        """It tells its model git's status, whatever the launch pins: after an edit that is another.

        So what follows the status is written anew, and the job says that it started cold.
        """
        theatre.script("one", run("echo one > one.txt"), say("One is done."))
        theatre.train()
        fork = theatre.fork("one")
        assert theatre.result()["cache"] == "hit"
        theatre.carry_on(fork)
        row = theatre.result()
        assert (row["status"], row["cache"], row["flags"]) == ("ok", "partial", ["cold_start"])
        systems = [
            json.dumps(request.body["system"])
            for request in theatre.api.requests
            if request.model == MODEL
        ]
        assert ["?? one.txt" in system for system in systems] == [False, False, False, True]
