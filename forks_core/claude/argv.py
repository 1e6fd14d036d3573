"""The client's command line: all of the launch on every call, then what the call is."""

from collections.abc import Sequence

from forks_events.jobs import JobCreated
from forks_events.values import FileDigest, Launch
from forks_events.words import Kind


def argv(launch: Launch, job: JobCreated) -> tuple[str, ...]:
    """Make the command line of a job; the prompt is not in it, it goes through standard input."""
    return (*_launch_arguments(launch), *_session_arguments(job))


def introduction(launch: Launch, session: str) -> list[str]:
    """The command line of a fresh session that nothing depends on."""
    return [*_launch_arguments(launch), "--session-id", session]


def _launch_arguments(launch: Launch) -> list[str]:
    return [
        launch.binary.path,
        "-p",
        *("--output-format", "stream-json", "--verbose"),
        *("--model", launch.model),
        *(["--effort", launch.effort] if launch.effort is not None else []),
        *("--permission-mode", launch.permission_mode),
        *("--tools", ",".join(launch.tools)),
        *_list("--allowedTools", launch.allowed_tools),
        *_list("--disallowedTools", launch.disallowed_tools),
        *(["--strict-mcp-config"] if launch.mcp.strict else []),
        *("--mcp-config", launch.mcp.config),
        *_file("--append-system-prompt-file", launch.append_system_prompt),
        *(["--agent", launch.agent.name] if launch.agent else []),
        *_file("--settings", launch.settings),
        *(["--max-turns", str(launch.max_turns)] if launch.max_turns is not None else []),
    ]


def _file(flag: str, file: FileDigest | None) -> list[str]:
    return [flag, file.path] if file else []


def _list(flag: str, rules: Sequence[str]) -> list[str]:
    """A flag that takes several values; the flag that follows ends the list."""
    return [flag, *rules] if rules else []


def _session_arguments(job: JobCreated) -> list[str]:
    budget = (
        ["--max-budget-usd", f"{job.max_budget_usd:.15g}"] if job.max_budget_usd is not None else []
    )
    return [*_session(job), *budget]


def _session(job: JobCreated) -> list[str]:
    if job.kind is Kind.CONTINUE:
        return ["--resume", job.session]
    if job.parent_session is None:
        return ["--session-id", job.session]
    return ["--resume", job.parent_session, "--fork-session", "--session-id", job.session]
