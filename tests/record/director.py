"""The director: chooses the scripted answer for each request of a scenario."""

import json
import threading

from forks_core.system.loopback import Answer, Request, call, say
from tests.record.scenarios import Scenario
from tests.record.usages import OUTPUT, Helpers, Numbers, usage

_TASK = "look around"
_AGENT_TOOLS = frozenset({"Agent", "Task"})
_FAMILIES = ("haiku", "sonnet")
_WARM_S = 0.3
"""How long a client gets to hear its helpers' answers before the main one."""


class Director:
    """Answers the requests of one scenario; a function for `LoopbackApi`."""

    def __init__(self, scenario: Scenario, numbers: Numbers) -> None:
        """Begin with the first answer."""
        self._scenario = scenario
        self._numbers = numbers
        self._main = self._subagents = 0
        self._helpers = self._choose_helpers()
        self._idle = threading.Event()
        self._helped = threading.Event()
        self._heard: set[str] = set()

    @property
    def asked(self) -> int:
        """How many requests came for the work itself."""
        return self._main

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        if self._helpers and _is_helper(request):
            return self._help(request, self._helpers)._replace(output_tokens=OUTPUT)
        return self._work(request)._replace(output_tokens=OUTPUT)

    def _choose_helpers(self) -> Helpers | None:
        if self._scenario.name == "fork-cache-partial":
            return self._numbers.helpers_partly
        return self._numbers.helpers

    def _work(self, request: Request) -> Answer:
        messages = request.body["messages"]
        if _TASK in json.dumps(messages[0]):
            self._subagents += 1
            answer = say()._replace(usage=self._numbers.subagent(self._subagents - 1))
        else:
            answer = self._scenario.answers[min(self._main, len(self._scenario.answers) - 1)]
            answer = answer._replace(usage=self._numbers.pair(self._scenario.name, self._main))
            self._main += 1
        if self._scenario.delegates and (tool := _agent_tool(request)) and not _is_back(messages):
            asks = call(tool, description="look", prompt=_TASK, subagent_type="general-purpose")
            answer = asks._replace(usage=answer.usage)
        if self._helpers and self._scenario.helped:
            answer = answer._replace(hold=self._helped)
        return answer

    def _help(self, request: Request, helpers: Helpers) -> Answer:
        text = json.dumps(request.body["messages"])
        family = next(name for name in _FAMILIES if name in request.model)
        if '"Warmup"' in text:
            return self._hear(f"warm {family}", say()._replace(usage=usage(helpers.warmup[family])))
        if "Files modified by user" in text:
            return self._hear("files", say()._replace(usage=usage(helpers.files)))
        return say()._replace(usage=usage(helpers.other))

    def _hear(self, kind: str, answer: Answer) -> Answer:
        """Answer what is asked at the start, or never: else its cost would be a matter of luck."""
        if not self._scenario.helped:
            return answer._replace(hold=self._idle)
        self._heard.add(kind)
        if len(self._heard) == 1 + len(_FAMILIES):
            threading.Timer(_WARM_S, self._helped.set).start()
        return answer


def _is_helper(request: Request) -> bool:
    """Whether it is none of the work: an old client's subagents may run on a helper's model."""
    is_family = any(name in request.model for name in _FAMILIES)
    return is_family and _TASK not in json.dumps(request.body["messages"][0])


def _agent_tool(request: Request) -> str | None:
    offered = {tool["name"] for tool in request.body.get("tools") or ()}
    return min(offered & _AGENT_TOOLS, default=None)


def _is_back(messages: list[object]) -> bool:
    """Whether a tool's result is there already."""
    return '"tool_result"' in json.dumps(messages)
