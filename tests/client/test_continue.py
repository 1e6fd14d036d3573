"""`continue` on the real client: the session goes on, and each call pays for itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forks_core.system.loopback import run, say
from tests.client.theatre import Row, Theatre, theatre_in
from tests.client.versions import BOTH

pytestmark = pytest.mark.client
FORK = "j0002"
TIMES = 2


class Played:
    """A base, a fork of it, and the fork continued twice."""

    def __init__(self, theatre: Theatre) -> None:
        """Play it."""
        self.theatre = theatre
        theatre.script("one", run("cat README.md"), say("One is done."))
        self.base = theatre.train()
        self.asked = [len(theatre.api.requests)]
        theatre.fork("one")
        self.rows = [self._result()]
        for _ in range(TIMES):
            theatre.carry_on(FORK)
            self.rows.append(self._result())

    def _result(self) -> Row:
        row = self.theatre.result()
        self.asked.append(len(self.theatre.api.requests))
        return row

    def context(self, job: str) -> int:
        """The prompt of a call's last response."""
        return prompt(self.theatre.events("StreamTurned", job)[-1]["usage"])


def prompt(usage: Row) -> int:
    """All tokens that a response was given."""
    return sum(usage[name] for name in ("input", "cache_creation", "cache_read"))


@pytest.fixture(scope="module")
def played(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """It is played once for all these tests."""
    with theatre_in(tmp_path_factory.mktemp("continued"), client) as theatre:
        yield Played(theatre)


@BOTH
class TestContinue:
    """A continue resumes the fork's session, reads all of it from the cache, and costs its own."""

    def test_the_verdict(self, played: Played) -> None:
        """All end ok, in the session of the fork, without a flag."""
        for row in played.rows:
            assert (row["status"], row["reason"], row["flags"]) == ("ok", None, [])
            assert (row["session"], row["parent_session"]) == (
                played.rows[0]["session"],
                played.base["session"],
            )

    def test_the_cache(self, played: Played) -> None:
        """Its first response reads the whole context of the call before it, not the base's only."""
        for before, row in zip(played.rows, played.rows[1:], strict=False):
            first = played.theatre.events("StreamTurned", row["job"])[0]["usage"]
            assert row["cache"] == "hit"
            assert first["cache_read"] >= played.context(before["job"])
            assert played.context(before["job"]) > played.context(played.base["job"])

    def test_the_cost(self, played: Played) -> None:
        """A client that counts on is booked what came on top, another what it says."""
        told = [played.theatre.told(row["job"])["total_cost_usd"] for row in played.rows]
        if played.theatre.is_modern:
            before = [played.theatre.told(played.base["job"])["total_cost_usd"], *told]
            told = [now - then for now, then in zip(told, before, strict=False)]
        costs = [row["cost_delta_usd"] for row in played.rows]
        assert costs == pytest.approx(told, abs=1e-9)
        assert all(cost > 0 for cost in costs)
        basis = "carried" if played.theatre.is_modern else "fresh"
        assert {row["usage_basis"] for row in played.rows} == {basis}

    def test_the_bill(self, played: Played) -> None:
        """On a client that asks no helpers, each call costs what the API answered to it."""
        if not played.theatre.is_modern:
            pytest.skip("this client asks helpers, at prices of their own")
        for row, since in zip(played.rows, played.asked, strict=False):
            until = played.asked[played.asked.index(since) + 1]
            bill = played.theatre.bill(since=since, until=until)
            assert row["tokens"] == bill.tokens
            assert row["cost_delta_usd"] == pytest.approx(bill.usd, abs=1e-9)

    def test_the_command_line(self, played: Played) -> None:
        """It resumes, and that is all: no fork, and no id of its own."""
        argv = played.theatre.ok("show", played.rows[1]["job"])["argv"]
        assert argv[-2:] == ["--resume", played.rows[0]["session"]]
        assert {"--fork-session", "--session-id"}.isdisjoint(argv)
