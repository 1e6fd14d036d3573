"""``demo --study``: the sample study, in a folder of its own."""

import pytest

from tests.driver import Run, ok, one_object
from tests.log_view import LogView

ARMS = ("plain", "with-hint")
TRIALS = 12


class TestDemoStudy:
    """The sample is checked, scheduled, run and told; and nothing is left of it."""

    @pytest.mark.long
    def test_kept(self, run: Run) -> None:
        """All of it is done; what is kept can be looked at like any study."""
        content = ok(run.call("demo", "--study", "--keep", "../kept", env={"FORKS_ACCOUNT": "x"}))
        assert (content["ok"], content["reason"], content["blocks_complete"]) == (True, "DONE", 6)
        assert content["replay_equals_live"] is True
        trials = content["trials"]
        assert len(trials) == TRIALS
        assert {trial["status"] for trial in trials} == {"completed"}
        # The second attempt at the totals goes wrong, in both arms; its check says by how much.
        failed = [(trial["trial_id"], trial["score"]) for trial in trials if not trial["passed"]]
        assert [name for name, _ in failed] == [f"MB-01-r2-{arm}" for arm in ARMS]
        assert all(0 < score < 1 for _, score in failed)
        assert [(arm["arm"], arm["passed"], arm["trials"]) for arm in content["arms"]] == [
            (arm, 5, 6) for arm in ARMS
        ]
        file = run.folder / "kept" / "study" / "study.toml"
        state = LogView(file.with_name("study-forks"))
        assert content["state"] == str(state.state)
        assert state.events("RunOpened")[0]["lab"] is True
        replayed = ok(run.ask_words("replay", "--run", str(file)))
        assert (replayed["head"], replayed["events"]) == (content["head"], content["events"])
        status = ok(run.ask_words("study", "status", str(file)))
        assert (status["done"], status["running"]) == (TRIALS, False)
        rows = ok(run.ask_words("study", "rows", str(file), "--complete"))["rows"]
        assert [row["trial_id"] for row in rows] == [trial["trial_id"] for trial in trials]
        assert run.living() == []
        assert not (run.folder / "account").exists()
        assert list(run.home.iterdir()) == []
        said = run.ask_words("demo", "--study", "--keep", "../kept")
        assert said.error == "it is there already"

    def test_interrupted(self, run: Run) -> None:
        """Told to end, it ends after this attempt, and tells of it; nothing is left then either."""
        with run.start("demo", "--study") as process:
            assert process.stderr is not None
            while b"1 going on" not in process.stderr.readline():
                assert process.poll() is None
            process.terminate()
            out, _ = process.communicate(timeout=30)
        content = one_object(out)
        assert (process.returncode, content["ok"], content["reason"]) == (4, False, "USER")
        assert 1 <= len(content["trials"]) < TRIALS
        assert content["replay_equals_live"] is True
        assert run.living() == []
        assert list(run.temporary.iterdir()) == []
