"""``continue``: a fork's session goes on with another brief."""

import json
import os
import signal
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests.driver import Run, ok
from tests.log_view import Line

FORK, CRASHED, KILLED = "j0002", "j0003", "j0004"
TERMS = (
    *("--mode", "parallel", "--paths", "p", "q", "--phase", "7"),
    *("--max-minutes", "1", "--max-budget-usd", "2", "--stagger-s", "9"),
)


@pytest.fixture(scope="module")
def forked(shared: Run) -> Iterator[Run]:
    """A run with three forks that are over; whoever continues one waits for the end."""
    jobs = [
        shared.fork({"say": "first"}, block="a/b", words=TERMS),
        shared.fork({"crash": 3}, block="crashed"),
    ]
    shared.end_of(FORK)
    jobs.append(shared.fork({"say": "half"}, {"sleep": 60}, block="killed"))
    shared.wait_for(lambda: bool(shared.events("StreamTurned", KILLED)))
    ok(shared.ask("kill", "--job", KILLED))
    assert jobs == [FORK, CRASHED, KILLED]
    assert [shared.end_of(job)["status"] for job in jobs] == ["ok", "failed", "killed"]
    yield shared
    assert ok(shared.ask("list"))["running"] == []


def continued(run: Run, fork: str, *steps: Line, words: Any = (), **options: Any) -> str:
    """Continue a fork, and return the job."""
    given = ("--job", fork, "--brief", run.brief(*steps, **options), *words)
    return str(ok(run.ask("continue", *given))["job"])


def refused(run: Run, fork: str, *words: str) -> Line:
    """A refusal, which must leave the state folder as it was."""
    brief = run.brief()
    before = run.snapshot()
    said = run.ask("continue", "--job", fork, "--brief", brief, *words)
    assert said.code == 2, said
    assert run.snapshot() == before
    return said.content


class TestContinue:
    """It takes a fork's place in everything but the brief, the number, the limits and the bill."""

    @pytest.mark.rule("B17.1", "B17.2", "B17.5", "B17.6", "B17.7")
    def test_all_of_it(self, forked: Run) -> None:
        """The answer is the job alone; its launch is the fork's, its text and delivery its own."""
        was = forked.events("JobCreated", FORK)[0]
        brief = forked.brief({"say": "second"})
        said = forked.forks("continue", "--job", FORK, "--brief", brief, "--max-minutes", "2")
        job = said.content["job"]
        assert (said.code, said.content, said.err) == (0, {"job": job}, "")
        created = forked.events("JobCreated", job)[0]
        same = ("base", "block", "phase", "mode", "paths", "session", "parent_session")
        assert {name: created[name] for name in same} == {name: was[name] for name in same}
        assert (created["kind"], created["continues"]) == ("continue", FORK)
        assert (created["max_s"], created["max_budget_usd"], created["stagger_s"]) == (120, None, 0)
        result = forked.result(job)
        assert (result["status"], result["cache"], result["flags"]) == ("ok", "hit", [])
        assert (result["session"], result["paths"]) == (was["session"], ["p", "q"])
        row = next(row for row in ok(forked.ask("list"))["jobs"] if row["job"] == job)
        assert row["continues"] == FORK
        assert ok(forked.ask("list"))["bases"][0]["forks"] == [FORK, CRASHED, KILLED]
        assert [row["job"] for row in ok(forked.ask("wait", job))["done"]] == [job]
        assert [ok(forked.ask("show", name))["text"] for name in (FORK, job)] == ["first", "second"]
        # The session is resumed, and that is all: no fork, no id, not the fork's budget.
        launched, argv = (ok(forked.ask("show", name))["argv"] for name in (FORK, job))
        assert argv == [*launched[: launched.index("--resume")], "--resume", was["session"]]
        # Who wants to go on from there names the fork again.
        content = refused(forked, job)
        assert content["error"] == "continue takes a fork job"
        assert (content["job"], content["kind"]) == (job, "continue")

    @pytest.mark.rule("B17.7")
    def test_the_prompt(self, forked: Run) -> None:
        """The brief is the prompt, byte for byte: no template, nothing trimmed, nothing expanded.

        Without a limit of its own it has the run's, not the fork's.
        """
        text = "\n $base ${block} $$ é\u2028 ```\r\n\tend \n\n".encode()
        path = forked.folder / "exact.md"
        path.write_bytes(text)
        job = str(ok(forked.ask("continue", "--job", FORK, "--brief", str(path)))["job"])
        created = forked.events("JobCreated", job)[0]
        stored = forked.state / "briefs" / f"{created['brief']['sha256']}.md"
        assert stored.read_bytes() == text
        assert (created["brief"]["bytes"], created["brief_source"]) == (len(text), str(path))
        assert created["max_s"] == 90 * 60
        forked.end_of(job)

    @pytest.mark.rule("B17.6")
    def test_its_cost_is_its_own(self, forked: Run) -> None:
        """A client that counts on from its parent is booked what came on top, call by call."""
        job = continued(forked, FORK, {"say": "more"})
        forked.end_of(job)
        jobs = [row["job"] for row in ok(forked.ask("list"))["jobs"] if row["continues"] == FORK]
        told = [self._told_usd(forked, name) for name in ("j0001", FORK, *jobs)]
        costs = [forked.end_of(name)["cost_usd"] for name in (FORK, *jobs)]
        own = [after - before for before, after in pairwise(told)]
        assert costs == pytest.approx(own, abs=1e-9)
        assert all(0 < cost < told[0] for cost in costs)
        assert forked.end_of(job)["usage_basis"] == "carried"

    @pytest.mark.rule("B17.6")
    def test_a_client_that_counts_anew(self, forked: Run) -> None:
        """An older client reports each call by itself, and that is what each is booked."""
        old = {"version": "2.1.197"}
        fork = forked.fork(block="old", **old)
        forked.end_of(fork)
        job = continued(forked, fork, {"say": "more"}, **old)
        ends = [forked.end_of(name) for name in (fork, job)]
        told = [self._told_usd(forked, name) for name in (fork, job)]
        assert [end["cost_usd"] for end in ends] == pytest.approx(told, abs=1e-9)
        assert {end["usage_basis"] for end in ends} == {"fresh"}

    def _told_usd(self, run: Run, job: str) -> float:
        lines = [json.loads(line) for line in run.raw(job).splitlines()]
        return float(next(line for line in lines if line["type"] == "result")["total_cost_usd"])


