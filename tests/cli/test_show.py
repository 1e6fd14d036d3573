"""``show``: a job or a base in full, any number of times."""

import pytest

from forks_cli.text import render
from tests.driver import MODEL, Run, ok


class TestJob:
    """A job's row, result, words, files, command line and state."""

    @pytest.mark.rule("D9")
    def test_as_often_as_one_likes(self, ready: Run) -> None:
        """It is the same before and after the delivery but for the delivery, and records nothing."""
        job = ready.fork({"stderr": "a complaint\n"}, {"say": "the answer"})
        ready.end_of(job)
        before = ready.snapshot()
        content = ok(ready.forks("show", job))
        assert ready.snapshot() == before
        assert set(content) == {
            *("job", "result", "text", "stderr", "created", "brief"),
            *("raw_state", "supervisor_log", "argv", "state", "head"),
        }
        assert (content["text"], content["stderr"]) == ("the answer", "a complaint\n")
        assert content["result"]["raw"] == str(ready.state / "raw" / f"{job}.jsonl")
        assert content["result"]["raw_sha256"] == ready.end_of(job)["raw"]["sha256"]
        assert content["argv"][0] == str(ready.client)
        assert content["created"]["job"] == job
        ok(ready.ask("wait", job))
        assert ok(ready.ask("show", job))["result"] == content["result"]

    def test_one_that_runs(self, inited: Run) -> None:
        """Before its end there is no result, but all that is known."""
        job = inited.train({"say": "so far"}, {"sleep": 60})
        inited.wait_for(lambda: bool(inited.events("StreamTurned", job)))
        content = ok(inited.ask("show", job))
        assert content["result"] is None
        assert content["job"]["status"] == "running"

    def test_without_its_files(self, ready: Run) -> None:
        """What the log knows is shown when the raw files and briefs are gone."""
        for name in ("raw", "briefs"):
            for path in (ready.state / name).iterdir():
                path.unlink()
        content = ok(ready.ask("show", "j0001"))
        assert (content["text"], content["stderr"]) == (None, "")
        assert content["result"]["status"] == "ok"
        assert content["raw_state"] == "missing"

    @pytest.mark.parametrize(
        ("used", "told"),
        [
            ([], {"asked for": MODEL}),
            ([MODEL], {"model": MODEL}),
            (["claude-haiku-4-5"], {"model": "claude-haiku-4-5", "asked for": MODEL}),
        ],
    )
    def test_which_model(self, shared: Run, used: list[str], told: dict[str, str]) -> None:
        """People read which model was used, where one was, and which one was asked for instead."""
        content = ok(shared.ask("show", "j0001"))
        content["result"]["models_used"] = used
        lines = render(["show"], content, terminal=False).splitlines()
        found = {
            name: line.removeprefix(f"  {name}").strip()
            for line in lines
            for name in ("model", "asked for")
            if line.startswith(f"  {name} ")
        }
        assert found == told

    def test_an_altered_stream(self, ready: Run) -> None:
        """A raw file that is not what the log says of it is told from one that is."""
        assert ok(ready.ask("show", "j0001"))["raw_state"] == "ok"
        with (ready.state / "raw" / "j0001.jsonl").open("ab") as file:
            file.write(b"more\n")
        assert ok(ready.ask("show", "j0001"))["raw_state"] == "altered"


class TestBase:
    """A base's row, its launch, and what its client reported of its surroundings."""

    def test_base(self, shared: Run) -> None:
        """All three of them."""
        content = ok(shared.ask("show", "base"))
        assert set(content) == {"base", "launch", "runtime", "head"}
        assert content["base"]["name"] == "base"
        assert content["launch"]["model"] == "claude-opus-4-5"
        assert content["runtime"]["permissionMode"] == "dontAsk"

    def test_unknown(self, shared: Run) -> None:
        """What there is none of is refused, with what there is."""
        said = shared.ask("show", "j0009")
        assert said.error == "unknown job or base"
        assert said.content["name"] == "j0009"
        assert (said.content["jobs"], said.content["bases"]) == (["j0001"], ["base"])
