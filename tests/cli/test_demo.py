"""``demo``: the main job, in a folder of its own."""

import json
import signal
import time

import pytest

from tests.driver import Run, ok, one_object


class TestDemo:
    """A base is trained, forked twice, replayed; and nothing is left of it."""

    @pytest.mark.long
    def test_two_at_once(self, run: Run) -> None:
        """Both come out well, and leave no process and no file."""
        began = time.monotonic()
        calls = [run.start("demo", env={"SPIRE_FORKS_CHILD": "1"}) for _ in range(2)]
        for call in calls:
            out, err = call.communicate(timeout=60)
            content = one_object(out)
            assert (call.returncode, content["ok"]) == (0, True), err
            assert content["replay_equals_live"] is True
            assert content["state"] is None
            jobs = content["jobs"]
            assert [(job["kind"], job["status"]) for job in jobs] == [
                ("train", "ok"),
                ("fork", "ok"),
                ("fork", "ok"),
            ]
            assert all(line.startswith("forks: ") for line in err.decode().splitlines())
        assert time.monotonic() - began < 30
        assert run.living() == []
        assert list(run.temporary.iterdir()) == []
        assert not (run.folder / "account").exists()

    def test_interrupted(self, run: Run) -> None:
        """Who interrupts it gets an answer, and nothing is left then either."""
        with run.start("demo") as process:
            assert process.stderr is not None
            while b"ClientStarted" not in process.stderr.readline():
                pass
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
        assert (process.returncode, one_object(out)) == (2, {"error": "interrupted"})
        assert run.living() == []
        assert list(run.temporary.iterdir()) == []

    def test_kept(self, run: Run) -> None:
        """What is kept can be looked at like any run; it is never overwritten."""
        began = time.monotonic()
        content = ok(run.call("demo", "--keep", "../kept"))
        assert time.monotonic() - began < 15
        assert content["state"] == str(run.folder / "kept-forks")
        where = ("--run", str(run.folder / "kept.md"))
        replayed = ok(run.ask_words("replay", *where))
        assert replayed["head"] == content["head"]
        assert replayed["events"] == content["events"]
        repository = run.folder / "kept" / "repository"
        for block in ("one", "two"):
            assert (repository / f"{block}.txt").read_text(encoding="utf-8").strip()
        log = (run.folder / "kept-forks" / "events.jsonl").read_bytes()
        opened = json.loads(log.splitlines()[0])
        assert opened["data"]["lab"] is True
        before = sorted(path.name for path in run.folder.rglob("*"))
        for name in ("../kept", "../kept/"):
            said = run.ask_words("demo", "--keep", name)
            assert said.error == "it is there already"
            assert said.content["path"] == str(run.folder / "kept")
        (run.folder / "other-forks").mkdir()
        assert run.ask_words("demo", "--keep", "../other").error == "it is there already"
        (run.folder / "other-forks").rmdir()
        assert sorted(path.name for path in run.folder.rglob("*")) == before

    def test_why_it_did_not_go_well(self, run: Run) -> None:
        """What the client said of its failure is told, since nothing else of it is left."""
        client = run.folder / "refuses"
        script = (
            "#!/bin/sh\n[ $1 = --version ] && echo 9.9.9 && exit\necho no such option >&2\nexit 1\n"
        )
        client.write_text(script, encoding="utf-8")
        client.chmod(0o755)
        said = run.ask_words("demo", "--client", str(client))
        assert (said.code, said.content["ok"]) == (4, False)
        (job,) = said.content["jobs"]
        assert (job["status"], job["reason"], job["error_kind"]) == (
            "failed",
            "exit_code",
            "startup",
        )
        assert "j0001 failed: no such option\n" in said.err