@pytest.mark.rule("B17.4")
class TestAfterABadEnd:
    """However a fork ended, it can go on."""

    @pytest.mark.parametrize("fork", [CRASHED, KILLED])
    def test_not_ok(self, forked: Run, fork: str) -> None:
        """One that crashed before its first word, one that was killed: by the session it was told."""
        job = continued(forked, fork)
        session = forked.events("JobCreated", fork)[0]["session"]
        assert forked.events("JobCreated", job)[0]["session"] == session
        end = forked.end_of(job)
        assert (end["status"], end["session"]) == ("ok", session)

    def test_lost(self, forked: Run) -> None:
        """A fork whose supervisor died is reaped first, and then goes on, in the one call."""
        fork = forked.fork({"say": "half"}, {"sleep": 60}, block="lost")
        forked.wait_for(lambda: bool(forked.events("QuotaRead", fork)))
        assert refused(forked, fork)["error"] == "the fork is still running"
        os.kill(forked.supervisor(fork), signal.SIGKILL)
        soon = {"FORKS_TIMINGS": '{"lost_after_s": 0.2}'}
        words = ("--job", fork, "--brief", forked.brief())
        forked.wait_for(lambda: forked.ask("continue", *words, env=soon).code == 0)
        assert forked.end_of(fork)["status"] == "lost"
        assert forked.job_processes(fork) == []
        log = [(line["type"], line["data"]) for line in forked.log()]
        ended = next(
            n for n, (kind, data) in enumerate(log) if kind == "JobEnded" and data["job"] == fork
        )
        _, data = next(item for item in log[ended:] if item[0] == "JobCreated")
        assert data["continues"] == fork
        assert forked.end_of(data["job"])["status"] == "ok"


