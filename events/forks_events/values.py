"""Values that several events share: who a process is, how a client is launched, what was counted."""

from collections.abc import Callable, Iterable
from typing import Any

from attrs import field, fields, frozen
from immutables import Map


@frozen(kw_only=True)
class Process:
    """One process for good: a pid alone is given out again.

    Args:
        host: Name of the machine; a process of another host is never judged from here.
        boot: Boot id of that machine; another boot id of the same host means dead.
        pid: Process id, positive.
        ticks: Start time in clock ticks since boot (field 22 of ``/proc/PID/stat``), compared
            exactly: unlike a wall-clock creation time it does not move when the clock is set.
    """

    host: str
    boot: str
    pid: int
    ticks: int


@frozen(kw_only=True)
class FileDigest:
    """A file by its absolute path and the SHA-256 of its bytes (64 hex digits)."""

    path: str
    sha256: str


@frozen(kw_only=True)
class Agent:
    """The agent definition that a session runs as."""

    name: str
    path: str
    sha256: str


@frozen(kw_only=True)
class Binary:
    """The client program: absolute path, the version that it reported, its size in bytes."""

    path: str
    version: str
    size: int


GIT_INSTRUCTIONS = "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS"
"""The variable that keeps the client's git snapshot, which every commit changes, out of the prefix."""


@frozen(kw_only=True)
class Mcp:
    """Which MCP servers the client may load: only those of ``config`` when ``strict``."""

    strict: bool
    config: str


@frozen(kw_only=True)
class Launch:
    """All that decides how a client is started, and so the prefix that its cache is keyed by.

    Its fingerprint is the SHA-256 of its canonical JSON: every field here is in it, nothing else.

    Args:
        model: Full model id, optionally with ``[1m]``.
        effort: low, medium, high, xhigh or max; None for a client that does not know the flag.
        permission_mode: default, acceptEdits, dontAsk, bypassPermissions or auto.
        tools: Built-in tools that exist in the session, in order.
        allowed_tools: Rules that are approved without asking.
        disallowed_tools: Rules that are denied.
        mcp: The MCP servers.
        append_system_prompt: The file that is appended to the system prompt, or None.
        agent: The agent to run as, or None.
        settings: A settings file, or None.
        max_turns: The client's own limit on agentic turns, or None.
        cwd: Working directory; it is part of the system prompt.
        binary: The client.
        env: Variables that are set for every call, name to value (ours, never the user's).
        keep_env: Names that the scrub spares; their values are never recorded.
    """

    model: str
    effort: str | None
    permission_mode: str
    tools: tuple[str, ...]
    allowed_tools: tuple[str, ...]
    disallowed_tools: tuple[str, ...]
    mcp: Mcp
    append_system_prompt: FileDigest | None
    agent: Agent | None
    settings: FileDigest | None
    max_turns: int | None
    cwd: str
    binary: Binary
    env: Map[str, str]
    keep_env: tuple[str, ...]


@frozen(kw_only=True)
class Thresholds:
    """When a base is due: advice, never a refusal."""

    rebase_commits: int
    rebase_lines: int
    rebase_delta_tokens: int
    max_base_tokens: int
    max_rebases: int


@frozen(kw_only=True)
class Settings:
    """What a run was told at init beside the launch.

    Args:
        parallel_cap: Forks and continues that may run at once.
        orphan_after: Seconds of orchestrator silence after which a job is ended.
        pings: Whether cold-going bases are kept warm.
        ttl_s: Seconds that a written prefix stays in the cache.
        max_minutes: Wall-time limit of a call, from the client's start.
        stall_after_s: Seconds without output after which a job is flagged.
        no_output_s: Seconds without any output at all after which a job is ended.
        stagger_s: Longest wait of a fork for an earlier sibling's first response; 0 is off.
        thresholds: When a base is due.
        account: Label of the account whose quota and money it uses.
    """

    parallel_cap: int
    orphan_after: int
    pings: bool
    ttl_s: int
    max_minutes: float
    stall_after_s: int
    no_output_s: int
    stagger_s: int
    thresholds: Thresholds
    account: str


@frozen(kw_only=True)
class Usage:
    """Tokens of one response or one call.

    ``cache_creation_1h`` + ``cache_creation_5m`` may be less than ``cache_creation``: not every
    client tells how long its writes live.
    """

    input: int = 0
    output: int = 0
    cache_creation: int = 0
    cache_creation_1h: int = 0
    cache_creation_5m: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        """Prompt-side tokens: what the model read, from the cache or not."""
        return self.input + self.cache_creation + self.cache_read


COLUMNS = tuple(column.name for column in fields(Usage))


def total(usages: Iterable[Usage]) -> Usage:
    """Add tokens up, column by column."""
    held = tuple(usages)
    return Usage(**{column: sum(getattr(one, column) for one in held) for column in COLUMNS})


@frozen(kw_only=True)
class Estimate:
    """A cost that nobody told, reckoned from tokens that were seen: a lower bound.

    Args:
        usd: The cost in USD.
        prices_as_of: The day of the prices that it was reckoned by, ISO 8601.
    """

    usd: float
    prices_as_of: str


@frozen(kw_only=True)
class Counters:
    """What a client has counted for one model: tokens, and money in USD as the client reckons it."""

    usage: Usage = field(factory=Usage)
    cost_usd: float = 0.0


@frozen(kw_only=True)
class Spent:
    """Cumulative counters of a session, as its client would carry them on.

    Args:
        cost_usd: Total in USD.
        models: Model id to what was counted for it, subagents and helper models included.
    """

    cost_usd: float
    models: Map[str, Counters]


NOTHING_SPENT = Spent(cost_usd=0.0, models=Map())


def joined(one: Spent, other: Spent, join: Callable[[Any, Any], Any]) -> Spent:
    """Make one of two counters, number by number: ``add`` for a sum, ``max`` for a peak."""
    models = one.models
    for model, counters in other.models.items():
        held = models.get(model, Counters())
        usage = {c: join(getattr(held.usage, c), getattr(counters.usage, c)) for c in COLUMNS}
        cost_usd = join(held.cost_usd, counters.cost_usd)
        models = models.set(model, Counters(usage=Usage(**usage), cost_usd=cost_usd))
    return Spent(cost_usd=join(one.cost_usd, other.cost_usd), models=models)
