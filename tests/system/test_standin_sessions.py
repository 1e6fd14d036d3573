"""The stand-in remembers: sessions, what they cost, and what of them is warm."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forks_core.system.standin.cache import Cache, Launch, block
from tests.system.standin_driver import NEVER, Answer, Client, context_of, new_id, scripted, until


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A stand-in, whose left-over processes are ended afterwards."""
    made = Client(tmp_path)
    yield made
    made.end_survivors()


class TestSessions:
    """Sessions: new, resumed, forked, unknown, taken."""

    def test_an_unknown_session(self, client: Client) -> None:
        """Resuming what is not there: one error result, the same text on standard error, exit 1."""
        answer = client.ask("hello", "--resume", NEVER)
        text = f"No conversation found with session ID: {NEVER}"
        assert answer.code == 1
        assert [line["subtype"] for line in answer.lines] == ["error_during_execution"]
        assert answer.result["errors"] == [text]
        assert answer.err == text + "\n"

    def test_a_taken_session(self, client: Client) -> None:
        """A known session's id cannot be given to a new one: nothing printed, exit 1."""
        session = new_id()
        client.ask("hello", "--session-id", session)
        again = client.ask("hello", "--session-id", session)
        assert (again.code, again.out) == (1, b"")
        assert again.err == f"Error: Session ID {session} is already in use.\n"

    def test_a_fork_leaves_the_original_untouched(self, client: Client, tmp_path: Path) -> None:
        """A fork has a new id and the whole history; the original's file does not change."""
        base, fork = new_id(), new_id()
        client.ask("learn", "--session-id", base)
        saved = tmp_path / "home" / "sessions" / f"{base}.json"
        before = saved.read_bytes()
        answer = client.ask("work", "--resume", base, "--fork-session", "--session-id", fork)
        assert answer.result["session_id"] == fork
        assert saved.read_bytes() == before

    def test_continue_keeps_the_id(self, client: Client) -> None:
        """A resumed session keeps its id, and its context grows."""
        session = new_id()
        first = client.ask("learn", "--session-id", session)
        second = client.ask("go on", "--resume", session)
        assert second.result["session_id"] == session
        read = second.first_usage["cache_read_input_tokens"]
        assert read == context_of(first.first_usage)

    @pytest.mark.parametrize(("version", "carries"), [("2.1.332", True), ("2.1.276", False)])
    def test_cost_is_carried_from_2_1_277_on(
        self, client: Client, version: str, *, carries: bool
    ) -> None:
        """A fork's first result holds the parent's cost and tokens, or its own alone."""
        base = new_id()
        first = client.ask("learn", "--session-id", base, FORKS_STANDIN_VERSION=version).result
        fork = client.ask("work", "--resume", base, "--fork-session", FORKS_STANDIN_VERSION=version)
        own = fork.result["total_cost_usd"] - (first["total_cost_usd"] if carries else 0)
        assert 0 < own < first["total_cost_usd"] / 4
        carried = fork.result["modelUsage"]["claude-opus-4-5"]["inputTokens"]
        assert carried == fork.first_usage["input_tokens"] + (12 if carries else 0)

    def test_script_and_environment_choose_the_cost(self, client: Client) -> None:
        """`carry` in the script wins over FORKS_STANDIN_CARRY, which wins over the version."""
        base = new_id()
        whole = client.ask("learn", "--session-id", base).result["total_cost_usd"]
        fork = ["--resume", base, "--fork-session"]
        fresh = client.ask("work", *fork, FORKS_STANDIN_CARRY="0")
        told = client.ask(scripted(carry=True), *fork, FORKS_STANDIN_CARRY="0")
        assert fresh.result["total_cost_usd"] < whole < told.result["total_cost_usd"]

    def test_the_oldest_dialect(self, client: Client) -> None:
        """2.0.76 has no quota line, puts type first, and counts helper models in modelUsage."""
        answer = client.ask("hello", FORKS_STANDIN_VERSION="2.0.76")
        assert [line["type"] for line in answer.lines] == ["system", "assistant", "result"]
        assert next(iter(answer.result)) == "type"
        assert len(answer.result["modelUsage"]) == 3
        assert client.ask("hello", "--resume", NEVER, FORKS_STANDIN_VERSION="2.0.76").out == b""


