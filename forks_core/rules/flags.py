"""Flags: what is worth a look, whatever the status says."""

from forks_core.registry import Stream
from forks_events.stream import StreamResulted
from forks_events.words import Flag, Reason


def is_error(result: StreamResulted) -> bool:
    """Whether a result is one, by its flag, by its subtype or by what ended it."""
    told = result.is_error or result.subtype.startswith("error")
    return told or result.error_kind is not None


def session_of(stream: Stream) -> str | None:
    """The session that a client is in: since it began anew, as it introduced itself, or by its result."""
    opened = stream.opened.session if stream.opened else None
    told = stream.result.session if stream.result else None
    return (stream.reset.session if stream.reset else None) or opened or told


def stream_flags(stream: Stream, session: str) -> tuple[Flag, ...]:
    """Flags that the stream raises, whatever the status is."""
    result = stream.result
    opened = session_of(stream)
    raised = {
        Flag.NEEDS_ATTENTION: bool(stream.denials),
        Flag.KILLED_WORK: result is not None and result.killed_work > 0,
        Flag.ERROR_AFTER_SUCCESS: stream.failed_later,
        Flag.SESSION_MISMATCH: opened is not None and opened != session,
    }
    return tuple(flag for flag, up in raised.items() if up)


def text_flags(stream: Stream) -> tuple[Flag, ...]:
    """The flag of a good result that came without its text."""
    # Tokens were produced, so the answer is in the raw file, in the last response's lines.
    lost = stream.result is not None and not stream.result.text_bytes
    return (Flag.RESULT_TEXT_RECOVERED,) if lost else ()


def reason_flags(reason: Reason | None) -> tuple[Flag, ...]:
    """The flag that goes with a reason."""
    match reason:
        case Reason.EXPIRE:
            return (Flag.EXPIRED,)
        case Reason.ORPHANED:
            return (Flag.ORPHANED,)
        case _:
            return ()


def once(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """Flags in the order they were raised, each once."""
    return tuple(dict.fromkeys(flags))
