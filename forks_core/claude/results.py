"""A result line: what a turn came to, in the client's own numbers."""

from collections.abc import Mapping
from datetime import datetime

from attrs import define, field, frozen
from immutables import Map

from forks_core.claude import fields
from forks_core.claude.errors import Signs, classify, limit_ends
from forks_core.claude.fields import Json
from forks_events.quota import Reading
from forks_events.stream import StreamResulted
from forks_events.values import Counters, Spent, Usage
from forks_events.words import ErrorKind

_UNNAMED = "unknown"
_REFUSAL = "refusal"
_WORDS_LENGTH = 20_000
"""An error says what it is about in its first so many characters."""


@frozen(kw_only=True)
class Rejection:
    """A quota window that was announced as exhausted, and when it ends, or None."""

    resets_at: datetime | None


@define
class Trouble:
    """What came before a result and may explain it.

    Args:
        error: The ``error`` of the main thread's last line, or None.
        synthetic: Whether that line was the client's own banner, not the model's answer.
        rejection: The last exhausted window, until a response or a better window follows.
        refused: Whether the model refused to answer, until it says something else.
    """

    error: str | None = None
    synthetic: bool = False
    rejection: Rejection | None = None
    refused: bool = False

    def hear_assistant(self, line: Json, *, synthetic: bool) -> None:
        """Keep the error of a line of the main thread, or forget the last one."""
        self.error = fields.name(line, "error")
        self.synthetic = synthetic
        self.refused = fields.child(line, "message").get("stop_reason") == _REFUSAL

    def hear_limit(self, reading: Reading) -> None:
        """Keep an exhausted window; running on paid credits beyond it is no rejection.

        An account without paid overage says ``overageStatus`` rejected all the time; only
        ``status`` is about the request.
        """
        if reading.status is None:
            return
        rejected = reading.status == "rejected" and not reading.is_using_overage
        self.rejection = Rejection(resets_at=_resets_at(reading)) if rejected else None


@define
class Results:
    """Reads result lines, with what earlier ones said of denials.

    A tool call that was denied is known by its id, so that a list that repeats itself, or one
    that starts anew with each turn, counts it once.
    """

    _denied: dict[str, str] = field(factory=dict, init=False)

    def read(
        self, line: Json, trouble: Trouble, job: str, *, seen_at: datetime | None, at: datetime
    ) -> StreamResulted:
        """Read a result line.

        Args:
            line: The line.
            trouble: What came before it.
            job: The job.
            seen_at: When the line came, or None.
            at: The time of the event.
        """
        kind, resets_at = _diagnose(line, trouble, seen_at)
        text = fields.text(line, "result")
        killed = fields.child(fields.child(line, "subagent_stats"), "killed")
        return StreamResulted(
            at=at,
            job=job,
            seen_at=seen_at,
            subtype=fields.name(line, "subtype") or _UNNAMED,
            is_error=line.get("is_error") is True,
            error_kind=kind,
            api_error_status=fields.count(line, "api_error_status"),
            terminal_reason=fields.name(line, "terminal_reason"),
            session=fields.name(line, "session_id"),
            num_turns=fields.count(line, "num_turns"),
            spent=_spent(line),
            usage=fields.usage(fields.child(line, "usage")),
            denials=self._denials(line),
            text_bytes=None if text is None else len(text.encode()),
            killed_work=fields.count(killed, "system") or 0,
            resets_at=resets_at,
        )

    def _denials(self, line: Json) -> tuple[str, ...]:
        unidentified = []
        for denial in fields.items(line, "permission_denials"):
            tool = fields.name(denial, "tool_name") or _UNNAMED
            call = fields.name(denial, "tool_use_id")
            if call is None:
                unidentified.append(tool)
            else:
                self._denied.setdefault(call, tool)
        return (*self._denied.values(), *unidentified)


