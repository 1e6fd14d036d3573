"""``fork``: a block of work starts with all that its base has read."""

import os
import signal
import uuid

import pytest

from tests.driver import Run, ok
from tests.shell_client import use_shell


def refused(run: Run, *words: str, base: str = "base", block: str = "b") -> dict[str, object]:
    """A refusal, which must leave the state folder as it was."""
    brief = run.brief()
    before = run.snapshot()
    said = run.ask("fork", "--base", base, "--block", block, "--brief", brief, *words)
    assert said.code == 2, said
    assert run.snapshot() == before
    return said.content


class TestFork:
    """It records the job, starts its supervisor, and answers at once."""

    @pytest.mark.rule("B14.5", "B16.1", "B16.6", "B16.7", "B16.9")
    def test_all_of_it(self, ready: Run) -> None:
        """The answer, the record, the command line, the result: all of one call."""
        base = ready.events("BaseTrained")[0]
        brief = ready.brief({"say": "done"})
        words = ("--base", "base", "--block", "a/b c", "--phase", "x1", "--brief", brief)
        more = ("--max-minutes", "1.5", "--max-budget-usd", "2.50", "--paths", "p", "q")
        content = ok(ready.forks("fork", *words, *more))
        assert set(content) == {
            *("job", "base", "base_state", "warm_until"),
            *("rebase_due", "retrain_due", "reasons"),
        }
        assert (content["job"], content["base"], content["base_state"]) == ("j0002", "base", "warm")
        assert (content["rebase_due"], content["reasons"]) == (False, [])
        created = ready.events("JobCreated", "j0002")[0]
        assert created["session"] != base["session"] == created["parent_session"]
        assert (created["mode"], created["paths"]) == ("sequential", ["p", "q"])
        assert (created["max_s"], created["max_budget_usd"]) == (90, 2.5)
        assert (created["block"], created["phase"], created["forced"]) == ("a/b c", "x1", False)
        assert created["base_context"] == base["context_tokens"]
        assert created["warm_until"] == content["warm_until"]
        assert created["spent_before"]["cost_usd"] > 0
        result = ready.result("j0002")
        assert (result["status"], result["cache"], result["fingerprint"]) == ("ok", "hit", "ok")
        assert result["flags"] == []
        assert result["paths"] == ["p", "q"]
        assert 0 < result["cost_delta_usd"] < created["spent_before"]["cost_usd"]
        argv = ok(ready.ask("show", "j0002"))["argv"]
        assert argv[-7:] == [
            *("--resume", base["session"], "--fork-session"),
            *("--session-id", str(uuid.UUID(created["session"]))),
            *("--max-budget-usd", "2.5"),
        ]
        assert ok(ready.ask("list"))["bases"][0]["forks"] == ["j0002"]

    @pytest.mark.rule("B18.2", "B19.2", "B19.3")
    def test_the_prompt(self, ready: Run) -> None:
        """What changed since the base, how to work, where the note goes, and the brief."""
        commit = ready.events("BaseTrained")[0]["commit"]
        job = ready.fork(block="one", words=("--mode", "parallel", "--paths", "a.txt"))
        prompt = self._prompt(ready, job)
        assert f"The base was trained on commit {commit}." in prompt
        assert f"Commits {commit[:12]}..HEAD:\n\n```\n(none)\n```" in prompt
        assert "```\n(no changes)\n```" in prompt
        assert str(ready.state / "notes" / "one.md") in prompt
        assert "Do not commit" in prompt
        assert "`a.txt`" in prompt
        assert "phase: n/a" in prompt
        (ready.repository / "README.md").write_text("changed\n", encoding="utf-8")
        ready.commit("A $base step")
        prompt = self._prompt(ready, ready.fork(block="two"))
        assert "A $base step\n```" in prompt
        assert "1 file changed, 1 insertion(+), 1 deletion(-)" in prompt
        assert "never add" in prompt

    def _prompt(self, run: Run, job: str) -> str:
        digest = run.events("JobCreated", job)[0]["brief"]["sha256"]
        run.end_of(job)
        return (run.state / "briefs" / f"{digest}.md").read_bytes().decode()

    @pytest.mark.rule("B19.4")
    def test_a_note(self, ready: Run) -> None:
        """A fork's note is in its result when the fork has written one."""
        note = ready.state / "notes" / "a_b_c.md"
        job = ready.fork({"tool": f"echo done > '{note}'"}, {"say": "x"}, block="a/b c")
        assert ready.result(job)["note"] == str(note)
        assert ready.result(ready.fork(block="d"))["note"] is None

    @pytest.mark.rule("B10.3")
    def test_drift(self, ready: Run) -> None:
        """A client that changed is no obstacle, but it is told."""
        text = ready.client.read_text(encoding="utf-8")
        ready.client.write_text(text + "# longer\n", encoding="utf-8")
        (ready.state / "preamble.md").write_text("other", encoding="utf-8")
        result = ready.result(ready.fork())
        assert result["fingerprint"] == "drift:append_system_prompt,binary"


