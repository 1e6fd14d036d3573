"""What goes wrong on the real client, and how it is booked."""

import json
import subprocess
import threading
from datetime import UTC, datetime, timedelta

import pytest

from forks_core.system.loopback import Answer, refuse_token, reject, say
from tests.client.bill import MODEL
from tests.client.theatre import TRAINING, Theatre
from tests.client.versions import BOTH
from tests.client.world import marked, until

pytestmark = pytest.mark.client
SOON_S = 10.0


class TestALimit:
    """The account's limit is reached."""

    @pytest.mark.long
    def test_five_hours(self, theatre: Theatre) -> None:
        """A window that is used up fails the job by its result, and says when it begins anew."""
        theatre.train()
        before, wait_s = datetime.now(UTC), 4321
        theatre.script("one", reject("five_hour", resets_in_s=wait_s))
        theatre.fork("one")
        row = theatre.result()
        assert (row["status"], row["reason"]) == ("failed", "is_error")
        assert row["error_kind"] == "rate_limit"
        late = datetime.fromisoformat(row["resets_at"]) - before - timedelta(seconds=wait_s)
        assert abs(late) < timedelta(seconds=SOON_S)
        # The client's own banner is no response: nothing was used, nothing missed the cache.
        assert (row["turns"], row["cache"]) == (0, None)
        assert (row["cost_delta_usd"], set(row["tokens"].values())) == (0, {0})
        # The base is not harmed: the next fork hits, and pays for itself.
        theatre.fork("two")
        row = theatre.result()
        assert (row["status"], row["cache"], row["usage_basis"]) == ("ok", "hit", "carried")
        bill = theatre.bill(row["session"])
        assert row["tokens"] == bill.tokens
        assert row["cost_delta_usd"] == pytest.approx(bill.usd, abs=1e-9)


class TestTheCredential:
    """The token is refused."""

    def test_auth(self, theatre: Theatre) -> None:
        """A refused token fails the training, and its base cannot be forked."""
        theatre.script(TRAINING, refuse_token())
        theatre.init()
        theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
        row = theatre.result()
        assert (row["status"], row["reason"]) == ("failed", "is_error")
        assert (row["error_kind"], row["resets_at"]) == ("auth", None)
        assert theatre.forks("fork", *theatre.fork_words("one")).code == 2


class TestTheModel:
    """The settings forbid the model, and the client would run another one."""

    def test_refused(self, theatre: Theatre) -> None:
        """The job fails as soon as the client says so, before any answer of the other model."""
        theatre.init()
        other = "claude-sonnet-5-5"
        settings = theatre.config / "settings.json"
        settings.write_text(json.dumps({"availableModels": [other]}))
        theatre.script(TRAINING, Answer(hold=threading.Event()))
        theatre.ok("train", "--base", "b", "--brief", theatre.brief("train"))
        row = theatre.result()
        assert (row["status"], row["reason"]) == ("failed", "model_refused")
        assert (row["error_kind"], row["reason_detail"]) == ("model", other)
        assert row["wall_s"] < SOON_S
        (refused,) = theatre.events("StreamRefused")
        assert (refused["requested"], refused["effective"]) == (MODEL, other)
        until(lambda: not marked(theatre.marker), within_s=5)
        assert not [seen for seen in theatre.api.requests if seen.model == MODEL]


@BOTH
class TestTheSession:
    """The session id was taken meanwhile."""

    @pytest.mark.long
    def test_in_use(self, theatre: Theatre) -> None:
        """A session that is there already is not written to: the job fails by its exit code."""
        theatre.train()
        answered = threading.Event()
        theatre.script("one", say("One is done.")._replace(hold=answered))
        theatre.fork("one")
        until(lambda: theatre.asked("one"))
        # The second fork is held behind the first, so its session can be taken before it starts.
        second = theatre.fork("two")
        (created,) = theatre.events("JobCreated", second)
        until(lambda: theatre.events("JobHeld", second))
        words = ["-p", "--model", MODEL, "--session-id", created["session"], "Hello."]
        subprocess.run(
            [theatre.client, *words],
            cwd=theatre.repository,
            env=theatre.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        answered.set()
        assert theatre.result("j0002")["status"] == "ok"
        row = theatre.result(second)
        assert (row["status"], row["reason"]) == ("failed", "exit_code")
        assert (row["exit_code"], row["cost_delta_usd"], row["turns"]) == (1, None, 0)
        assert row["error_kind"] == "startup"
        assert theatre.asked("two") == 0
        assert "already in use" in theatre.ok("show", second)["stderr"]
