"""``train``: a base's session is trained once."""

import os
import threading
import uuid
from pathlib import Path

import pytest

from tests.driver import Run, ok


class TestTrain:
    """It records the base and its job, starts the supervisor, and answers at once."""

    @pytest.mark.rule("B14.5", "B14.6", "B15.1", "B15.5", "B15.7")
    def test_the_answer(self, inited: Run) -> None:
        """Job, base and session; a fresh session that the client is told to use."""
        brief = inited.brief({"say": "read"}, text="Read $base and README.md.")
        words = ("--base", "A.b-c_1", "--block", "prep", "--phase", "007", "--brief", brief)
        said = inited.forks("train", *words)
        content = ok(said)
        assert (content["job"], content["base"]) == ("j0001", "A.b-c_1")
        session = content["session_id"]
        assert str(uuid.UUID(session)) == session
        created = inited.events("JobCreated")[0]
        assert (created["kind"], created["block"], created["phase"]) == ("train", "prep", 7)
        assert (created["session"], created["parent_session"]) == (session, None)
        assert (created["mode"], created["paths"], created["stagger_s"]) == (None, None, 0)
        assert (created["max_s"], created["brief_source"]) == (5400, brief)
        assert created["head"] == inited.git("rev-parse", "HEAD")
        assert inited.end_of("j0001")["session"] == session
        argv = ok(inited.ask("show", "j0001"))["argv"]
        assert argv[-2:] == ["--session-id", session]
        assert "--resume" not in argv

    @pytest.mark.rule("B15.7", "B19.1", "B19.2")
    def test_the_prompt(self, inited: Run) -> None:
        """The template with the run's paths in it, and the brief as it is, dollars and all."""
        brief = inited.brief_of("Read $base.\r\nThen $brief, and $$.")
        ok(inited.ask("train", "--base", "b1", "--brief", brief))
        digest = inited.events("JobCreated")[0]["brief"]["sha256"]
        prompt = (inited.state / "briefs" / f"{digest}.md").read_bytes().decode()
        assert "Read $base.\r\nThen $brief, and $$." in prompt
        for text in ("`b1`", str(inited.path), str(inited.state / "notes"), str(inited.state)):
            assert text in prompt
        inited.end_of("j0001")

    @pytest.mark.rule("B15.6")
    def test_a_base_is_made(self, inited: Run) -> None:
        """While it trains, the base is training; then it is active, with its session and costs."""
        go = inited.folder / "go"
        job = inited.train({"wait_for": str(go)}, {"say": "read"})
        base = ok(inited.ask("list"))["bases"][0]
        assert (base["status"], base["base_state"], base["train_job"]) == ("training", "cold", job)
        assert base["base_commit"] is None
        assert base["context_tokens"] is None
        go.touch()
        end = inited.end_of(job)
        base = ok(inited.ask("list"))["bases"][0]
        assert (base["status"], base["base_state"]) == ("active", "warm")
        assert base["session"] == end["session"]
        assert base["base_commit"] == inited.git("rev-parse", "HEAD")
        assert base["context_tokens"] > 0
        assert base["training_cost_usd"] == end["cost_usd"] == pytest.approx(base["cost_cum_usd"])
        assert end["cache"] is None
        assert not end["note"]

    @pytest.mark.rule("B15.4")
    def test_not_under_the_cap(self, run: Run) -> None:
        """Any number of bases may be trained at once."""
        run.init("--parallel-cap", "1")
        jobs = [run.train(base=name) for name in "abc"]
        assert jobs == ["j0001", "j0002", "j0003"]
        assert {run.end_of(job)["status"] for job in jobs} == {"ok"}


