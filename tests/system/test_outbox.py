"""The outbox: what a run says of quota and money reaches the account once, whatever goes wrong."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forks_core.system.account import account_folder
from tests.conftest import MakeRun
from tests.driver import Run, ok, one_object
from tests.processes import until
from tests.study_driver import Account, forwarded, init_paying, to_pay_for
from tests.system.test_lock import holder

BUSY_S = 2.0
"""So long a busy account is waited for."""
REAL: list[dict[str, tuple[int, bytes]]] = []
"""The account of whoever runs the tests, as it was before a run was driven."""


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run that is no lab run, with a base and a fork that are over, known to its account."""
    made = Run(tmp_path_factory.mktemp("paid"))
    REAL.append(everything(account_folder().path))
    init_paying(made)
    made.trained()
    # So that no verb is there first.
    until(lambda: forwarded(Account(made)) == to_pay_for(made))
    made.end_of(made.fork({"say": "Done."}))
    until(lambda: forwarded(Account(made)) == to_pay_for(made))
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where another account may lie, which has not heard of anything."""
    return tmp_path / "account"


def at(place: Path) -> dict[str, str]:
    """The environment that names an account's place."""
    return {"FORKS_ACCOUNT": str(place)}


def heard(place: Path, run: Run) -> list[tuple[int, str]]:
    """What the account at a place was told of a run."""
    account = Account(run)
    account.state = place
    return forwarded(account)


class TestOnce:
    """Each reading and each end is passed on once, in order, by whoever comes first."""

    @pytest.mark.rule("A10.1", "A12.1")
    def test_by_supervisors(self, paid: Run) -> None:
        """Without any verb the account knows all of it, with the costs of the run's own log."""
        account = Account(paid)
        assert [kind for _, kind in to_pay_for(paid)] == ["QuotaRead", "JobEnded"] * 2
        costs = [end["cost_usd"] for end in paid.events("JobEnded")]
        assert [spend["cost_usd"] for spend in account.booked()] == costs
        assert [spend["purpose"] for spend in account.booked()] == ["train", "fork"]
        read = [event["reading"] for event in paid.events("QuotaRead")]
        assert [event["reading"] for event in account.readings()] == read
        assert {line["by"]["verb"] for line in account.log()} == {"supervise"}

    def test_by_many_verbs(self, paid: Run, place: Path) -> None:
        """The first verb that finds an account which knows nothing tells all, the others nothing."""
        for words in (("list",), ("wait", "--all"), ("kill", "--job", "j0001"), ("list",)):
            assert paid.ask(*words, env=at(place)).code == 0
        assert heard(place, paid) == to_pay_for(paid)
        modes = {path.name: path.stat().st_mode & 0o777 for path in place.iterdir()}
        assert modes["events.jsonl"] == 0o600
        assert place.stat().st_mode & 0o777 == 0o700

    @pytest.mark.rule("A10.3")
    def test_at_once(self, paid: Run, place: Path) -> None:
        """Verbs that pass on the same at the same time pass it on once."""
        words = paid.words("list")
        processes = [paid.start(*words, env=at(place)) for _ in range(3)]
        said = [process.communicate(timeout=30) for process in processes]
        assert [err for _, err in said] == [b""] * 3
        assert all("jobs" in one_object(out) for out, _ in said)
        assert heard(place, paid) == to_pay_for(paid)
        account = Account(paid)
        account.state = place
        assert len(account.events("RunOpened")) == 1

    def test_reading_verbs_tell_nothing(self, paid: Run, place: Path) -> None:
        """Who only looks passes nothing on, and makes no account."""
        for words in (("show", "j0001"), ("replay",)):
            assert paid.ask(*words, env=at(place)).code == 0
        for verb in ("gate", "quota", "spend"):
            assert paid.ask_words(verb, env=at(place)).code == 0
        assert not place.exists()

    def test_two_runs(self, paid: Run, make_run: MakeRun, place: Path) -> None:
        """Another run of the same account is kept apart, though its events have the same numbers."""
        other = make_run()
        other.env |= at(place)
        init_paying(other)
        other.trained()
        assert paid.ask("list", env=at(place)).code == 0
        ok(other.ask("list"))
        account = Account(other)
        sources = [spend["source"] for spend in account.booked()]
        assert sorted(sources) == sorted([str(other.state), *[str(paid.state)] * 2])
        runs = {str(run.state): run.log()[0]["data"]["run"] for run in (paid, other)}
        assert all(spend["run"] == runs[spend["source"]] for spend in account.booked())


