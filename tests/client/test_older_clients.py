"""Older clients, which count and cache in ways of their own."""

import pytest

from forks_core.system.loopback import run, say
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
def test_a_client_that_is_too_old(theatre: Theatre) -> None:
    """A client that does not know a flag of the launch fails as it starts, and the reason is kept."""
    theatre.init()
    theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
    row = theatre.result()
    assert (row["status"], row["reason"], row["error_kind"]) == ("failed", "exit_code", "startup")
    assert "unknown option '--effort'" in theatre.ok("show", row["job"])["stderr"]
    assert not theatre.api.requests
