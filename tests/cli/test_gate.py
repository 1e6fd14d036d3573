"""``gate``: whether a study may be launched, by what was last read of the quota."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.driver import Run, ok
from tests.study_driver import Account, init_paying, reading, tell

HOUR = 3600.0


def now() -> datetime:
    """The time, to the second: what is read has no more."""
    return datetime.now(UTC).replace(microsecond=0)


class TestWorked:
    """The worked values, through the verb: 0 for go and unknown, 75 for gated."""

    @pytest.mark.rule("A13.1", "A13.6")
    def test_nothing_read(self, run: Run) -> None:
        """Without any reading it is unknown, and nothing is made."""
        said = run.ask_words("gate")
        assert (said.code, said.content["action"]) == (0, "unknown")
        assert set(said.content) == {"action", "reason", "account", "head"}
        assert (said.content["account"], said.content["head"]["seq"]) == ("default", 0)
        assert not Account(run).state.exists()

    @pytest.mark.rule("A12.5", "A13.2", "A13.3", "A13.4", "A13.5", "E9")
    @pytest.mark.parametrize(
        ("told", "action", "code", "retry_in_s"),
        [
            ({"five": 0.4}, "unknown", 0, None),
            ({"seven": 0.94, "seven_in_s": HOUR}, "go", 0, None),
            ({"seven": 0.94}, "go", 0, None),
            ({"seven": 0.95, "seven_in_s": HOUR}, "gated", 75, HOUR),
            ({"seven": 0.97, "seven_in_s": -5}, "unknown", 0, None),
            ({"seven": 0.5, "seven_in_s": -5}, "unknown", 0, None),
            ({"seven": 0.96}, "gated", 75, None),
            (
                {"seven": 0.97, "seven_in_s": -5, "status": "rejected", "kind": "seven_day"},
                *("gated", 75, -5),
            ),
            (
                {"seven": 0.5, "seven_in_s": -5, "status": "rejected", "kind": "seven_day"},
                *("go", 0, None),
            ),
            (
                {
                    "seven": 0.5,
                    "seven_in_s": HOUR,
                    "five": 1.0,
                    "five_in_s": 60,
                    "status": "rejected",
                    "kind": "five_hour",
                },
                *("gated", 75, 60),
            ),
        ],
    )
    def test_read(
        self, run: Run, told: dict[str, Any], action: str, code: int, retry_in_s: float | None
    ) -> None:
        """By the latest reading; a retry is told where it is known."""
        at = now()
        # It was seen before its window began anew.
        tell(run, reading(at, **told, seen_at=at - timedelta(seconds=9)))
        said = run.ask_words("gate")
        assert (said.code, said.content["action"]) == (code, action)
        retry_at = said.content.get("retry_at")
        expected = None if retry_in_s is None else at + timedelta(seconds=retry_in_s)
        assert (retry_at and datetime.fromisoformat(retry_at)) == expected
        assert ("seven_day" in said.content) is (action != "unknown")

    def test_reasons(self, run: Run) -> None:
        """A gate that is closed says how much, as of when, and until when."""
        at = now()
        tell(run, reading(at, seven=0.96, seven_in_s=HOUR))
        reason = run.ask_words("gate").content["reason"]
        for part in ("0.960 >= 0.95", at.isoformat(), f"{at + timedelta(hours=1):%H:%M} UTC"):
            assert part in reason

    @pytest.mark.rule("A12.2", "A12.3")
    def test_newest(self, run: Run) -> None:
        """Later readings count, however late the earlier ones are passed on."""
        at = now()
        tell(run, reading(at, seven=0.3, seven_in_s=HOUR))
        tell(run, reading(at, seven=0.97, seven_in_s=HOUR, seen_at=at - timedelta(minutes=5)))
        assert run.ask_words("gate").code == 0
        tell(run, reading(at, seven=0.97, seven_in_s=HOUR, run="run-2"))
        assert run.ask_words("gate").code == 75


class TestWords:
    """Its options."""

    @pytest.mark.rule("A13.3")
    def test_stop(self, run: Run) -> None:
        """Another share closes it, inclusively; the option may be cut short."""
        tell(run, reading(now(), seven=0.8, seven_in_s=HOUR))
        assert run.ask_words("gate").code == 0
        assert run.ask_words("gate", "--stop", "0.8").code == 75
        assert ">= 0.8 " in run.ask_words("gate", "--st", "0.8").content["reason"]
        assert run.ask_words("gate", "--stop=0.81").code == 0
        assert run.ask_words("gate", "--stop", "1").code == 0

    @pytest.mark.rule("B1.13")
    @pytest.mark.parametrize("share", ["0", "-0.5", "1.01", "95", "nan", "inf", "x", ""])
    def test_bad_shares(self, run: Run, share: str) -> None:
        """A share is over 0 and at most 1."""
        said = run.ask_words("gate", f"--stop={share}")
        assert said.error == "usage"
        assert said.content["detail"].startswith("argument --stop: ")

    @pytest.mark.parametrize("verb", ["gate", "quota", "spend"])
    @pytest.mark.parametrize("label", ["", ".", ".a", "a/b", "a b", "x" * 81, "\u00e4"])
    def test_bad_labels(self, run: Run, verb: str, label: str) -> None:
        """A label is 1 to 80 letters, digits and ``. _ -``, without a dot in front."""
        said = run.ask_words(verb, f"--account={label}")
        assert said.error == "usage"
        assert said.content["detail"].startswith("argument --account: ")

    def test_no_run(self, run: Run) -> None:
        """It asks of an account, not of a run."""
        assert run.ask_words("gate", "--run", "r.md").error == "usage"


class TestReal:
    """Of a real run's readings."""

    def test_from_a_client(self, run: Run) -> None:
        """What a client was told closes the gate, and another's reading opens it again."""
        init_paying(run)
        run.trained({"quota": {"seven_day": 0.97, "resets_in_s": 3600}})
        ok(run.ask("list"))
        said = run.call("gate")
        assert (said.code, said.content["seven_day"], said.err) == (75, 0.97, "")
        ahead = datetime.fromisoformat(said.content["retry_at"]) - datetime.now(UTC)
        assert timedelta(minutes=58) < ahead <= timedelta(minutes=60)
        fork = run.fork({"quota": {"seven_day": 0.2, "resets_in_s": 7200}})
        run.end_of(fork)
        ok(run.ask("list"))
        assert ok(run.ask_words("gate"))["action"] == "go"
