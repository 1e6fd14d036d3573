"""The main job on the real client: train, fork twice in parallel, wait, list."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from forks_core.claude.stream import parse
from forks_core.system.loopback import run, say
from forks_events.codec import unstructure
from tests.client.bill import MODEL
from tests.client.theatre import TRAINING, Row, Theatre, theatre_in

pytestmark = pytest.mark.client
TRAIN, ONE, TWO = "j0001", "j0002", "j0003"
JOBS = (TRAIN, ONE, TWO)
FORKS = (ONE, TWO)


class Played:
    """The main job, played to its end."""

    def __init__(self, theatre: Theatre) -> None:
        """Play it."""
        self.theatre = theatre
        theatre.script(TRAINING, run("cat README.md"), say("I have read it."))
        theatre.script("one", run("env > environment; echo one > one.txt"), say("One is done."))
        theatre.script("two", run("echo two > two.txt"), say("Two is done."))
        trained = theatre.train()
        assert [theatre.fork("one"), theatre.fork("two")] == [ONE, TWO]
        self.waited = theatre.forks("wait", "--all")
        self.results = {row["job"]: row for row in [trained, *self.waited.content["done"]]}
        self.listed = theatre.ok("list")

    def session(self, job: str) -> str:
        """The session of a job."""
        return str(self.results[job]["session"])

    def raw(self, job: str) -> bytes:
        """What the client printed."""
        return Path(self.results[job]["raw"]).read_bytes()

    def told(self, job: str) -> Row:
        """The client's own result."""
        lines = [json.loads(line) for line in self.raw(job).splitlines()]
        (result,) = [line for line in lines if line["type"] == "result"]
        return dict(result)


