"""``list``: the bases and the jobs, as they stand."""

import pytest

from tests.driver import Run, ok

BASE_ROW = {
    *("name", "status", "session", "cwd", "fingerprint", "base_commit", "context_tokens"),
    *("training_cost_usd", "cost_cum_usd", "last_hit", "train_job", "forks", "phase"),
    *("created_at", "trained_at", "base_state", "warm_until"),
    *("rebase_due", "retrain_due", "reasons"),
}
JOB_ROW = {
    *("job", "kind", "base", "block", "phase", "mode", "paths", "status", "flags", "reason"),
    *("reason_detail", "error_kind", "session", "parent_session", "continues", "created_at"),
    *("launched_at", "started_at", "ended_at", "fingerprint", "cache"),
    *("delivered_at", "settled_at", "turns", "wall_s", "cost_delta_usd"),
    "cost_estimate_usd",
}


class TestList:
    """It tells how all of it stands; nothing is delivered by it."""

    @pytest.mark.rule("B32.1")
    def test_nothing_yet(self, inited: Run) -> None:
        """An empty run is empty lists, and a head to keep elsewhere."""
        content = ok(inited.forks("list"))
        assert set(content) == {"state", "bases", "jobs", "running", "lost_now", "head"}
        lists = [content[name] for name in ("bases", "jobs", "running", "lost_now")]
        assert lists == [[], [], [], []]
        assert content["head"]["seq"] == inited.log()[-1]["seq"]

    @pytest.mark.rule("B32.2", "B32.3", "B32.4", "D17")
    def test_rows(self, ready: Run) -> None:
        """Bases by name, jobs by number; a running job also says how far it is."""
        ready.trained(base="a")
        go = ready.folder / "go"
        job = ready.fork({"say": "hello"}, {"wait_for": str(go)})
        ready.wait_for(lambda: bool(ready.events("StreamTurned", job)))
        content = ok(ready.ask("list"))
        assert [base["name"] for base in content["bases"]] == ["a", "base"]
        assert [row["job"] for row in content["jobs"]] == ["j0001", "j0002", "j0003"]
        assert content["running"] == [job]
        assert all(set(base) == BASE_ROW for base in content["bases"])
        first, _, row = content["jobs"]
        assert set(first) == JOB_ROW
        assert set(row) == JOB_ROW | {"elapsed_s", "last_event_s_ago", "retrying"}
        assert (first["status"], first["turns"], first["mode"]) == ("ok", 1, None)
        assert (row["status"], row["turns"], row["ended_at"]) == ("running", 1, None)
        assert (row["mode"], row["block"]) == ("sequential", "block")
        assert first["created_at"] < first["launched_at"] < first["started_at"] < first["ended_at"]
        assert first["created_at"].endswith("+00:00")
        go.touch()
        ready.end_of(job)
        content = ok(ready.ask("list"))
        assert content["running"] == []
        assert all(row["delivered_at"] is row["settled_at"] is None for row in content["jobs"])
        assert len(ok(ready.ask("wait", "--all"))["done"]) == 3
        assert all(row["settled_at"] for row in ok(ready.ask("list"))["jobs"])

    @pytest.mark.rule("B27.1", "B32.1")
    def test_seen(self, inited: Run) -> None:
        """Who lists is the orchestrator, and so it is recorded; who shows or replays is not."""
        inited.ask("replay")
        inited.ask("show", "x")
        assert inited.events("OrchestratorSeen") == []
        inited.ask("list")
        inited.ask("list")
        assert len(inited.events("OrchestratorSeen")) == 1
