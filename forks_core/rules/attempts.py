"""Attempts at a trial: what an attempt came to, whether it is tried again, and how long to wait.

What has nothing to do with the arm is infrastructure; the first that holds:

1. A window was refused, in an attempt without a good result: a rate limit. Then, of an error, or
   without a result when the client failed:
2. the status 429, or a limit in the words of the error: a rate limit;
3. a status of an overloaded service, or its words: overloaded;
4. a refused credential, by status or words: authentication. Then
5. an MCP server that did not connect, 6. a client that never introduced itself, and 7. what we
   ourselves failed at.

To run out of turns, of money or of time is none of it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from attrs import frozen

from forks_core.registry import Stream
from forks_core.rules.backoff import backoff_s
from forks_core.rules.flags import is_error
from forks_events.jobs import JobEnded
from forks_events.study import Attempts
from forks_events.trials import Check, InfraKind, TrialStatus, Wait
from forks_events.words import ErrorKind, Reason, Status

OVERLOADED = frozenset({500, 502, 503, 504, 529})
REFUSED = frozenset({401, 403})
LIMITED = 429
AUTH_WAIT_S = 30.0
OTHER_WAIT_S = 5.0
_OURS = frozenset(
    {
        Reason.SUPERVISOR_DEAD,
        Reason.SUPERVISOR_ERROR,
        Reason.SPAWN_FAILED,
        Reason.LAUNCH_ERROR,
        Reason.ORPHANED,
        Reason.KILL,
        Reason.EXPIRE,
    }
)


@frozen(kw_only=True)
class Call:
    """How an attempt's call went.

    Args:
        end: How its job ended.
        stream: What its client said.
        rejected: Whether a window was refused, whatever was told of it later.
        resets_at: When that window begins anew, or None.
    """

    end: JobEnded
    stream: Stream
    rejected: bool
    resets_at: datetime | None


def infra_kind(call: Call) -> InfraKind | None:
    """Say what of the infrastructure failed, or None."""
    good = call.stream.succeeded
    if call.rejected and not good:
        return InfraKind.RATE_LIMIT
    if (kind := _by_error(call)) is not None:
        return kind
    opened = call.stream.opened
    if opened is not None and opened.mcp_failed:
        return InfraKind.MCP_START
    if opened is None and call.end.reason not in _OURS:
        return InfraKind.CLIENT_CRASH
    return InfraKind.RUNNER if call.end.reason in _OURS and not good else None


def _by_error(call: Call) -> InfraKind | None:
    result = call.stream.result
    failed = is_error(result) if result is not None else call.end.exit_code not in {0, None}
    if not failed:
        return None
    status = result.api_error_status if result is not None else None
    if status == LIMITED or call.end.error_kind is ErrorKind.RATE_LIMIT:
        return InfraKind.RATE_LIMIT
    if status in OVERLOADED or call.end.error_kind is ErrorKind.OVERLOADED:
        return InfraKind.OVERLOADED
    if status in REFUSED or call.end.error_kind is ErrorKind.AUTH:
        return InfraKind.AUTH
    return None


def trial_status(call: Call, infra: InfraKind | None) -> TrialStatus:
    """Say how an attempt ended; the first that holds counts."""
    if call.end.status is Status.TIMEOUT:
        return TrialStatus.TIMEOUT
    if infra is not None:
        return TrialStatus.INFRA_ERROR
    result = call.stream.result
    subtype = result.subtype if result is not None else None
    if subtype == "error_max_turns":
        return TrialStatus.MAX_TURNS
    if subtype == "error_max_budget_usd":
        return TrialStatus.MAX_BUDGET
    if result is None or is_error(result) or _is_no_work(call.end):
        return TrialStatus.AGENT_ERROR
    return TrialStatus.COMPLETED


def _is_no_work(end: JobEnded) -> bool:
    """Whether a result that calls itself good is none: of another model, or of nothing at all."""
    return end.error_kind in {ErrorKind.MODEL, ErrorKind.NO_WORK}


def has_passed(call: Call, check: Check | None, infra: InfraKind | None) -> bool:
    """Tell whether the work is right, however the agent ended.

    Infrastructure never is, nor is what another model than the arm's did.
    """
    ran_instead = call.end.reason is Reason.MODEL_REFUSED
    return infra is None and not ran_instead and check is not None and check.exit_code == 0


def is_evaluator_error(check: Check | None) -> bool:
    """Tell whether the check itself failed: it neither passed nor failed the work."""
    return check is not None and check.exit_code not in {0, 1}


@frozen(kw_only=True)
class Verdict:
    """What follows from an attempt.

    Args:
        final: Whether the trial is over with it.
        excluded: Whether it is then left out of the comparison.
        gives_up: Whether the run stops instead: the credential is refused.
        wait: What is waited for before the next attempt, or None.
        wait_s: For how long, in seconds, where that is known by itself.
    """

    final: bool
    excluded: bool = False
    gives_up: bool = False
    wait: Wait | None = None
    wait_s: float | None = None


def verdict(kinds: Sequence[InfraKind | None], limits: Attempts) -> Verdict:
    """Judge the last of a trial's attempts.

    A rate limit is waited for without limit. An overloaded service is tried again a few times,
    each after a longer while. One retry is left for anything else, a refused credential among it;
    the second refusal stops the run, and leaves the trial pending.

    Args:
        kinds: What failed in each attempt so far, the last one included; None: nothing.
        limits: How often a trial is tried.
    """
    last = kinds[-1]
    match last:
        case None:
            return Verdict(final=True)
        case InfraKind.RATE_LIMIT:
            return Verdict(final=False, wait=Wait.RATE_LIMIT)
        case InfraKind.OVERLOADED:
            count = kinds.count(last)
            if count >= limits.overloaded:
                return Verdict(final=True, excluded=True)
            return Verdict(final=False, wait=Wait.OVERLOADED, wait_s=backoff_s(count - 1))
        case InfraKind.AUTH:
            if _shared(kinds) >= limits.auth:
                return Verdict(final=False, gives_up=True)
            return Verdict(final=False, wait=Wait.AUTH, wait_s=AUTH_WAIT_S)
        case InfraKind.MCP_START | InfraKind.CLIENT_CRASH | InfraKind.RUNNER:
            if _shared(kinds) >= limits.other:
                return Verdict(final=True, excluded=True)
            return Verdict(final=False, wait=Wait.OTHER, wait_s=OTHER_WAIT_S)
        case _:
            assert_never(last)


def _shared(kinds: Sequence[InfraKind | None]) -> int:
    """Attempts that used up what is shared by all but limits and overload."""
    free = {None, InfraKind.RATE_LIMIT, InfraKind.OVERLOADED}
    return sum(kind not in free for kind in kinds)