@pytest.fixture(scope="module")
def played(client: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The main job, once for all these tests."""
    with theatre_in(tmp_path_factory.mktemp("played"), client) as theatre:
        yield Played(theatre)


class TestTheVerdicts:
    """All is ok, and each fork found its base's prefix in the cache."""

    def test_all_is_ok(self, played: Played) -> None:
        """Every job ends ok, without a flag but that a fork was held behind its sibling."""
        assert played.waited.code == 0
        for row in played.results.values():
            assert (row["status"], row["reason"], row["error_kind"]) == ("ok", None, None)
            assert set(row["flags"]) <= {"held"}
            assert (row["exit_code"], row["fingerprint"], row["denials"]) == (0, "ok", 0)

    def test_list_says_the_same(self, played: Played) -> None:
        """`list` shows the jobs as `wait` delivered them, and nothing that runs."""
        rows = {row["job"]: row for row in played.listed["jobs"]}
        assert tuple(rows) == JOBS
        for job, row in rows.items():
            same = ("status", "cache", "session", "fingerprint", "turns", "flags")
            assert {name: row[name] for name in same} == {
                name: played.results[job][name] for name in same
            }
            assert row["delivered_at"]
            assert row["settled_at"]
        assert played.listed["running"] == played.listed["lost_now"] == []

    @pytest.mark.parametrize("job", FORKS)
    def test_a_fork_hits(self, played: Played, job: str) -> None:
        """A fork's first request begins with its base's whole last one, and reads it all."""
        base = played.theatre.requests(played.session(TRAIN))[-1]
        first = played.theatre.requests(played.session(job))[0]
        assert first.starts_with(base)
        assert first.usage.read >= base.usage.context
        assert played.results[job]["cache"] == "hit"
        assert played.results[TRAIN]["cache"] is None

    @pytest.mark.parametrize("job", JOBS)
    def test_a_call_goes_on_from_itself(self, played: Played, job: str) -> None:
        """Within a call each request begins with the whole of the one before it."""
        requests = played.theatre.requests(played.session(job))
        assert len(requests) == 2
        assert all(later.starts_with(earlier) for earlier, later in pairwise(requests))


class TestTheCost:
    """Tokens and money are what the API answered, each job its own."""

    def test_the_basis(self, played: Played) -> None:
        """The base has no parent; its forks' counters are carried on from it."""
        found = [played.results[job]["usage_basis"] for job in JOBS]
        assert found == ["first", "carried", "carried"]

    @pytest.mark.parametrize("job", JOBS)
    def test_each_pays_for_itself(self, played: Played, job: str) -> None:
        """A job's tokens are the sum of its session's answers, its cost their list price."""
        bill = played.theatre.bill(played.session(job))
        row = played.results[job]
        assert row["tokens"] == bill.tokens
        assert row["cost_delta_usd"] == pytest.approx(bill.usd, abs=1e-9)
        assert row["models_used"] == [MODEL]

    @pytest.mark.parametrize("job", FORKS)
    def test_the_client_counts_its_parent_too(self, played: Played, job: str) -> None:
        """What a fork's client reports in total is its base's cost and its own."""
        costs = {name: played.results[name]["cost_delta_usd"] for name in (TRAIN, job)}
        assert played.told(job)["total_cost_usd"] == pytest.approx(sum(costs.values()), abs=1e-9)

    @pytest.mark.parametrize("job", JOBS)
    def test_the_client_knows_it_too(self, played: Played, job: str) -> None:
        """The cost is what the client reports since its last result, of which there was one."""
        own = played.told(job)["model_usage_since_last_result"]
        assert set(own) == {MODEL}
        assert played.results[job]["cost_delta_usd"] == pytest.approx(
            own[MODEL]["costUSD"], abs=1e-9
        )

    def test_nothing_is_counted_twice(self, played: Played) -> None:
        """The jobs' costs add up to the price of all that the API ever answered."""
        costs = [row["cost_delta_usd"] for row in played.results.values()]
        assert sum(costs) == pytest.approx(played.theatre.bill().usd, abs=1e-9)
        assert {request.model for request in played.theatre.api.requests} == {MODEL}


class TestTheWork:
    """The client really works, in the environment that the launch fixed."""

    def test_the_tools_ran(self, played: Played) -> None:
        """What a fork was asked to write is in its repository."""
        repository = played.theatre.repository
        assert (repository / "one.txt").read_text() == "one\n"
        assert (repository / "two.txt").read_text() == "two\n"

    def test_the_environment(self, played: Played) -> None:
        """A tool's command carries the job's mark and the pinned variables."""
        lines = (played.theatre.repository / "environment").read_text().splitlines()
        found = dict(line.partition("=")[::2] for line in lines)
        (opened,) = played.theatre.events("RunOpened")
        expected = {
            "FORKS_JOB": f"{opened['run']}/{ONE}",
            "CLAUDE_CODE_PROMPT_CACHE_TTL": "1h",
            "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_EXECPATH": str(played.theatre.client),
            "SPIRE_FORKS_CHILD": "1",
        }
        assert {name: found.get(name) for name in expected} == expected

    @pytest.mark.parametrize("job", JOBS)
    def test_the_session(self, played: Played, job: str) -> None:
        """The client runs the session that it was told to, and says so."""
        assert played.told(job)["session_id"] == played.session(job)
        assert (played.theatre.config / "projects").exists()
        assert played.results[job]["parent_session"] == (
            None if job == TRAIN else played.session(TRAIN)
        )


class TestTheLog:
    """What the log says of a stream follows from the raw file."""

    @pytest.mark.parametrize("job", JOBS)
    def test_derived_again(self, played: Played, job: str) -> None:
        """Read again, the raw file gives the log's stream events, but for when they were seen."""
        kinds = ("StreamOpened", "StreamTurned", "StreamRetried", "StreamRefused", "StreamResulted")
        for kind in kinds:
            logged = [row | {"seen_at": None} for row in played.theatre.events(kind, job)]
            again = [
                {name: value for name, value in unstructure(event).items() if name != "at"}
                for event in parse(played.raw(job), job)
                if type(event).__name__ == kind
            ]
            assert again == logged
        assert len(played.theatre.events("StreamTurned", job)) == 2
