"""``wait``: until jobs are over; each result is delivered once."""

import time

import pytest

from tests.driver import Run, ok, one_object


class TestDelivery:
    """Each result is shown once; a wait that is met settles what is finished."""

    @pytest.mark.rule("B31.5", "B31.8", "D9")
    def test_once(self, ready: Run) -> None:
        """The first wait has the result, later ones only the verdict."""
        said = ready.forks("wait", "--all")
        content = ok(said)
        assert set(content) == {"done", "running", "pings", "met"}
        assert (content["running"], content["pings"], content["met"]) == ([], [], True)
        result = content["done"][0]
        assert (result["job"], result["status"]) == ("j0001", "ok")
        assert result == ok(ready.ask("show", "j0001"))["result"]
        again = ready.ask("wait", "j0001")
        assert (again.code, again.content["done"], again.content["met"]) == (0, [], True)
        assert ok(ready.ask("wait", "--all"))["done"] == []
        assert len(ready.events("JobDelivered", "j0001")) == 1
        assert len(ready.events("JobSettled", "j0001")) == 2

    @pytest.mark.rule("B31.4", "B31.5")
    def test_two_at_once(self, ready: Run) -> None:
        """Of two waits at the same time each result goes to one."""
        go = ready.folder / "go"
        jobs = [ready.fork({"wait_for": str(go)}, block=block) for block in "ab"]
        calls = [ready.start(*ready.words("wait", *jobs)) for _ in range(2)]
        go.touch()
        contents = [one_object(call.communicate(timeout=30)[0]) for call in calls]
        assert [call.returncode for call in calls] == [0, 0]
        delivered = [row["job"] for content in contents for row in content["done"]]
        assert sorted(delivered) == jobs
        assert all(content["met"] for content in contents)

    @pytest.mark.rule("B1.2", "B31.8")
    def test_not_ok(self, inited: Run) -> None:
        """A member that did not end ok makes it 4, also when it was delivered before."""
        inited.end_of(inited.train({"crash": 3}))
        inited.end_of(inited.train(base="other"))
        said = inited.ask("wait", "j0001", "j0002", "j0001")
        assert (said.code, [row["job"] for row in said.content["done"]]) == (4, ["j0001", "j0002"])
        assert inited.ask("wait", "j0001").code == 4
        assert inited.ask("wait", "j0002").code == 0
        assert inited.ask("wait", "--all").code == 0


class TestMet:
    """All must be over, or with --any one of them."""

    @pytest.mark.rule("B1.2", "B31.5", "B31.6", "B31.7", "B31.8", "B31.9", "D9")
    def test_timeout(self, ready: Run) -> None:
        """When the time is up it is 3; what is over by then is delivered, and not settled."""
        go = ready.folder / "go"
        job = ready.fork({"say": "hello"}, {"wait_for": str(go)})
        ready.wait_for(lambda: bool(ready.events("StreamTurned", job)))
        began = time.monotonic()
        said = ready.ask("wait", "--all", "--timeout", "1")
        assert 1 <= time.monotonic() - began < 4
        assert (said.code, said.content["met"]) == (3, False)
        assert [row["job"] for row in said.content["done"]] == ["j0001"]
        running = said.content["running"]
        assert [(row["job"], row["block"], row["turns"]) for row in running] == [(job, "block", 1)]
        assert running[0]["elapsed_s"] >= 1
        assert running[0]["last_event_s_ago"] >= 0.9
        assert ready.events("JobSettled") == []
        go.touch()
        said = ready.ask("wait", "--all")
        assert (said.code, [row["job"] for row in said.content["done"]]) == (0, [job])
        assert {event["job"] for event in ready.events("JobSettled")} == {"j0001", job}

    @pytest.mark.rule("B31.3", "B31.6")
    def test_any(self, ready: Run) -> None:
        """One is enough; only what is finished is settled; then the next one is waited for."""
        ok(ready.ask("wait", "--all"))
        go = ready.folder / "go"
        slow = ready.fork({"wait_for": str(go)}, block="slow")
        quick = ready.fork(block="quick")
        said = ready.ask("wait", "--any", slow, quick)
        assert (said.code, [row["job"] for row in said.content["done"]]) == (0, [quick])
        assert [row["job"] for row in said.content["running"]] == [slow]
        assert ready.ask("wait", "--any", slow, "--timeout", "1").code == 3
        go.touch()
        said = ready.ask("wait", "--any", "--all")
        assert [row["job"] for row in said.content["done"]] == [slow]

    @pytest.mark.rule("B31.3")
    def test_nothing_to_wait_for(self, inited: Run) -> None:
        """With nothing unsettled it is met at once, for all and for any."""
        for words in (("--all",), ("--all", "--any")):
            said = inited.ask("wait", *words)
            assert said.code == 0
            assert said.content == {"done": [], "running": [], "pings": [], "met": True}


@pytest.mark.rule("B31.1")
def test_how_long(run: Run) -> None:
    """Unless told otherwise a wait is for 540 s, as its help says."""
    told = ok(run.ask_words("wait", "--help"))["help"].split()
    assert " ".join(told).endswith("--timeout S seconds, at most (default: 540)")


class TestRefused:
    """What is wrong is named, in a fixed order."""

    @pytest.mark.rule("B27.2", "B31.1")
    def test_order(self, inited: Run) -> None:
        """The timeout, then the names."""
        before = inited.snapshot()
        said = inited.ask("wait", "--timeout", "571", "--all", "j0009")
        assert (said.content["timeout"], said.content["max"]) == (571, 570)
        assert inited.ask("wait", "--all", "j0009").error == "name jobs or --all, not both"
        assert inited.ask("wait").error == "name jobs or --all"
        said = inited.ask("wait", "j0009", "x")
        assert (said.error, said.content["jobs"]) == ("unknown jobs", ["j0009", "x"])
        assert inited.snapshot() == before
