"""The loopback API: what it answers, and what its headers say."""

import json
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from forks_core.system.loopback import (
    Answer,
    LoopbackApi,
    Quota,
    Request,
    call,
    overload,
    refuse_token,
    reject,
    run,
    say,
)
from tests.system.loopback_driver import ask, events, post, refusal, until, usage


class TestAnswers:
    """What can be answered."""

    def test_a_stream(self) -> None:
        """A streamed answer has the events of the Messages API, in their order."""
        with LoopbackApi([say("Good day.")]) as api:
            told = events(post(api, ask("hello"))[1])
        assert [event["type"] for event in told] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert told[2]["delta"]["text"] == "Good day."
        assert told[4]["delta"]["stop_reason"] == "end_turn"
        assert told[4]["usage"]["output_tokens"] > 0

    def test_a_tool_call(self) -> None:
        """A command is asked for as a Bash tool call after the text."""
        with LoopbackApi([run("echo one")]) as api:
            told = events(post(api, ask("hello"))[1])
        assert told[4]["content_block"]["name"] == "Bash"
        assert json.loads(told[5]["delta"]["partial_json"])["command"] == "echo one"
        assert told[-2]["delta"]["stop_reason"] == "tool_use"

    def test_any_tool(self) -> None:
        """Any tool can be called with what it takes; without a text the call is all there is."""
        with LoopbackApi([call("Task", prompt="look around", depth=2)]) as api:
            told = events(post(api, ask("hello"))[1])
        assert told[1]["content_block"] | {"id": ""} == {
            "type": "tool_use",
            "id": "",
            "name": "Task",
            "input": {},
        }
        given = json.loads(told[2]["delta"]["partial_json"])
        assert given == {"prompt": "look around", "depth": 2}
        assert told[4]["delta"]["stop_reason"] == "tool_use"

    def test_one_message(self) -> None:
        """A request that asks for no stream gets one JSON message with the same usage."""
        with LoopbackApi() as api:
            message = json.loads(post(api, ask("hello", stream=False))[1])
        assert message["content"][0]["text"] == "Hello from loopback."
        assert message["usage"]["cache_creation_input_tokens"] > 0

    def test_answers_in_turn(self) -> None:
        """Answers are used up in turn, by requests that offer tools; then there are greetings."""
        with LoopbackApi([say("one"), say("two")]) as api:
            helper = post(api, ask("title?", tools=[]))[1]
            said = [post(api, ask("hello"))[1] for _ in range(3)]
        texts = [events(stream)[2]["delta"]["text"] for stream in (helper, *said)]
        assert texts == ["Hello from loopback.", "one", "two", "Hello from loopback."]

    def test_answers_by_request(self) -> None:
        """A function may choose, and may look at the requests so far."""

        def choose(request: Request) -> Answer:
            return say(f"{request.model} {len(api.requests)}")

        with LoopbackApi(choose) as api:
            said = [events(post(api, ask("hello"))[1])[2]["delta"]["text"] for _ in range(2)]
        assert said == ["claude-opus-4-5 0", "claude-opus-4-5 1"]

    def test_harmless_requests(self) -> None:
        """HEAD, GET, counting and other paths are answered, and are no requests for messages."""
        with LoopbackApi() as api:
            for method in ("HEAD", "GET"):
                request = urllib.request.Request(api.url + "/api/hello", method=method)
                with urllib.request.urlopen(request, timeout=10) as response:
                    assert response.status == 200
            counted = json.loads(post(api, ask("hello"), "/v1/messages/count_tokens?beta=true")[1])
            assert counted["input_tokens"] > 100
            assert post(api, {}, "/api/event_logging/batch")[1] == "{}"
            assert api.requests == []

    def test_a_held_answer(self) -> None:
        """A held answer comes when it is released, and not before."""
        gate = threading.Event()
        with LoopbackApi([Answer(hold=gate)]) as api, ThreadPoolExecutor() as pool:
            held = pool.submit(post, api, ask("hello"))
            until(lambda: len(api.requests) == 1)
            assert not held.done()
            gate.set()
            assert usage(held.result(timeout=10)[1])["cache_read_input_tokens"] == 0

    def test_closing_lets_go(self) -> None:
        """Closing ends what is held; nobody hangs."""
        api = LoopbackApi([Answer(hold=threading.Event(), delay_s=0.01)])
        with ThreadPoolExecutor() as pool:
            with api:
                held = pool.submit(post, api, ask("hello"))
                until(lambda: len(api.requests) == 1)
            assert held.exception(timeout=10) is None


class TestQuota:
    """What the headers say."""

    def test_both_windows(self) -> None:
        """Every answer tells the use of both windows, and when they reset."""
        with LoopbackApi(quota=Quota(0.5, 0.25, resets_in_s=60)) as api:
            headers = post(api, ask("hello"))[0]
        prefix = "anthropic-ratelimit-unified-"
        assert headers[f"{prefix}status"] == "allowed"
        assert headers[f"{prefix}5h-utilization"] == "0.5"
        assert headers[f"{prefix}7d-utilization"] == "0.25"
        assert 0 < int(headers[f"{prefix}reset"]) - time.time() <= 60

    def test_a_warning(self) -> None:
        """A window beyond its threshold is named, with the threshold."""
        with LoopbackApi([Answer(quota=Quota(0.1, 0.96))]) as api:
            headers = post(api, ask("hello"))[0]
        prefix = "anthropic-ratelimit-unified-"
        assert headers[f"{prefix}status"] == "allowed_warning"
        assert headers[f"{prefix}representative-claim"] == "seven_day"
        assert headers[f"{prefix}7d-surpassed-threshold"] == "0.75"

    @pytest.mark.parametrize("window", ["five_hour", "seven_day"])
    def test_a_rejection(self, window: str) -> None:
        """A used-up window is a 429 that names the window."""
        with LoopbackApi([reject(window, resets_in_s=60)]) as api:
            refused = refusal(api)
        assert refused.code == 429
        assert refused.headers["anthropic-ratelimit-unified-status"] == "rejected"
        assert refused.headers["anthropic-ratelimit-unified-representative-claim"] == window
        assert json.load(refused)["error"]["type"] == "rate_limit_error"
        refused.close()

    @pytest.mark.parametrize(
        ("answer", "code", "error"),
        [(overload(), 529, "overloaded_error"), (refuse_token(), 401, "authentication_error")],
    )
    def test_other_refusals(self, answer: Answer, code: int, error: str) -> None:
        """An overload is a 529, a bad credential a 401; a refused request writes no cache."""
        with LoopbackApi([answer]) as api:
            refused = refusal(api)
            assert refused.code == code
            assert json.load(refused)["error"]["type"] == error
            refused.close()
            assert usage(post(api, ask("hello"))[1])["cache_read_input_tokens"] == 0
            assert [request.status for request in api.requests] == [code, 200]