def _diagnose(
    line: Json, trouble: Trouble, seen_at: datetime | None
) -> tuple[ErrorKind | None, datetime | None]:
    failed = is_error(line)
    if not (failed or _is_hidden_error(line, trouble)):
        return None, None
    # The words of a good answer may be about limits and errors; they are never looked at.
    words = error_words(line) if failed else ""
    kind = classify(words, _signs(line, trouble)) or ErrorKind.OTHER
    if kind is not ErrorKind.RATE_LIMIT:
        return kind, None
    announced = trouble.rejection.resets_at if trouble.rejection else None
    return kind, announced or limit_ends(words, seen_at)


def is_error(line: Json) -> bool:
    """Whether a result line calls itself an error."""
    # Some versions say ``is_error`` false beside a subtype that is nothing but an error.
    return line.get("is_error") is True or (fields.name(line, "subtype") or "").startswith("error")


def _is_hidden_error(line: Json, trouble: Trouble) -> bool:
    # Called no error, and yet the turn ended on one, or on a refusal.
    refused = line.get("stop_reason") == _REFUSAL or trouble.refused
    banner = trouble.synthetic and trouble.error is not None
    return refused or banner or (fields.count(line, "api_error_status") or 0) >= 400


def error_words(line: Json) -> str:
    """What a result line that is an error says of it: its errors, and its text where that is one."""
    # Only what calls itself an error tells of one in its text; else that is an answer.
    told = fields.text(line, "result") if line.get("is_error") is True else None
    said = [*(fields.names(line, "errors") or []), told or ""]
    return "\n".join(part[:_WORDS_LENGTH] for part in said if part)[:_WORDS_LENGTH]


def _signs(line: Json, trouble: Trouble) -> Signs:
    return Signs(
        subtype=fields.name(line, "subtype"),
        api_error_status=fields.count(line, "api_error_status"),
        terminal_reason=fields.name(line, "terminal_reason"),
        assistant_error=trouble.error,
        refused=line.get("stop_reason") == _REFUSAL or trouble.refused,
        rejected=trouble.rejection is not None,
        startup_failure=fields.name(line, "startup_failure_reason") is not None,
    )


def _spent(line: Json) -> Spent | None:
    total = fields.cost(line, "total_cost_usd")
    if total is None:
        return None
    models: Map[str, Counters] = Map()
    for model, counted in fields.child(line, "modelUsage").items():
        if isinstance(counted, dict):
            key = _model(model, counted)
            models = models.set(key, _plus(models.get(key), _counters(counted)))
    return Spent(cost_usd=total, models=models)


def _model(model: str, counted: Json) -> str:
    # Some providers spell a model in their own way; the canonical name is what was asked for.
    canonical = fields.name(counted, "canonicalModel")
    spelled = fields.clean(model)[: fields.NAME_LENGTH]
    return spelled if canonical is None or spelled.startswith(canonical) else canonical


def _counters(counted: Mapping[str, object]) -> Counters:
    usage = fields.tokens(
        input=fields.count(counted, "inputTokens"),
        output=fields.count(counted, "outputTokens"),
        cache_creation=fields.count(counted, "cacheCreationInputTokens"),
        cache_creation_1h=fields.count(counted, "cacheCreationEphemeral1hInputTokens"),
        cache_creation_5m=fields.count(counted, "cacheCreationEphemeral5mInputTokens"),
        cache_read=fields.count(counted, "cacheReadInputTokens"),
    )
    return Counters(usage=usage, cost_usd=fields.cost(counted, "costUSD") or 0.0)


def _plus(one: Counters | None, other: Counters) -> Counters:
    if one is None:
        return other
    a, b = one.usage, other.usage
    usage = Usage(
        input=a.input + b.input,
        output=a.output + b.output,
        cache_creation=a.cache_creation + b.cache_creation,
        cache_creation_1h=a.cache_creation_1h + b.cache_creation_1h,
        cache_creation_5m=a.cache_creation_5m + b.cache_creation_5m,
        cache_read=a.cache_read + b.cache_read,
    )
    return Counters(usage=usage, cost_usd=one.cost_usd + other.cost_usd)


def _resets_at(reading: Reading) -> datetime | None:
    named = reading.windows.get(reading.type or "")
    return reading.resets_at or (named.resets_at if named else None)
