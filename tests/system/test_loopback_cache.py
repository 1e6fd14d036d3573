"""The loopback API's prompt cache is earned."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forks_core.system.loopback import Answer, LoopbackApi, Usage, overload
from forks_core.system.loopback.prefix import PromptCache, measure
from tests.system.loopback_driver import EPHEMERAL, Body, ask, post, refusal, until, usage


class TestTheCache:
    """A hit is earned by a finished request that the new one begins with."""

    def test_a_fork_reads_its_base(self) -> None:
        """A request that begins with a whole finished one reads all of its context."""
        with LoopbackApi() as api:
            post(api, ask("learn"))
            fork = usage(post(api, ask("learn", "I have.", "work"))[1])
            base, child = api.requests
        assert fork["cache_read_input_tokens"] == base.usage.context
        assert fork["cache_creation"]["ephemeral_1h_input_tokens"] > 0
        assert child.starts_with(base)
        assert not base.starts_with(child)

    def test_siblings_in_flight_miss(self) -> None:
        """Requests that come before any was finished read nothing."""
        gate = threading.Event()
        with LoopbackApi([Answer(hold=gate)] * 3) as api, ThreadPoolExecutor() as pool:
            held = [pool.submit(post, api, ask("learn", "I have.", "work")) for _ in range(3)]
            until(lambda: len(api.requests) == 3)
            gate.set()
            reads = [usage(h.result(timeout=10)[1])["cache_read_input_tokens"] for h in held]
        assert reads == [0, 0, 0]

    @pytest.mark.parametrize(
        "change", [{"model": "claude-sonnet-5"}, {"output_config": {"effort": "low"}}]
    )
    def test_model_and_effort_part_the_caches(self, change: Body) -> None:
        """Another model or effort reads nothing."""
        with LoopbackApi() as api:
            post(api, ask("learn"))
            assert usage(post(api, ask("learn", **change))[1])["cache_read_input_tokens"] == 0

    def test_an_answer_may_say_its_usage(self) -> None:
        """A usage that is scripted is answered and remembered; the cache is earned all the same."""
        scripted = Usage(input=1, written=2, read=3, one_hour=False)
        with LoopbackApi([Answer(usage=scripted, output_tokens=4)]) as api:
            said = usage(post(api, ask("learn"))[1])
            post(api, ask("learn"))
            first, second = api.requests
        assert said == scripted.record(output=1)
        assert first.usage == scripted
        assert (second.usage.written, second.usage.read) == (0, second.usage.context)

    def test_a_refusal_uses_nothing(self) -> None:
        """Whatever usage an answer says, a refused request has none."""
        with LoopbackApi([overload()._replace(usage=Usage(1, 2, 3))]) as api:
            refusal(api).close()
            assert [request.usage for request in api.requests] == [Usage()]

    def test_forgetting(self) -> None:
        """What is forgotten is cold."""
        with LoopbackApi() as api:
            post(api, ask("learn"))
            api.cache.forget()
            assert usage(post(api, ask("learn"))[1])["cache_read_input_tokens"] == 0

    def test_unmarked_requests_are_not_cached(self) -> None:
        """Without `cache_control` all tokens are plain input, and nothing is read."""
        plain = ask("learn", system="Be brief.")
        with LoopbackApi() as api:
            post(api, ask("learn"))
            told = usage(post(api, plain)[1])
        assert told["cache_read_input_tokens"] == told["cache_creation_input_tokens"] == 0
        assert told["input_tokens"] > 0

    @given(
        texts=st.lists(st.text(max_size=30), min_size=1, max_size=6),
        other=st.lists(st.text(max_size=30), min_size=1, max_size=6),
    )
    def test_the_longest_common_prefix_is_read(self, texts: list[str], other: list[str]) -> None:
        """What is read is exactly the blocks in common, and the parts always sum up."""
        cache, first, second = PromptCache(), ask(*texts), ask(*other)
        cache.finish(measure(first))
        asked = cache.ask(second, measure(second))
        pairs = zip(texts, other, strict=False)
        common = 2 + len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))
        assert asked.read == measure(second).tokens[common - 1]
        assert asked.context == measure(second).tokens[-1]
        assert min(asked.input, asked.written) >= 0

    @given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.data())
    def test_marks_have_no_part_in_the_prefix(self, texts: list[str], data: st.DataObject) -> None:
        """Moving `cache_control` to another message changes no digest."""
        plain, marked = ask(*texts), ask(*texts)
        place = data.draw(st.integers(0, len(texts) - 1))
        marked["messages"][place]["content"][0]["cache_control"] = EPHEMERAL
        assert measure(plain) == measure(marked)