class TestLost:
    """What a dead supervisor had to say is said by the one who reaps its job."""

    @pytest.mark.rule("B28.2", "A10.2")
    def test_reaped(self, make_run: MakeRun) -> None:
        """The lost job is booked, at a cost that nobody told, and with what it cost at least."""
        run = make_run(lost_after_s=1.0, heartbeat_s=0.2)
        init_paying(run)
        job = run.train({"say": "Hello."}, {"sleep": 60})
        run.wait_for(lambda: bool(run.events("QuotaRead", job)))
        os.kill(run.supervisor(job), signal.SIGKILL)
        until(lambda: ok(run.ask("list"))["lost_now"] == [job])
        account = Account(run)
        assert forwarded(account) == to_pay_for(run)
        assert [(spend["job"], spend["cost_usd"]) for spend in account.booked()] == [(job, None)]
        spent = ok(run.ask_words("spend"))
        (end,) = run.events("JobEnded", job)
        assert (spent["usd"], spent["calls"], spent["unknown"]) == (0.0, 1, 0)
        assert spent["estimated_usd"] == pytest.approx(end["estimate"]["usd"], abs=1e-6)


@pytest.mark.rule("A10.4", "A12.4")
class TestTrouble:
    """An account that cannot be told is no trouble of the run's, and is told later."""

    @pytest.mark.rule("B1.1")
    def test_a_file_in_its_place(self, make_run: MakeRun) -> None:
        """Jobs end as they would; each verb says on standard error what could not be done."""
        run = make_run()
        place = Path(run.env["FORKS_ACCOUNT"])
        place.touch()
        init_paying(run)
        job = run.trained()
        said = run.forks("list")
        assert (said.code, said.content["jobs"][0]["status"]) == (0, "ok")
        assert said.err.startswith("forks: the account could not be told: cannot use the state")
        assert said.err.count("\n") == 1
        run.wait_for(lambda: "cannot use the state" in run.supervisor_log(job))
        assert run.ask_words("gate").error.startswith("cannot use the state folder")
        place.unlink()
        assert run.forks("list").err == ""
        assert forwarded(Account(run)) == to_pay_for(run)

    def test_damaged(self, paid: Run, place: Path) -> None:
        """An account log that is damaged stays as it is, and the run goes on."""
        paid.ask("list", env=at(place))
        log = place / "events.jsonl"
        whole = log.read_bytes()
        log.write_bytes(b"x" + whole[1:])
        said = paid.ask("list", env=at(place))
        assert (said.code, "the log is damaged" in said.err) == (0, True)
        assert log.read_bytes() == b"x" + whole[1:]
        for verb in ("gate", "quota", "spend"):
            assert paid.ask_words(verb, env=at(place)).error == "the log is damaged"

    @pytest.mark.rule("A10.3")
    def test_busy(self, paid: Run, place: Path) -> None:
        """An account that another process holds delays a call by 2 s in all; the next one tells."""
        place.mkdir()
        with holder(place / "events.lock"):
            began = time.monotonic()
            # It would pass on when it looks, and again when it has delivered.
            said = paid.ask("wait", "--all", env=at(place))
            took = time.monotonic() - began
        assert (said.code, "log locked" in said.err) == (0, True)
        assert BUSY_S <= took < 2 * BUSY_S
        assert heard(place, paid) == []
        assert paid.ask("list", env=at(place)).err == ""
        assert heard(place, paid) == to_pay_for(paid)


@pytest.mark.rule("A10.1")
class TestLab:
    """A run for demonstration or test tells nobody."""

    def test_nothing_is_told(self, shared: Run) -> None:
        """Readings and costs stay in its log, and no account is made."""
        assert [kind for _, kind in to_pay_for(shared)] == ["QuotaRead", "JobEnded"]
        for words in (("list",), ("wait", "--all")):
            assert shared.ask(*words).code == 0
        assert not Account(shared).state.exists()

    def test_the_real_account_stays_untouched(self, paid: Run) -> None:
        """Not one byte of the account of whoever runs the tests: the driver names one of its own."""
        paid.forks("list")
        assert forwarded(Account(paid)) == to_pay_for(paid) != []
        real = account_folder().path
        assert not Account(paid).state.is_relative_to(real)
        assert [everything(real)] == REAL


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """What is in a folder, and when it was written."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }
