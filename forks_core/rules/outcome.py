"""How a job ended, out of what its client said, how it exited and what was done to it.

Whoever ended the job itself, a supervisor or a reaper, has said how. Otherwise the first of these
holds:

a. The model was refused, by an announcement, or by a good result that other models gave: failed.
b. There is no result: failed, by the exit code when it is not zero.
c. The result is an error, by its flag, by its subtype or by what ended it: failed.
d. The client exited with a code other than zero: failed.
e. Nothing was answered: not one response and not one token, or no text and no output: failed.
f. It is ok.

A recorded wish to kill it turns all but ok into killed. A client that had given its good result
when it was killed did its work.
"""

from datetime import datetime

from attrs import evolve, frozen

from forks_core.registry import Stream
from forks_core.rules.flags import is_error, once, reason_flags, stream_flags, text_flags
from forks_core.rules.models import is_same_model
from forks_events.jobs import KillRequested
from forks_events.stream import StreamResulted
from forks_events.values import NOTHING_SPENT, Usage
from forks_events.words import ErrorKind, Flag, Reason, Status


@frozen(kw_only=True)
class Imposed:
    """What a supervisor or a reaper decided itself.

    Args:
        status: How the job ended. OK, or None: it only helped the client to exit, so the stream
            decides and the exit code says nothing.
        reason: Why, or None.
        detail: A word more, or None.
        error_kind: What went wrong in the client's terms, or None.
        flags: Flags raised so far, in order.
    """

    status: Status | None = None
    reason: Reason | None = None
    detail: str | None = None
    error_kind: ErrorKind | None = None
    flags: tuple[Flag, ...] = ()


@frozen(kw_only=True)
class Conclusion:
    """How a job ended.

    Args:
        status: How.
        reason: Why, unless ok or out of time.
        detail: A word more: a result's subtype, an exit code, the models that ran instead.
        error_kind: What went wrong in the client's terms, or None.
        resets_at: When the limit that stopped it ends, where it is one and says so.
        flags: What is worth a look, in the order it was raised, without repetition.
    """

    status: Status
    reason: Reason | None = None
    detail: str | None = None
    error_kind: ErrorKind | None = None
    resets_at: datetime | None = None
    flags: tuple[Flag, ...] = ()


@frozen(kw_only=True)
class _Exit:
    """How the client exited, as far as that says anything: ``code`` 0 says nothing."""

    code: int
    stderr_kind: ErrorKind | None


_NO_WORK = Conclusion(status=Status.FAILED, reason=Reason.NO_RESULT, error_kind=ErrorKind.NO_WORK)


def conclude(  # noqa: PLR0913 - a conclusion weighs all of it
    stream: Stream,
    *,
    model: str,
    session: str,
    models_used: tuple[str, ...],
    exit_code: int | None,
    stderr_kind: ErrorKind | None,
    imposed: Imposed | None,
    kill: KillRequested | None,
    cost_usd: float | None = None,
    has_text: bool = True,
) -> Conclusion:
    """Conclude a job.

    Args:
        stream: What its client said.
        model: The model that was asked for.
        session: The session id that the client was told to use.
        models_used: Models whose counters grew in this call.
        exit_code: The client's; negative for a signal; None when it is unknown.
        stderr_kind: What its standard error complains of, or None.
        imposed: What a supervisor or reaper decided itself, or None.
        kill: The recorded wish to end it, or None.
        cost_usd: What this call alone cost, or None when that is unknown.
        has_text: Whether an answer is to be found, in the result or before it.
    """
    flags = (imposed.flags if imposed else ()) + stream_flags(stream, session)
    if imposed is not None and imposed.status not in {None, Status.OK}:
        return _imposed(stream, imposed, flags)
    ignored = imposed is not None or _is_ended_by(kill, exit_code)
    end = _Exit(code=0 if ignored else exit_code or 0, stderr_kind=stderr_kind)
    decided = _decide(stream, model, models_used, end)
    if decided.status is Status.OK and _is_empty(stream, models_used, cost_usd):
        decided = _NO_WORK
    if decided.status is Status.OK:
        late = (Flag.KILLED_AFTER_RESULT,) if _is_ended_by(kill, exit_code) else ()
        recovered = text_flags(stream) if has_text else ()
        return evolve(decided, flags=once(flags + recovered + late))
    if kill is not None:
        return _killed(stream, kill, flags)
    return evolve(decided, flags=once(flags))