class TestCap:
    """No more forks run at once than may, however many ask at the same time."""

    @pytest.mark.rule("B16.5")
    def test_six_at_once(self, ready: Run) -> None:
        """With room for two, two of six are accepted; a place that is given back can be taken."""
        go = ready.folder / "go"
        brief = ready.brief({"wait_for": str(go)})
        calls = [
            ready.start(*ready.words("fork", "--base", "base", "--block", b, "--brief", brief))
            for b in "abcdef"
        ]
        outs = [call.communicate()[0].decode() for call in calls]
        assert sorted(call.returncode for call in calls) == [0, 0, 2, 2, 2, 2]
        assert sum("parallel cap reached" in out for out in outs) == 4
        assert [job["job"] for job in ready.events("JobCreated")] == ["j0001", "j0002", "j0003"]
        for job in ("j0002", "j0003"):
            ready.opened_stream(job)
        content = refused(ready)
        assert (content["parallel_cap"], content["running"]) == (2, ["j0002", "j0003"])
        go.touch()
        ready.end_of("j0002")
        ready.end_of("j0003")
        assert ready.end_of(ready.fork())["status"] == "ok"

    @pytest.mark.rule("B16.5", "B28.4")
    def test_a_lost_job_gives_its_place_back(self, ready: Run) -> None:
        """A job whose supervisor died is reaped before the places are counted."""
        jobs = [ready.fork({"sleep": 60}, block=block) for block in "ab"]
        for job in jobs:
            ready.started(job)
        os.kill(ready.supervisor(jobs[0]), signal.SIGKILL)
        ready.env["FORKS_TIMINGS"] = '{"lost_after_s": 1}'
        brief = ready.brief()
        words = ("--base", "base", "--block", "c", "--brief", brief)
        ready.wait_for(lambda: ready.ask("fork", *words).code == 0)
        assert ready.end_of(jobs[0])["status"] == "lost"
        assert ready.end_of("j0004")["status"] == "ok"


class TestRefused:
    """What is wrong is named; nothing is recorded and nothing started."""

    @pytest.mark.rule("B16.2")
    def test_launch_fields(self, run: Run) -> None:
        """What init has fixed is refused before anything else, all of it by name."""
        words = ("--base", "b", "--block", "k", "--brief", "none", "--mode", "parallel")
        said = run.ask("fork", *words, "--effort", "low", "--model", "m", "--allowed-tools", "a")
        assert said.error == "launch fields are fixed at init"
        assert said.content["fields"] == ["model", "effort", "allowed-tools"]
        assert said.content["command"] == "fork"
        for field in ("settings", "max-turns", "env", "agent", "cwd", "binary", "tools"):
            said = run.ask("fork", *words, f"--{field}", "1")
            assert said.content["fields"] == [field]

    @pytest.mark.rule("B16.3")
    def test_parallel_without_paths(self, run: Run) -> None:
        """Who works beside others must say where; that is known before the state is read."""
        words = ("--base", "b", "--block", "k", "--brief", "none", "--mode", "parallel")
        said = run.ask("fork", *words)
        assert (said.error, said.content["mode"]) == ("parallel mode needs --paths", "parallel")

    @pytest.mark.rule("B16.4")
    def test_bases(self, inited: Run) -> None:
        """An unknown base, one that trains, one that failed."""
        content = refused(inited)
        assert (content["error"], content["base"], content["bases"]) == ("unknown base", "base", [])
        go = inited.folder / "go"
        job = inited.train({"wait_for": str(go)}, {"crash": 3})
        inited.opened_stream(job)
        content = refused(inited)
        assert (content["error"], content["status"]) == ("base is not active", "training")
        go.touch()
        inited.end_of(job)
        content = refused(inited)
        assert (content["error"], content["status"]) == ("base is not active", "failed")

    def test_no_prices(self, ready: Run) -> None:
        """A price table that is none is refused now, not when a cost cannot be told."""
        before = len(ready.log())
        words = ("--base", "base", "--block", "b", "--brief", ready.brief())
        said = ready.ask("fork", *words, env={"FORKS_PRICES": "/nowhere"})
        assert said.error == "FORKS_PRICES names no price table"
        assert said.content["path"] == "/nowhere"
        assert len(ready.log()) == before

    @pytest.mark.rule("B16.4", "B16.7")
    def test_forced(self, inited: Run) -> None:
        """With force a base that is not active is forked; it is recorded that it was needed."""
        inited.end_of(inited.train({"say": "read"}, {"crash": 3}))
        job = inited.fork(words=("--force",))
        assert inited.events("JobCreated", job)[0]["forced"] is True
        assert inited.end_of(job)["status"] == "ok"

    @pytest.mark.rule("D3")
    def test_blocks(self, ready: Run) -> None:
        """An empty block, and one whose note's file another block owns already."""
        for block in ("", " \t"):
            assert refused(ready, block=block)["error"] == "empty block"
        ready.end_of(ready.fork(block="a/b"))
        content = refused(ready, block="a b")
        assert content["error"] == "another block owns the note file"
        assert (content["owner"], content["note"]) == ("a/b", "a_b.md")
        assert ready.end_of(ready.fork(block="a/b"))["status"] == "ok"

    @pytest.mark.rule("B16.7")
    def test_not_forced_when_active(self, ready: Run) -> None:
        """Force that was not needed is not recorded."""
        job = ready.fork(words=("--force",))
        assert ready.events("JobCreated", job)[0]["forced"] is False
        ready.end_of(job)

    @pytest.mark.rule("B10.3")
    def test_the_client(self, ready: Run) -> None:
        """A client that is gone is refused, with the reason."""
        use_shell(ready, "exit 0")
        moved = ready.client.rename(ready.folder / "moved")
        content = refused(ready)
        assert (content["error"], content["reason"]) == (
            "claude binary not found",
            "binary_missing",
        )
        moved.rename(ready.client)

    @pytest.mark.rule("B16.1")
    @pytest.mark.parametrize("option", ["--max-minutes", "--max-budget-usd", "--stagger-s"])
    def test_numbers(self, run: Run, option: str) -> None:
        """A limit must be a number that makes sense."""
        words = ("--base", "b", "--block", "k", "--brief", "f")
        assert run.ask("fork", *words, option, "x").error == "usage"
