"""The stand-in's scripts for several calls: each call follows its own."""

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from forks_core.system.standin.calls import count
from tests.system.standin_driver import Client, new_id


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A stand-in, whose left-over processes are ended afterwards."""
    made = Client(tmp_path)
    yield made
    made.end_survivors()


def several(*calls: Any, **more: Any) -> str:
    """A prompt with a script for each call."""
    return f"Hello.\n```standin\n{json.dumps({'calls': list(calls)} | more)}\n```\n"


def saying(text: str) -> dict[str, Any]:
    """The script of a call that says a text."""
    return {"steps": [{"say": text}]}


class TestCalls:
    """`{"calls": [...]}`: a script a call."""

    def test_each_follows_its_own_and_the_last_for_ever(self, client: Client) -> None:
        """The n-th call does what the n-th script says; a quota, a rejection, a crash among them."""
        prompt = several(
            {"steps": [{"quota": {"five_hour": 0.7, "seven_day": 0.9}}, {"say": "first"}]},
            {"steps": [{"reject": {"window": "five_hour", "resets_in_s": 2}}]},
            {"steps": [{"crash": 139}]},
            saying("last"),
        )
        answers = [client.ask(prompt) for _ in range(5)]
        first = answers[0].of("rate_limit_event")[0]["rate_limit_info"]["unifiedWindows"]
        assert (first["five_hour"]["utilization"], first["seven_day"]["utilization"]) == (0.7, 0.9)
        assert answers[1].result["api_error_status"] == 429
        assert [answer.code for answer in answers] == [0, 1, 139, 0, 0]
        assert [answer.result["result"] for answer in answers[3:]] == ["last", "last"]

    def test_each_text_is_counted_by_itself(self, client: Client) -> None:
        """What other scripts were followed, or what stands around a script, does not count."""
        one, other = several(saying("1"), saying("2")), several(saying("3"), saying("4"))
        asked = [one, other, f"More.\n{one}", other]
        assert [client.ask(prompt).result["result"] for prompt in asked] == ["1", "3", "2", "4"]

    def test_the_file_is_counted_too(self, client: Client, tmp_path: Path) -> None:
        """The file that FORKS_STANDIN_SCRIPT names can hold several; to ask the version is no call."""
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"calls": [saying("1"), saying("2")]}), encoding="utf-8")
        client.ask("", "--version", FORKS_STANDIN_SCRIPT=str(path))
        said = [client.ask("hello", FORKS_STANDIN_SCRIPT=str(path)).result["result"] for _ in "12"]
        assert said == ["1", "2"]

    def test_counting_at_once(self, tmp_path: Path) -> None:
        """However many count at a time, each is given a number of its own."""
        with ProcessPoolExecutor(4) as pool:
            numbers = [pool.submit(count, tmp_path, "script") for _ in range(200)]
        assert sorted(number.result() for number in numbers) == list(range(200))

    def test_calls_at_once_each_follow_another(self, client: Client) -> None:
        """No two of several calls that are made at once follow the same script."""
        prompt = several(*(saying(str(number)) for number in range(4)))
        started = [client.start("--session-id", new_id()) for _ in range(4)]
        for each in started:
            assert each.stdin is not None
            each.stdin.write(prompt.encode())
            each.stdin.close()
            each.stdin = None
        said = {json.loads(each.communicate()[0].splitlines()[-1])["result"] for each in started}
        assert said == {"0", "1", "2", "3"}

    @pytest.mark.parametrize(
        ("prompt", "why"),
        [
            (several(), "calls is a list of scripts, and all there is"),
            (several(saying("1"), steps=[]), "calls is a list of scripts, and all there is"),
            (several(saying("1"), 2), "a script is an object with a list of steps"),
            (several(saying("1"), {"calls": []}), "unknown option 'calls'"),
        ],
    )
    def test_what_is_none(self, client: Client, prompt: str, why: str) -> None:
        """A mistake in any of them is refused by the first call."""
        answer = client.ask(prompt)
        assert (answer.code, answer.err) == (1, f"error: {why}\n")
