"""Events of a stream: what the client said, in names and numbers; the words stay in the raw file.

All of them can be derived again from the raw file by the parser of the same version; only
``seen_at`` cannot, so it is None where the lines were read afterwards.
"""

from datetime import datetime

from attrs import frozen
from immutables import Map

from forks_events.values import Spent, Usage
from forks_events.words import ErrorKind


@frozen(kw_only=True)
class StreamOpened:
    """The client introduced itself.

    Args:
        at: When it was recorded.
        job: The job.
        seen_at: When the line came, or None.
        parser: Version of the parser that read it.
        session: The session id that it reports.
        model: The model that it resolved.
        client_version: Its version, or None when not told.
        runtime: What the cache prefix depends on, each as one text: ``tools`` (SHA-256 of the
            sorted names), ``permissionMode``, ``plugins``, ``agents``, ``apiKeySource``.
        mcp_failed: Names of MCP servers that did not connect.
    """

    at: datetime
    job: str
    seen_at: datetime | None
    parser: int
    session: str | None
    model: str | None
    client_version: str | None
    runtime: Map[str, str]
    mcp_failed: tuple[str, ...]


@frozen(kw_only=True)
class StreamTurned:
    """A distinct response began: several lines of one message count once.

    Args:
        at: When it was recorded.
        job: The job.
        seen_at: When its first line came, or None.
        main: Whether it is the main thread's, not a subagent's.
        model: The model that answered.
        usage: Its tokens; the output is a placeholder on most clients.
    """

    at: datetime
    job: str
    seen_at: datetime | None
    main: bool
    model: str | None
    usage: Usage


@frozen(kw_only=True)
class StreamRetried:
    """The client announced that it tries a request again.

    Args:
        at: When it was recorded.
        job: The job.
        seen_at: When the line came, or None.
        attempt: Its number, from 1.
        delay_ms: Milliseconds until then.
        error_status: HTTP status of the error, or None for the network.
    """

    at: datetime
    job: str
    seen_at: datetime | None
    attempt: int
    delay_ms: int
    error_status: int | None


@frozen(kw_only=True)
class StreamRefused:
    """The client announced that the model is not allowed and that it runs another one."""

    at: datetime
    job: str
    seen_at: datetime | None
    requested: str | None
    effective: str | None


@frozen(kw_only=True)
class StreamResulted:
    """The client gave a result; there may be several, and a later one may be poorer.

    Args:
        at: When it was recorded.
        job: The job.
        seen_at: When the line came, or None.
        subtype: success, error_max_turns, ...
        is_error: Whether the client calls it an error.
        error_kind: What went wrong, from the error's fields and text; None when nothing did.
        api_error_status: HTTP status of the error that ended it, or None.
        terminal_reason: The client's own word for the end, or None.
        session: The session id on it, or None.
        num_turns: The client's count.
        spent: Its cumulative counters; None when it gave no cost.
        usage: The main loop's tokens of the last turn.
        denials: Names of the tools that were denied, one each time.
        text_bytes: Length of the answer's text in UTF-8, or None without one.
        killed_work: Subagents that the client itself gave up on.
        resets_at: When the limit ends that it ran into, or None.
    """

    at: datetime
    job: str
    seen_at: datetime | None
    subtype: str
    is_error: bool
    error_kind: ErrorKind | None
    api_error_status: int | None
    terminal_reason: str | None
    session: str | None
    num_turns: int | None
    spent: Spent | None
    usage: Usage
    denials: tuple[str, ...]
    text_bytes: int | None
    killed_work: int
    resets_at: datetime | None


@frozen(kw_only=True)
class StreamReset:
    """The conversation was begun anew: another session, whose counters start at nothing.

    Args:
        at: When it was recorded.
        job: The job.
        seen_at: When the line came, or None.
        session: The session id from then on, or None when not told.
    """

    at: datetime
    job: str
    seen_at: datetime | None
    session: str | None


StreamEvent = (
    StreamOpened | StreamTurned | StreamRetried | StreamRefused | StreamResulted | StreamReset
)
