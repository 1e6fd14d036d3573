"""How a client shall be launched, as somebody asked for it, made a launch: for init and for arms."""

from collections.abc import Iterable

from attrs import frozen
from immutables import Map

from forks_cli.launch_fields import (
    agent_of,
    model_id,
    permission_mode,
    settings_of,
    variables_of,
)
from forks_cli.rules import split_rules
from forks_core.claude.environment import pinned
from forks_core.errors import Refused
from forks_events.values import Binary, FileDigest, Launch, Mcp

EFFORT, NO_EFFORT = "high", "none"
EFFORTS = ("low", "medium", EFFORT, "xhigh", "max", NO_EFFORT)
PERMISSION_MODE = "dontAsk"
TOOLS = "Bash,Read,Edit,Write,Glob,Grep,Skill"
DISALLOWED = (
    "Bash(git push:*)",
    "Bash(git rebase:*)",
    "Bash(git reset --hard:*)",
    "Bash(claude:*)",
)


@frozen(kw_only=True)
class Rules:
    """What tools there are, and which of their uses need no asking or are denied."""

    tools: tuple[str, ...]
    allowed: tuple[str, ...]
    disallowed: tuple[str, ...]


@frozen(kw_only=True)
class Wanted:
    """What was asked for; None is the default.

    Args:
        model: Full model id.
        effort: One of EFFORTS.
        permission_mode: A mode in which nobody has to answer.
        tools: Lists of tools, with commas or one by one.
        allowed_tools: Rules that are approved; None: the tools.
        disallowed_tools: Rules that are denied.
        agent: Name of the agent to run as.
        settings: A settings file, relative to the folder.
        max_turns: The client's own limit, or None for none.
        env: Names that the scrub spares.
        git_instructions: Whether the system prompt tells of the repository.
    """

    model: str
    effort: str | None
    permission_mode: str | None
    tools: Iterable[str] | None
    allowed_tools: Iterable[str] | None
    disallowed_tools: Iterable[str] | None
    agent: str | None
    settings: str | None
    max_turns: int | None
    env: Iterable[str] | None
    git_instructions: bool


def rules_of(wanted: Wanted) -> Rules:
    """Check the words of a launch, before anything is looked at.

    Raises:
        Refused: The model is an alias, the mode cannot work, or there is no tool.
    """
    model_id(wanted.model)
    permission_mode(wanted.permission_mode or PERMISSION_MODE)
    tools = split_rules([TOOLS] if wanted.tools is None else wanted.tools)
    if not tools:
        raise Refused("--tools is empty")
    return Rules(
        tools=tools,
        allowed=tools if wanted.allowed_tools is None else split_rules(wanted.allowed_tools),
        disallowed=split_rules(
            DISALLOWED if wanted.disallowed_tools is None else wanted.disallowed_tools
        ),
    )


def launch_of(
    wanted: Wanted,
    rules: Rules,
    *,
    folder: str,
    cwd: str,
    binary: Binary,
    mcp_config: str,
    prompt: FileDigest | None,
) -> Launch:
    """Make the launch.

    Args:
        wanted: What was asked for.
        rules: Its rules, checked.
        folder: Where the agent's definition and relative paths are looked for.
        cwd: The working directory.
        binary: The client.
        mcp_config: A configuration without any MCP server.
        prompt: What is appended to the system prompt, or None.

    Raises:
        Refused: The agent or the settings file is not there, or a variable is no name.
    """
    effort = wanted.effort or EFFORT
    return Launch(
        model=wanted.model,
        effort=None if effort == NO_EFFORT else effort,
        permission_mode=wanted.permission_mode or PERMISSION_MODE,
        tools=rules.tools,
        allowed_tools=rules.allowed,
        disallowed_tools=rules.disallowed,
        mcp=Mcp(strict=True, config=mcp_config),
        append_system_prompt=prompt,
        agent=agent_of(wanted.agent, folder),
        settings=settings_of(wanted.settings, folder),
        max_turns=wanted.max_turns,
        cwd=cwd,
        binary=binary,
        env=Map(pinned(git_instructions=wanted.git_instructions)),
        keep_env=variables_of(wanted.env),
    )