class TestRefused:
    """What cannot go on is named; nothing is recorded and nothing started."""

    @pytest.mark.rule("B17.1")
    def test_before_the_state_is_read(self, run: Run) -> None:
        """Launch fields are refused first, all of them by name; then a run without an init."""
        said = run.ask("continue", "--job", "j", "--brief", "x", "--effort", "low", "--model", "m")
        assert said.error == "launch fields are fixed at init"
        assert said.content["fields"] == ["model", "effort"]
        assert said.content["command"] == "continue"
        said = run.ask("continue", "--job", "j0002", "--brief", "x")
        assert said.error == "no launch config for this run; call init first"
        assert said.content["state"] == str(run.state)
        assert not run.state.exists()

    @pytest.mark.rule("B1.4", "B1.13", "B17.1")
    @pytest.mark.parametrize(
        "words",
        [
            *(("--max-minutes", number) for number in ("0", "-1", "nan", "inf", "soon")),
            ("--max-budget-usd", "1"),
            ("--phase", "1"),
            ("--force",),
            ("--job",),
        ],
    )
    def test_words(self, shared: Run, words: tuple[str, ...]) -> None:
        """A limit must be a number over 0; what only a fork can be told is no word of this verb."""
        said = shared.ask("continue", "--job", "j0002", "--brief", "x", *words)
        assert said.error == "usage"
        assert said.content["usage"].startswith("usage: forks continue")

    @pytest.mark.rule("B17.1")
    def test_both_are_required(self, shared: Run) -> None:
        """The fork and the brief."""
        for words in (("--job", "j0002"), ("--brief", "x")):
            assert shared.ask("continue", *words).error == "usage"

    @pytest.mark.rule("B17.2")
    def test_which_job(self, forked: Run) -> None:
        """Unknown ones and a training."""
        assert refused(forked, "j0999")["error"] == "unknown job"
        content = refused(forked, "j0001")
        assert (content["error"], content["kind"]) == ("continue takes a fork job", "train")

    @pytest.mark.rule("B17.3")
    def test_two_at_once(self, forked: Run) -> None:
        """Of several calls at the same moment one is accepted, and no other until that is over."""
        go = forked.folder / "two"
        brief = forked.brief({"wait_for": str(go)})
        before = len(forked.events("JobCreated"))
        words = forked.words("continue", "--job", FORK, "--brief", brief)
        calls = [forked.start(*words) for _ in range(3)]
        for call in calls:
            call.communicate(timeout=30)
        assert sorted(call.returncode for call in calls) == [0, 2, 2]
        (created,) = forked.events("JobCreated")[before:]
        forked.opened_stream(created["job"])
        content = refused(forked, FORK)
        assert content["error"] == "the fork is still running"
        assert (content["job"], content["running"]) == (FORK, [created["job"]])
        go.touch()
        forked.end_of(created["job"])

    @pytest.mark.rule("B16.5", "B17.4")
    def test_the_cap(self, forked: Run) -> None:
        """Forks and continues share the places, in both directions."""
        go = forked.folder / "cap"
        running = [forked.fork({"wait_for": str(go)}, block="cap")]
        running.append(continued(forked, FORK, {"wait_for": str(go)}))
        for job in running:
            forked.opened_stream(job)
        content = refused(forked, KILLED)
        assert content["error"] == "parallel cap reached"
        assert (content["parallel_cap"], content["running"]) == (2, running)
        words = ("--base", "base", "--block", "d", "--brief", forked.brief())
        assert forked.ask("fork", *words).content["running"] == running
        go.touch()
        for job in running:
            forked.end_of(job)

    @pytest.mark.rule("D3", "B10.3")
    def test_the_brief_and_the_client(self, forked: Run) -> None:
        """A brief that is gone or no UTF-8, and a client that is gone or mute."""
        latin = forked.folder / "latin.md"
        latin.write_bytes(b"caf\xe9")
        before = forked.snapshot()
        for brief in (str(latin), str(forked.folder / "gone.md"), str(forked.folder)):
            said = forked.ask("continue", "--job", FORK, "--brief", brief)
            assert (said.error, said.content["brief"]) == ("cannot read brief", brief)
        assert forked.ask("continue", "--job", FORK, "--brief", " ").error == "empty path"
        assert forked.snapshot() == before
        moved = forked.client.rename(forked.folder / "moved")
        try:
            assert refused(forked, FORK)["reason"] == "binary_missing"
            forked.client.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            forked.client.chmod(0o755)
            mute = "claude binary did not report a version"
            assert refused(forked, FORK)["error"] == mute
        finally:
            moved.rename(forked.client)

    @pytest.mark.rule("B1.9", "B1.10")
    def test_inside_a_fork(self, shared: Run) -> None:
        """A fork must not continue another, nor itself; help and unknown words come before that."""
        child = {"SPIRE_FORKS_CHILD": "1"}
        before = shared.snapshot()
        words = ("--job", "j0001", "--brief", "gone", "--model", "m")
        said = shared.ask("continue", *words, env=child)
        assert "SPIRE_FORKS_CHILD" in said.error
        assert said.content["command"] == "continue"
        assert shared.ask("continue", *words, "--bogus", env=child).error == "usage"
        assert shared.ask("continue", "--help", env=child).code == 0
        assert shared.snapshot() == before