class TestTheCache:
    """A warm cache is earned."""

    def test_a_fork_reads_its_base(self, client: Client) -> None:
        """A fork of a finished base reads the base's whole context and writes its own part only."""
        base = new_id()
        first = client.ask("learn " * 2000, "--session-id", base).first_usage
        fork = client.ask("work", "--resume", base, "--fork-session").first_usage
        assert fork["cache_read_input_tokens"] == context_of(first)
        assert 0 < fork["cache_creation_input_tokens"] < 200

    def test_siblings_in_flight_miss(self, client: Client, tmp_path: Path) -> None:
        """Forks that ask before any of them was answered read nothing of what they write."""
        base, gate = new_id(), tmp_path / "gate"
        cold = {"FORKS_STANDIN_CACHE_TTL_S": "3600"}
        client.ask(scripted({"crash": 1}), "--session-id", base)
        forks = [client.start("--resume", base, "--fork-session", **cold) for _ in range(2)]
        prompt = scripted({"wait_for": {"path": str(gate)}}, {"say": "done"}).encode()
        for fork in forks:
            assert fork.stdin is not None
            assert fork.stdout is not None
            fork.stdin.write(prompt)
            fork.stdin.close()
            assert b'"init"' in fork.stdout.readline()
        saved = tmp_path / "home" / "sessions"
        until(lambda: sum(f.read_text().count('["user"') for f in saved.glob("*.json")) == 5)
        gate.touch()
        for fork in forks:
            with fork:
                assert fork.stdout is not None
                assert fork.stderr is not None
                said = Answer(0, fork.stdout.read(), fork.stderr.read().decode())
                assert said.first_usage["cache_read_input_tokens"] == 0

    def test_an_old_prefix_is_cold(self, client: Client) -> None:
        """After its lifetime a prefix is read no more."""
        base = new_id()
        client.ask("learn", "--session-id", base)
        fork = ["--resume", base, "--fork-session"]
        late = client.ask("work", *fork, FORKS_STANDIN_CACHE_TTL_S="0").first_usage
        assert late["cache_read_input_tokens"] == 0

    @pytest.mark.parametrize(
        ("change", "part"),
        [(["--effort", "low"], 0.0), (["--tools", "Bash"], 0.0), ([], 0.9), (["append"], 0.3)],
    )
    def test_what_belongs_to_the_prefix(
        self, client: Client, tmp_path: Path, change: list[str], part: float
    ) -> None:
        """Effort and tools void everything; an appended prompt voids all but the static part."""
        base, appended = new_id(), tmp_path / "more.md"
        appended.write_text("Be brief.")
        first = client.ask("learn", "--session-id", base).first_usage
        flags = ["--append-system-prompt-file", str(appended)] if change == ["append"] else change
        fork = client.ask("work", "--resume", base, "--fork-session", *flags).first_usage
        share = fork["cache_read_input_tokens"] / context_of(first)
        assert part <= share <= part + 0.3

    @pytest.mark.parametrize(
        ("decreed", "least", "most"), [("hit", 0.9, 1), ("partial", 0.3, 0.7), ("miss", 0, 0)]
    )
    def test_a_cache_can_be_decreed(
        self, client: Client, decreed: str, least: float, most: float
    ) -> None:
        """`cache` in a script says what the call reads, whatever was earned."""
        usage = client.play(cache=decreed).first_usage
        assert least <= usage["cache_read_input_tokens"] / context_of(usage) <= most

    @given(
        texts=st.lists(st.text(max_size=20), min_size=1, max_size=5),
        kept=st.integers(min_value=0, max_value=5),
        more=st.lists(st.text(max_size=20), max_size=3),
    )
    def test_the_read_part_is_a_common_prefix(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        texts: list[str],
        kept: int,
        more: list[str],
    ) -> None:
        """A request reads all of a finished one that it begins with, else the static part."""
        cache = Cache(tmp_path_factory.mktemp("cache"), ttl_s=3600)
        launch = Launch("m", "high", ["Bash"], "/repo", "")
        finished = launch.points([block("user", text) for text in texts])
        cache.finished(finished)
        asked = launch.points([block("user", text) for text in texts[:kept] + more])
        begins = asked[: len(finished)] == finished
        assert cache.warm_tokens(asked) == (finished[-1] if begins else finished[0]).tokens
