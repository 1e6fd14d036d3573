"""The client's environment: the caller's, less what would change the launch or lend it a host."""

import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from forks_events.values import GIT_INSTRUCTIONS, Launch

CHILD = "SPIRE_FORKS_CHILD"
MARKER = "FORKS_JOB"
PATH_SEPARATOR = ":"

# What the desktop application hands to the sessions that it hosts.
_HOSTED = (
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_HOST_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_DESKTOP_APP_VERSION",
    "CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH",
    "CLAUDE_CODE_TERMINAL_MCP_TOOLS",
    "CLAUDE_CODE_REPORT_FINDINGS",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_ENABLE_ASK_USER_QUESTION_TOOL",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
)
# What would change the model, the cache or the credential behind the launch's back.
_STEERING = (
    "CLAUDE_EFFORT",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "ENABLE_PROMPT_CACHING_1H",
    "FORCE_PROMPT_CACHING_5M",
    "CLAUDE_CODE_SUBAGENT_PROMPT_CACHE_TTL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
)
DROP = (*_HOSTED, *_STEERING, "VIRTUAL_ENV")
DROP_PATTERNS = (r"ANTHROPIC_DEFAULT_.+_MODEL", r"UV_.*")
# Everything that is not dropped is kept; these are kept on purpose.
KEEP = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "AI_AGENT",
    "CLAUDE_PID",
    "CLAUDE_CODE_GIT_BASH_PATH",
    "PATH",
    "HOME",
    "USERPROFILE",
)
# A name may hold anything but an equals sign, line ends too.
_DROPPED = re.compile("|".join((*map(re.escape, DROP), *DROP_PATTERNS)), re.IGNORECASE | re.DOTALL)


def pinned(*, git_instructions: bool) -> dict[str, str]:
    """Variables that every launch sets.

    Without git instructions the system prompt holds no snapshot of the repository: on some client
    versions it changes with every commit, and voids the whole cached prefix.
    """
    off = {} if git_instructions else {GIT_INSTRUCTIONS: "1"}
    return {"CLAUDE_CODE_PROMPT_CACHE_TTL": "1h", "DISABLE_AUTOUPDATER": "1", **off}


@frozen(kw_only=True)
class Host:
    """Where forks itself runs.

    Args:
        environment: The caller's variables.
        prefix: ``sys.prefix``.
        base_prefix: ``sys.base_prefix``; it differs within a virtual environment.
    """

    environment: Mapping[str, str]
    prefix: str
    base_prefix: str


def is_dropped(name: str, keep_env: Sequence[str] = ()) -> bool:
    """Tell whether the scrub takes a variable away; names are compared without case."""
    return name not in keep_env and _DROPPED.fullmatch(name) is not None


def scrub(host: Host, launch: Launch, marker: str) -> dict[str, str]:
    """Make the environment of a call.

    Args:
        host: Where forks runs.
        launch: The launch: its pinned variables, its client, the names that it spares.
        marker: The job's mark, by which its processes are found.
    """
    kept = {
        name: value
        for name, value in host.environment.items()
        # Whether git instructions are off is the launch's to say, also when it says that they are on.
        if name != GIT_INSTRUCTIONS and not is_dropped(name, launch.keep_env)
    }
    if "PATH" in kept:
        kept["PATH"] = PATH_SEPARATOR.join(split_path(host)[0])
    return {
        **kept,
        **launch.env,
        CHILD: "1",
        "CLAUDE_CODE_EXECPATH": launch.binary.path,
        MARKER: marker,
    }


def split_path(host: Host) -> tuple[list[str], list[str]]:
    """Split PATH into the entries that stay and those that belong to a virtual environment."""
    roots = [host.environment.get("VIRTUAL_ENV", "")]
    if host.prefix != host.base_prefix:
        roots.append(host.prefix)
    stay: list[str] = []
    go: list[str] = []
    for entry in host.environment.get("PATH", "").split(PATH_SEPARATOR):
        if entry:
            (go if any(_is_under(entry, root) for root in roots) else stay).append(entry)
    return stay, go


def _is_under(entry: str, root: str) -> bool:
    root = root.rstrip("/")
    return bool(root) and (entry.rstrip("/") == root or entry.startswith(root + "/"))


def report(host: Host, *, git_instructions: bool = False) -> dict[str, object]:
    """Say what the scrub does to this environment, by names only."""
    pins = {*pinned(git_instructions=git_instructions), CHILD, MARKER, "CLAUDE_CODE_EXECPATH"}
    names = sorted(host.environment)
    return {
        "drop": [name for name in names if is_dropped(name)],
        "drop_patterns": list(DROP_PATTERNS),
        "drop_path_entries": split_path(host)[1],
        "keep": [name for name in KEEP if name in host.environment],
        "keep_rule": "everything that is not dropped is kept",
        "pinned": sorted(pins),
        "unknown": [
            name
            for name in names
            if name.startswith(("CLAUDE_", "ANTHROPIC_"))
            and not is_dropped(name)
            and name not in {*KEEP, *pins}
        ],
    }