def _decide(stream: Stream, model: str, models_used: tuple[str, ...], end: _Exit) -> Conclusion:
    result = stream.result
    if (ran := _ran_instead(stream, model, models_used)) is not None:
        return Conclusion(
            status=Status.FAILED,
            reason=Reason.MODEL_REFUSED,
            detail=ran or None,
            error_kind=ErrorKind.MODEL,
        )
    if result is None:
        return _without_result(stream, end)
    if is_error(result):
        return _failed_by(result)
    if end.code:
        return _exited(end, _stderr_kind(stream, end))
    return Conclusion(status=Status.OK)


def _ran_instead(stream: Stream, model: str, models_used: tuple[str, ...]) -> str | None:
    """Name what ran instead of the model, or None when the model was not refused."""
    if stream.refused is not None:
        return stream.refused.effective or ",".join(models_used)
    good = stream.result is not None and not is_error(stream.result)
    if not good or not models_used or any(is_same_model(model, used) for used in models_used):
        return None
    return ",".join(models_used)


def _without_result(stream: Stream, end: _Exit) -> Conclusion:
    kind = _stderr_kind(stream, end) or _retried_kind(stream)
    if kind is None and stream.opened is None and stream.first is None:
        kind = ErrorKind.STARTUP
    if end.code:
        return _exited(end, kind)
    return Conclusion(status=Status.FAILED, reason=Reason.NO_RESULT, error_kind=kind)


def _exited(end: _Exit, kind: ErrorKind | None) -> Conclusion:
    return Conclusion(
        status=Status.FAILED, reason=Reason.EXIT_CODE, detail=str(end.code), error_kind=kind
    )


def _failed_by(result: StreamResulted) -> Conclusion:
    return Conclusion(
        status=Status.FAILED,
        reason=Reason.IS_ERROR,
        detail=result.subtype,
        error_kind=result.error_kind or ErrorKind.OTHER,
        resets_at=result.resets_at,
    )


def _imposed(stream: Stream, imposed: Imposed, flags: tuple[Flag, ...]) -> Conclusion:
    result = stream.result
    recovered = imposed.status is Status.LOST and result is not None
    return Conclusion(
        status=imposed.status or Status.OK,
        reason=imposed.reason,
        detail=imposed.detail,
        error_kind=imposed.error_kind or (result.error_kind if result else None),
        resets_at=result.resets_at if result else None,
        flags=once(
            flags + reason_flags(imposed.reason) + ((Flag.RESULT_RECOVERED,) if recovered else ())
        ),
    )


def _killed(stream: Stream, kill: KillRequested, flags: tuple[Flag, ...]) -> Conclusion:
    result = stream.result
    return Conclusion(
        status=Status.KILLED,
        reason=kill.reason,
        error_kind=result.error_kind if result else None,
        resets_at=result.resets_at if result else None,
        flags=once(flags + reason_flags(kill.reason)),
    )


def _is_ended_by(kill: KillRequested | None, exit_code: int | None) -> bool:
    # By a signal, or as the client exits when it is asked to end: 128 and the signal's number.
    signalled = exit_code is None or exit_code < 0 or exit_code > 128
    return kill is not None and signalled


def _is_empty(stream: Stream, models_used: tuple[str, ...], cost_usd: float | None) -> bool:
    counted, spent = Usage(), NOTHING_SPENT
    if stream.result is not None:
        counted, spent = stream.result.usage, stream.result.spent or NOTHING_SPENT
    seen_nothing = stream.seen_in_all == Usage()
    untold = not models_used and not cost_usd and counted == Usage()
    if untold and seen_nothing and not stream.turns:
        return True
    # The prompt was read, and nothing came: a gateway's empty answer.
    output = counted.output + sum(one.usage.output for one in spent.models.values())
    said = stream.result is not None and bool(stream.result.text_bytes)
    return not said and not output and (seen_nothing or not stream.turns)


def _stderr_kind(stream: Stream, end: _Exit) -> ErrorKind | None:
    # A client that has opened its session did start.
    started = stream.opened is not None and end.stderr_kind is ErrorKind.STARTUP
    return None if started else end.stderr_kind


def _retried_kind(stream: Stream) -> ErrorKind | None:
    """Say what the client was trying to get over when it ended."""
    if stream.retried is None:
        return None
    status = stream.retried.error_status
    if status is None:
        return ErrorKind.NETWORK
    known = {401: ErrorKind.AUTH, 403: ErrorKind.AUTH, 429: ErrorKind.RATE_LIMIT}
    return known.get(status, ErrorKind.OVERLOADED if status >= 500 else ErrorKind.OTHER)
