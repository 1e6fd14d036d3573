"""The recorder on the real client: what it records concludes as the kept recordings do."""

import json
from pathlib import Path

import pytest

from forks_core.rules.outcome import Conclusion
from forks_events.words import Cache, ErrorKind, Reason, Status, UsageBasis
from tests.claude.recorded import cache, concluded, heard, lines, meta, reckoned
from tests.client.install import VERSION
from tests.client.world import marked
from tests.record.__main__ import main
from tests.record.scrubbing import traces

pytestmark = pytest.mark.client
NAMES = ("train", "fork", "rejected-five-hour", "big-text")
BIG = 1_200_000


@pytest.fixture(scope="module")
def recorded(client: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a version's recordings, made anew."""
    into = tmp_path_factory.mktemp("recorded")
    assert main(["--client", str(client), "--into", str(into), *NAMES]) == 0
    return str(into / VERSION)


class TestTheTable:
    """What is recorded today concludes as the table says."""

    def test_train(self, recorded: str) -> None:
        """The base is ok, and costs what the API said."""
        assert concluded(recorded, "train") == Conclusion(status=Status.OK)
        call = reckoned(recorded, "train")
        assert (call.basis, call.cost_usd) == (UsageBasis.FIRST, 0.157755)

    def test_fork(self, recorded: str) -> None:
        """The fork hits its base's cache, and is booked its own cost of what it carried on."""
        assert concluded(recorded, "fork") == Conclusion(status=Status.OK)
        call = reckoned(recorded, "fork")
        assert (call.basis, call.cost_usd, call.mismatch) == (UsageBasis.CARRIED, 0.008666, False)
        assert cache(recorded, "fork") is Cache.HIT

    def test_rejected(self, recorded: str) -> None:
        """A window that is used up is no turn, costs nothing, and says when it begins anew."""
        end = concluded(recorded, "rejected-five-hour")
        assert (end.status, end.reason) == (Status.FAILED, Reason.IS_ERROR)
        assert end.error_kind is ErrorKind.RATE_LIMIT
        assert end.resets_at is not None
        assert heard(recorded, "rejected-five-hour").turns == 0
        assert reckoned(recorded, "rejected-five-hour").cost_usd == 0

    def test_big(self, recorded: str) -> None:
        """A long answer is ok; it is twice in what is printed."""
        assert concluded(recorded, "big-text") == Conclusion(status=Status.OK)
        assert (Path(recorded) / "big-text.jsonl").stat().st_size > BIG


class TestTheFiles:
    """Two files a scenario, which tell nothing of this machine."""

    def test_names(self, recorded: str) -> None:
        """Only what was named is there."""
        kept = {path.name for path in Path(recorded).iterdir()}
        assert kept == {f"{name}.{end}" for name in NAMES for end in ("jsonl", "meta.json")}

    def test_meta(self, recorded: str) -> None:
        """How the client was called and exited: the fork resumed the base's session."""
        told = meta(recorded, "fork")
        assert list(told) == ["version", "scenario", "exit_code", "stderr", "wall_s", "argv_tail"]
        assert (told["version"], told["scenario"]) == (VERSION, "fork")
        assert (told["exit_code"], told["stderr"]) == (0, "")
        (base,) = {line["session_id"] for line in lines(recorded, "train")}
        (fork,) = {line["session_id"] for line in lines(recorded, "fork")}
        words = ["--resume", base, "--fork-session", "--session-id", fork]
        assert told["argv_tail"] == words

    def test_no_traces(self, recorded: str) -> None:
        """The working directory and the home are replaced, and nothing else of the kind is left."""
        for path in Path(recorded).iterdir():
            assert traces(path.read_text()) == []
        opening = lines(recorded, "train")[0]
        assert opening["cwd"] == "/repo"
        assert "/home/user/.claude/projects/-repo/" in json.dumps(opening)

    def test_nothing_is_left_that_runs(self, recorded: str) -> None:
        """No process of the recorder's is left."""
        assert recorded
        assert marked("forks-record-") == []
