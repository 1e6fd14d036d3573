"""How a call of the stand-in can end."""

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.standin_driver import Client, Line, context_of, scripted, until


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A stand-in, whose left-over processes are ended afterwards."""
    made = Client(tmp_path)
    yield made
    made.end_survivors()


class TestEndings:
    """How a call can end."""

    @pytest.mark.parametrize(
        ("window", "words"), [("five_hour", "5-hour limit"), ("seven_day", "weekly limit")]
    )
    def test_a_rejected_window(self, client: Client, window: str, words: str) -> None:
        """A used-up window: a rejected quota line, a synthetic response, an error, exit 1."""
        answer = client.play({"reject": {"window": window, "resets_in_s": 600}})
        info = answer.of("rate_limit_event")[0]["rate_limit_info"]
        assert (info["status"], info["rateLimitType"]) == ("rejected", window)
        assert 0 < info["resetsAt"] - time.time() <= 600
        assert info["unifiedWindows"][window]["utilization"] == 1
        said = answer.of("assistant")[0]["message"]
        assert (said["model"], said["usage"]["input_tokens"]) == ("<synthetic>", 0)
        assert words in answer.result["result"]
        assert (answer.result["subtype"], answer.result["is_error"]) == ("success", True)
        assert (answer.result["api_error_status"], answer.result["total_cost_usd"]) == (429, 0)
        assert answer.code == 1

    def test_overloaded(self, client: Client) -> None:
        """An overload is tried again, with a line each, then ends as a 529."""
        answer = client.play({"overloaded": 3})
        retries = answer.of("system", "api_retry")
        assert [line["attempt"] for line in retries] == [1, 2, 3]
        assert {line["error_status"] for line in retries} == {529}
        assert (answer.code, answer.result["api_error_status"]) == (1, 529)

    def test_a_refused_credential(self, client: Client) -> None:
        """A credential that is refused ends as a 401."""
        answer = client.play({"auth": True})
        assert (answer.code, answer.result["api_error_status"]) == (1, 401)

    def test_retries_then_success(self, client: Client) -> None:
        """Retries alone do no harm."""
        answer = client.play({"retry": 2})
        assert len(answer.of("system", "api_retry")) == 2
        assert answer.code == 0

    def test_the_quota_can_be_told(self, client: Client) -> None:
        """Told values are said with the next response; high ones are a warning."""
        said = client.play({"quota": {"seven_day": 0.96, "resets_in_s": 60}}).of("rate_limit_event")
        info = said[0]["rate_limit_info"]
        assert (info["status"], info["rateLimitType"]) == ("allowed_warning", "seven_day")
        assert info["unifiedWindows"]["seven_day"]["utilization"] == 0.96

    @pytest.mark.parametrize(("version", "code"), [("2.1.332", 1), ("2.0.76", 0)])
    def test_over_the_budget(self, client: Client, version: str, code: int) -> None:
        """Over the budget usage is zero and the cost is right; 2.0 calls it no error."""
        answer = client.ask("hello", "--max-budget-usd", "0.001", FORKS_STANDIN_VERSION=version)
        assert (answer.code, answer.result["subtype"]) == (code, "error_max_budget_usd")
        assert context_of(answer.result["usage"]) == 0
        assert answer.result["total_cost_usd"] > 0.1
        assert answer.result["is_error"] is bool(code)

    def test_a_budget_can_be_told(self, client: Client) -> None:
        """The step `budget` ends a call in the same way."""
        result = client.play({"budget": 0.5}).result
        assert result["errors"] == ["Reached maximum budget ($0.5)"]

    def test_a_refused_model(self, client: Client) -> None:
        """A refused model is a warning, and another model runs."""
        answer = client.play({"refuse_model": "claude-sonnet-5-5"})
        warning = answer.of("system", "informational")[0]
        assert "is restricted" in warning["content"]
        assert warning["model_restriction"]["requested_model"] == "claude-opus-4-5"
        assert list(answer.result["modelUsage"]) == ["claude-sonnet-5-5"]

    def test_the_result_can_be_told(self, client: Client) -> None:
        """A told result replaces what would be said; its is_error is the exit code."""
        answer = client.play({"say": "hm"}, {"result": {"is_error": True, "result": ""}})
        assert (answer.code, answer.result["result"]) == (1, "")

    def test_there_may_be_no_result(self, client: Client) -> None:
        """A call can end well without a result."""
        answer = client.play({"say": "hm"}, {"result": "none"})
        assert (answer.code, answer.of("result")) == (0, [])

    def test_there_may_be_two_results(self, client: Client) -> None:
        """A second result follows a second init, has the next index and the larger cost."""
        answer = client.play({"say": "one"}, {"second_result": "two"})
        first, second = answer.of("result")
        assert (first["result_index"], second["result_index"]) == (0, 1)
        assert (first["result"], second["result"]) == ("one", "two")
        newly = second["model_usage_since_last_result"]["claude-opus-4-5"]["costUSD"]
        assert second["total_cost_usd"] == pytest.approx(first["total_cost_usd"] + newly)
        assert len(answer.of("system", "init")) == 2

    def test_a_crash(self, client: Client) -> None:
        """A crash has the told code or signal and no result."""
        code = client.play({"crash": {"code": 7, "stderr": "out of heap"}})
        killed = client.play({"say": "hm"}, {"crash": {"signal": "KILL"}})
        assert (code.code, code.err) == (7, "out of heap")
        assert killed.code == -signal.SIGKILL
        assert code.of("result") == killed.of("result") == []

    def test_the_exit_code_can_be_told(self, client: Client) -> None:
        """`exit_code` has the last word."""
        assert client.play(exit_code=42).code == 42


class TestSignals:
    """SIGTERM ends a call without a result."""

    def begin(self, client: Client, *steps: Line) -> subprocess.Popen[bytes]:
        """Start a call and wait until its script has come to `touch begun`."""
        process = client.start()
        assert process.stdin is not None
        process.stdin.write(scripted(*steps).encode())
        process.stdin.close()
        until((client.cwd / "begun").exists)
        return process

    def test_terminated(self, client: Client) -> None:
        """SIGTERM: exit 143, no result, and the running command is ended too."""
        with self.begin(client, {"tool": "touch begun; sleep 60"}) as process:
            process.terminate()
            assert process.wait(timeout=10) == 143
            assert process.stdout is not None
            assert b'"type":"result"' not in process.stdout.read()
        until(lambda: not client.survivors())

    def test_deaf(self, client: Client) -> None:
        """A deaf call does not hear SIGTERM and ends in its own time."""
        done = client.cwd / "done"
        steps: list[Line] = [{"deaf": True}, {"touch": "begun"}, {"wait_for": str(done)}]
        with self.begin(client, *steps) as process:
            process.terminate()
            done.touch()
            assert process.wait(timeout=10) == 0

    def test_lingering(self, client: Client) -> None:
        """A lingering call has given its result and is still there."""
        process = client.start()
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(scripted({"linger": 60}).encode())
            process.stdin.close()
            while b'"result_index"' not in process.stdout.readline():
                pass
            assert process.poll() is None
            process.terminate()
            assert process.wait(timeout=10) == 143