class TestNames:
    """A name belongs to one base, until its training has failed."""

    @pytest.mark.rule("B15.3")
    def test_exists(self, inited: Run) -> None:
        """A base that is training or active keeps its name."""
        go = inited.folder / "go"
        job = inited.train({"wait_for": str(go)})
        words = ("--base", "base", "--brief", inited.brief())
        before = len(inited.events("JobCreated"))
        said = inited.ask("train", *words)
        assert (said.error, said.content["status"]) == ("base exists", "training")
        go.touch()
        inited.end_of(job)
        said = inited.ask("train", *words)
        assert (said.error, said.content["status"]) == ("base exists", "active")
        assert said.content["base"] == "base"
        assert len(inited.events("JobCreated")) == before

    @pytest.mark.rule("B15.3")
    def test_failed(self, inited: Run) -> None:
        """A name whose training failed can be used again; the record is replaced."""
        inited.end_of(inited.train({"crash": 3}))
        assert ok(inited.ask("list"))["bases"][0]["status"] == "failed"
        second = inited.trained()
        bases = ok(inited.ask("list"))["bases"]
        assert [(base["status"], base["train_job"]) for base in bases] == [("active", second)]

    @pytest.mark.rule("B15.2")
    @pytest.mark.parametrize("name", ["", " ", "a b", "a/b", "ä", "a\n", "$x", "a:b", "j0001"])
    def test_bad(self, inited: Run, name: str) -> None:
        """Letters, digits, underscore, dot and dash only, and not the form of a job's id."""
        before = inited.snapshot()
        said = inited.ask("train", f"--base={name}", "--brief", inited.brief())
        assert said.error.startswith("bad base name")
        assert said.content["base"] == name
        assert inited.snapshot() == before

    @pytest.mark.rule("B6.3", "B15.3")
    def test_at_the_same_time(self, inited: Run) -> None:
        """Of several trainings of one name at once exactly one is accepted."""
        words = inited.words("train", "--base", "base", "--brief", inited.brief())
        calls = [inited.start(*words) for _ in range(4)]
        for call in calls:
            call.communicate()
        assert sorted(call.returncode for call in calls) == [0, 2, 2, 2]
        assert len(inited.events("JobCreated")) == 1


@pytest.mark.rule("D3")
class TestBadInput:
    """What is wrong is named, and nothing is recorded."""

    @pytest.mark.rule("B14.2")
    def test_briefs(self, inited: Run) -> None:
        """A brief must be a file of UTF-8 that can be read."""
        latin = inited.folder / "latin.md"
        latin.write_bytes("Größe".encode("latin-1"))
        before = inited.snapshot()
        for path, detail in (
            (inited.folder / "gone.md", "No such file or directory"),
            (inited.folder, "Is a directory"),
            (latin, "invalid"),
            ("/dev/zero", "not a file"),
        ):
            said = inited.ask("train", "--base", "b", "--brief", str(path))
            assert said.error == "cannot read brief"
            assert said.content["brief"] == str(path)
            assert detail in said.content["detail"]
        assert inited.ask("train", "--base", "b", "--brief", "").error == "empty path"
        assert inited.snapshot() == before

    @pytest.mark.rule("B14.2")
    def test_a_piped_brief(self, inited: Run) -> None:
        """It may come out of a pipe, as from a command that the shell runs for it."""
        pipe = inited.folder / "pipe"
        os.mkfifo(pipe)
        text = Path(inited.brief({"say": "read"})).read_text(encoding="utf-8")
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        job = ok(inited.ask("train", "--base", "b", "--brief", str(pipe)))["job"]
        writer.join()
        assert inited.end_of(job)["status"] == "ok"

    @pytest.mark.rule("B15.1")
    def test_words(self, inited: Run) -> None:
        """An empty block is none, and a launch is not train's to change."""
        before = inited.snapshot()
        words = ("--base", "b", "--brief", inited.brief())
        assert inited.ask("train", *words, "--block", " ").error == "empty block"
        said = inited.ask("train", *words, "--model", "claude-opus-4-5")
        assert said.content["detail"] == "unrecognized arguments: --model claude-opus-4-5"
        assert inited.snapshot() == before

    @pytest.mark.rule("B10.2", "B10.3")
    def test_the_client_is_gone(self, inited: Run) -> None:
        """A client that is gone, or mute by now, is refused."""
        words = ("--base", "b", "--brief", inited.brief())
        program = inited.client.read_text(encoding="utf-8")
        before = inited.snapshot()
        inited.client.unlink()
        said = inited.ask("train", *words)
        assert (said.error, said.content["reason"]) == ("claude binary not found", "binary_missing")
        for body, detail in (("exit 3", "exit code 3"), ("", "it printed nothing")):
            inited.client.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            inited.client.chmod(0o755)
            said = inited.ask("train", *words)
            assert said.error == "claude binary did not report a version"
            assert said.content["detail"] == detail
        inited.client.chmod(0o600)
        inited.client.write_text("no program", encoding="utf-8")
        assert inited.ask("train", *words).error == "claude binary did not report a version"
        inited.client.write_text(program, encoding="utf-8")
        assert inited.snapshot() == before
