"""What a client prints: kept verbatim, heard once, and never in the client's way."""

import hashlib
import json
from pathlib import Path
from typing import Any, get_args

import pytest

from forks_core.claude.stream import parse
from forks_events import Said
from forks_events.codec import unstructure
from tests.conftest import MakeRun
from tests.driver import Run, ok
from tests.log_view import Line
from tests.shell_client import use_shell

STREAM = {kind.__name__ for kind in get_args(Said)}


def told(path: Path, *lines: bytes) -> str:
    """A shell script that prints exactly these bytes."""
    path.write_bytes(b"".join(lines))
    return f"cat > /dev/null; cat '{path}'"


def a_call(run: Run) -> list[bytes]:
    """The lines that a good call of the stand-in printed, with their ends."""
    return run.raw(run.trained()).splitlines(keepends=True)


def without_times(data: Line) -> Line:
    """An event's data without when it was seen."""
    return {key: value for key, value in data.items() if key not in {"seen_at", "at"}}


def said_in_log(run: Run, job: str) -> list[tuple[str, Line]]:
    """The stream events that the log holds of a job."""
    lines = [line for line in run.log() if line["type"] in STREAM]
    mine = [line for line in lines if line["data"]["job"] == job]
    return [(line["type"], without_times(line["data"])) for line in mine]


def said_in_raw(run: Run, job: str) -> list[tuple[str, Line]]:
    """The stream events that the raw file yields."""
    events: list[Any] = list(parse(run.raw(job), job))
    return [(type(event).__name__, without_times(unstructure(event))) for event in events]


@pytest.mark.rule("B21.6")
class TestVerbatim:
    """Every byte of a client's output is kept as it came, and the end holds its digest."""

    def test_strange_bytes(self, inited: Run) -> None:
        """Bad UTF-8, CRLF, NULs, no JSON, 3 MB in a line, half a line: kept; and the call is ok."""
        opening, turn, *rest = a_call(inited)
        big = json.loads(turn)
        big["uuid"], big["message"]["id"], big["message"]["usage"] = "another", "msg_big", {}
        big["message"]["content"][0]["text"] = "x" * 3_000_000
        printed = [
            *(b"\xff\xfe\n", b"not json\r\n", b"\0\0\0\n", b"\n", b"[1]\n", b'{"type": 7}\n'),
            *(opening.replace(b"\n", b"\r\n"), turn, json.dumps(big).encode() + b"\n"),
            *(*rest, b'{"type":"assistant","mess'),
        ]
        use_shell(inited, told(inited.folder / "out", *printed))
        job = inited.train(base="strange")
        end = inited.end_of(job)
        assert inited.raw(job) == b"".join(printed)
        assert end["raw"] == {
            "sha256": hashlib.sha256(b"".join(printed)).hexdigest(),
            "bytes": len(b"".join(printed)),
        }
        # The session is another call's: that is flagged, and everything else is as it should be.
        assert (end["status"], end["turns"]) == ("ok", 2)
        assert end["flags"] == ["session_mismatch"]
        assert said_in_log(inited, job) == said_in_raw(inited, job)

    def test_derived_again(self, inited: Run) -> None:
        """What the log says of a stream, times aside, is what its raw file yields."""
        job = inited.trained(
            *({"retry": 2}, {"say": "one"}, {"subagent": "two"}, {"deny": "ls"}),
            *({"second_result": "three"}, {"tool": "true"}),
            {"line": {"type": "conversation_reset", "trigger": "clear"}},
        )
        said = said_in_log(inited, job)
        assert said == said_in_raw(inited, job)
        assert {kind for kind, _ in said} == set(STREAM) - {"StreamRefused"}

    def test_seen_as_it_came(self, inited: Run) -> None:
        """An event knows when its line came, and is recorded at once, while the client goes on."""
        go = inited.folder / "go"
        job = inited.train({"say": "first"}, {"wait_for": str(go)})
        inited.wait_for(lambda: bool(inited.events("StreamTurned", job)))
        assert inited.events("JobEnded", job) == []
        go.touch()
        inited.end_of(job)
        assert all(line["data"]["seen_at"] for line in inited.log() if line["type"] in STREAM)


@pytest.mark.rule("B21.6")
class TestPipes:
    """Both of a client's pipes are drained, and its prompt hangs nobody."""

    def test_floods(self, inited: Run) -> None:
        """5 MB on standard error are kept, and a prompt of 5 MB need not be read."""
        lines = a_call(inited)
        flood = "head -c 5000000 /dev/zero | tr '\\0' e >&2"
        printing = told(inited.folder / "out", *lines).partition(";")[2]
        use_shell(inited, f"{flood};{printing}")
        brief = inited.brief_of("x" * 5_000_000)
        job = ok(inited.ask("train", "--base", "big", "--brief", brief))["job"]
        assert inited.end_of(job)["status"] == "ok"
        assert (inited.state / "raw" / f"{job}.err").read_bytes() == b"e" * 5_000_000
        prompt = inited.events("JobCreated", job)[0]["brief"]
        kept = (inited.state / "briefs" / f"{prompt['sha256']}.md").read_bytes()
        assert (len(kept), hashlib.sha256(kept).hexdigest()) == (prompt["bytes"], prompt["sha256"])

    @pytest.mark.rule("B14.3")
    def test_a_prompt_that_is_read(self, inited: Run) -> None:
        """The client reads exactly the prompt that is kept, to its end."""
        seen = inited.folder / "seen"
        use_shell(inited, f"cat > '{seen}'")
        job = inited.train(text="Grüße\r\n" + "x" * 300_000)
        inited.end_of(job)
        digest = inited.events("JobCreated", job)[0]["brief"]["sha256"]
        assert hashlib.sha256(seen.read_bytes()).hexdigest() == digest
        assert "Grüße\r\n".encode() in seen.read_bytes()


class TestPoorClients:
    """A client that gives no result has failed, whatever else it printed."""

    def test_without_a_result(self, run: Run) -> None:
        """Nothing, garbage, half a line, or an exit code: each has its reason."""
        run.init("--parallel-cap", "9")
        cases: dict[str, tuple[str, str, str | None, str | None, int]] = {
            "nothing": ("cat > /dev/null", "no_result", None, "startup", 0),
            "deaf": ("true", "no_result", None, "startup", 0),
            "garbage": ("echo not json; echo 7", "no_result", None, "startup", 0),
            "half": ('printf \'{"type":"res\'', "no_result", None, "startup", 0),
            "code": ("exit 7", "exit_code", "7", "startup", 7),
            "signal": ("kill -9 $$", "exit_code", "-9", "startup", -9),
        }
        jobs = {}
        for name, (body, *_) in cases.items():
            use_shell(run, body)
            jobs[name] = run.train(base=name)
            run.end_of(jobs[name])
        for name, (_, reason, detail, kind, code) in cases.items():
            end = run.end_of(jobs[name])
            found = (end["reason"], end["reason_detail"], end["error_kind"], end["exit_code"])
            assert (end["status"], *found) == ("failed", reason, detail, kind, code), name
            assert (end["cost_usd"], end["usage"], end["turns"]) == (None, None, 0)
        assert len(run.events("BaseFailed")) == len(cases)


class TestSlowLooks:
    """How often a supervisor looks around does not change what it hears."""

    def test_a_coarse_tick(self, make_run: MakeRun) -> None:
        """Output that comes while it sleeps is heard whole."""
        run = make_run(tick_s=1.0)
        run.init()
        job = run.trained(*[{"say": "word"}] * 50)
        assert said_in_log(run, job) == said_in_raw(run, job)
        assert run.end_of(job)["turns"] == 50
