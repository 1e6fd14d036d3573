"""The scenarios: what the API answers, how the client is called, and when it is killed."""

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

from forks_core.system.loopback import Answer, Quota, overload, refuse_token, reject, run, say

TOOLS = "Bash,Glob,Grep,Read,Edit,Write,Skill"
_BIG = 200_000
_FORK = ("--resume", "{parent}", "--fork-session", "--session-id", "{own}")


class Kill(NamedTuple):
    """The client is killed once it made so many requests, and has announced so many retries.

    Clients before 2.1 announce none.
    """

    requests: int
    retries: int = 0


class Scenario(NamedTuple):
    """One call of the client."""

    name: str
    answers: tuple[Answer, ...] = (say(),)
    """To the main thread's requests in turn; the last one is given for ever."""
    tail: tuple[str, ...] = ()
    """The arguments after the common ones; `{own}` is a session of its own, `{parent}` that of `after`."""
    after: str | None = None
    """The scenario whose home and session this one goes on with."""
    tools: str = TOOLS
    settings: Mapping[str, Any] | None = None
    """The user's settings."""
    delegates: bool = False
    """Whoever is offered subagents is told to ask one."""
    helped: bool = False
    """An old client's helper models have answered before the main one; else they never do."""
    kill: Kill | None = None
    is_big: bool = False
    """It is recorded only when it is named."""


def _full(window: str) -> Answer:
    """The window is half over; of one that has begun anew the newest client says nothing."""
    return reject(window)._replace(quota=Quota())


SCENARIOS = (
    Scenario("train", tail=("--session-id", "{own}")),
    Scenario("fork", tail=_FORK, after="train", helped=True),
    Scenario("continue", tail=("--resume", "{parent}"), after="fork", helped=True),
    Scenario("fork-cache-miss", tail=_FORK, after="train", helped=True),
    Scenario("fork-cache-partial", tail=_FORK, after="train", helped=True),
    Scenario("session-id-in-use", tail=("--session-id", "{parent}"), after="train"),
    Scenario("resume-unknown-session", tail=("--resume", "{own}")),
    Scenario("tools", (run("echo one"), run("false"), run("echo three"), say())),
    Scenario("big-output", (run(r"head -c 20000 /dev/zero | tr '\0' 'x'"), say())),
    Scenario("big-text", (say("éx" * _BIG),), is_big=True),
    Scenario("bad-utf8", (run(r"printf '\377\376 \303 end'"), say())),
    Scenario("partial-messages", tail=("--include-partial-messages",)),
    Scenario("leftover-child", (run("sleep 5 & echo started"), say())),
    Scenario(
        "denied",
        (run("git push origin main"), say()),
        tail=("--disallowedTools", "Bash(git push:*)"),
    ),
    Scenario("quota-warning", (Answer(quota=Quota(seven_day=0.80)),)),
    Scenario("quota-over-stop", (Answer(quota=Quota(seven_day=0.96)),)),
    Scenario("rejected-five-hour", (_full("five_hour"),)),
    Scenario("rejected-seven-day", (_full("seven_day"),)),
    Scenario("restricted-model", settings={"availableModels": ["claude-sonnet-5-5"]}),
    Scenario("max-budget", tail=("--max-budget-usd", "0.0001")),
    # Some clients give up by themselves; one that does not is killed.
    Scenario("auth-error", (refuse_token(),), kill=Kill(requests=5)),
    Scenario("subagent", tools="Task,Bash,Read", delegates=True, helped=True),
    Scenario("killed", (Answer(hold=threading.Event()),), kill=Kill(requests=1)),
    Scenario("overloaded-killed", (overload(),), kill=Kill(requests=5, retries=5)),
)
NAMED = {scenario.name: scenario for scenario in SCENARIOS}


def chosen(names: list[str]) -> list[Scenario]:
    """The scenarios to record, in their order: those named, or all that are not big.

    What one goes on with is recorded anew with it, so that their sessions belong together.

    Raises:
        KeyError: There is no scenario of a name.
    """
    wanted = {name for name in names or NAMED if names or not NAMED[name].is_big}
    for name in tuple(wanted):
        after = NAMED[name].after
        while after is not None:
            wanted.add(after)
            after = NAMED[after].after
    return [scenario for scenario in SCENARIOS if scenario.name in wanted]
