"""``spend``: what an account has spent, by who and what for, by run, by day."""

from datetime import datetime

import pytest

from forks_events.words import Kind
from tests.driver import Run, ok
from tests.study_driver import init_paying, spend, tell

DAY = datetime.fromisoformat("2026-12-01T23:59:59.999999+00:00")


@pytest.mark.rule("A10.4")
def test_nothing(run: Run) -> None:
    """Nothing was spent: zero, and no rows."""
    said = ok(run.ask_words("spend"))
    assert (said["usd"], said["calls"], said["unknown"], said["last_at"]) == (0.0, 0, 0, None)
    assert said["by_who"] == said["by_run"] == said["by_day"] == []
    assert (said["account"], said["head"]["seq"]) == ("default", 0)


@pytest.mark.rule("A10.2", "A10.5")
def test_tables(run: Run) -> None:
    """All in one number and in three tables; unknown costs are counted, and are not zero."""
    tell(
        run,
        spend(0.1, purpose=Kind.TRAIN),
        spend(0.2),
        spend(None),
        spend(0.7, who="study:s", run="run-2", source="/other-forks", ended_at=DAY),
        spend(9.0, account="team"),
    )
    said = ok(run.ask_words("spend"))
    assert (said["usd"], said["calls"], said["unknown"]) == (1.0, 4, 1)
    who = [(row["who"], row["purpose"], row["usd"], row["unknown"]) for row in said["by_who"]]
    assert who == [
        ("forks", "fork", 0.2, 1),
        ("forks", "train", 0.1, 0),
        ("study:s", "fork", 0.7, 0),
    ]
    runs = [(row["run"], row["source"], row["calls"]) for row in said["by_run"]]
    assert runs == [("run-1", "/run-forks", 3), ("run-2", "/other-forks", 1)]
    days = [(row["day"], row["usd"]) for row in said["by_day"]]
    assert days == [("2026-11-30", 0.3), ("2026-12-01", 0.7)]


@pytest.mark.rule("A10.5")
def test_who(run: Run) -> None:
    """Of one who's only; nobody has spent nothing."""
    tell(run, spend(0.1), spend(0.2, who="study:s"), spend(0.4, who="study:s2"))
    assert ok(run.ask_words("spend", "--who", "study:s"))["usd"] == 0.2
    assert ok(run.ask_words("spend", "--wh", "forks"))["calls"] == 1
    assert ok(run.ask_words("spend", "--who", "study"))["by_run"] == []
    assert ok(run.ask_words("spend"))["usd"] == 0.7


def test_an_absurd_cost(run: Run) -> None:
    """What no call could cost is unknown, so the sum can be told, however often it is claimed."""
    init_paying(run)
    run.trained()
    claim = {"type": "result", "subtype": "success", "is_error": False, "total_cost_usd": 1e308}
    for _ in range(2):
        # It ends without a result of its own.
        run.end_of(run.fork({"say": "Done."}, {"line": claim}, {"crash": 0}))
    ok(run.ask("list"))
    said = ok(run.ask_words("spend"))
    assert said["calls"] == 3
    assert 0 < said["usd"] < 10
    costs = [end["cost_usd"] for end in run.events("JobEnded")]
    assert costs[1:] == [None, None]


def test_from_runs(run: Run) -> None:
    """It is the sum of what the run's own jobs have cost."""
    init_paying(run)
    run.trained()
    run.end_of(run.fork({"say": "Done."}))
    ok(run.ask("list"))
    said = run.call("spend")
    assert (said.code, said.err) == (0, "")
    costs = [end["cost_usd"] for end in run.events("JobEnded")]
    assert said.content["usd"] == pytest.approx(sum(costs), abs=1e-6)
    assert [row["purpose"] for row in said.content["by_who"]] == ["fork", "train"]
    assert [row["source"] for row in said.content["by_run"]] == [str(run.state)]
