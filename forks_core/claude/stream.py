"""The client's output, line by line, as events.

The set of line types grows with every version and the order of keys is not fixed, so a line is
read as JSON and by its ``type``; what is unknown is passed over. Nothing that a client prints can
make this raise.

- Several lines share one response's id, also with other lines between them: a response is a turn
  once in the whole process, and its usage counts once.
- A line whose model is ``<synthetic>`` is the client's own banner, and no turn.
- A line with a ``parent_tool_use_id`` is a subagent's.
- A line that is delivered again has the same ``uuid``, and is heard once.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from attrs import define, field, frozen

from forks_core.claude import fields, quota
from forks_core.claude.fields import Json
from forks_core.claude.framing import Framer
from forks_core.claude.opening import opened
from forks_core.claude.results import Results, Trouble
from forks_events import Said
from forks_events.quota import QuotaRead
from forks_events.stream import (
    StreamEvent,
    StreamRefused,
    StreamReset,
    StreamRetried,
    StreamTurned,
)

PARSER = 3
"""Version of what is derived from a line; it is recorded, since a log outlives its parser."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of an event whose line was read afterwards; the decision that records it knows better."""

_SHELL = "local_bash"


@frozen(kw_only=True)
class Listening:
    """What a supervisor has to know of a stream beside its events.

    Args:
        objects: JSON objects so far, of whatever type.
        open_tools: Ids of the tool calls that have no result yet: the client is busy.
        retry_ms: Milliseconds that the client announced to wait before it tries again; None when
            it is not waiting.
        background: Background tasks that live, as the client last listed them.
        background_agents: Those of them that are no shells: the client waits for these.
        resulted: Whether the last turn's result was given and no other turn is queued or begun.
        refused: Whether the client announced that the model is not allowed.
    """

    objects: int
    open_tools: frozenset[str]
    retry_ms: int | None
    background: int
    background_agents: int
    resulted: bool
    refused: bool


@define
class Parser:
    """Reads the lines of one client process, in order.

    Args:
        job: The job whose events these are.
    """

    job: str
    _uuids: set[str] = field(factory=set, init=False)
    _messages: set[str | None] = field(factory=set, init=False)
    _called: set[str] = field(factory=set, init=False)
    _answered: set[str] = field(factory=set, init=False)
    _trouble: Trouble = field(factory=Trouble, init=False)
    _results: Results = field(factory=Results, init=False)
    _opened: bool = field(default=False, init=False)
    _objects: int = field(default=0, init=False)
    _retry_ms: int | None = field(default=None, init=False)
    _background: tuple[str | None, ...] = field(default=(), init=False)
    _resulted: bool = field(default=False, init=False)
    _refused: bool = field(default=False, init=False)

    @property
    def listening(self) -> Listening:
        """What is known now."""
        return Listening(
            objects=self._objects,
            open_tools=frozenset(self._called - self._answered),
            retry_ms=self._retry_ms,
            background=len(self._background),
            background_agents=sum(task != _SHELL for task in self._background),
            resulted=self._resulted,
            refused=self._refused,
        )

    def feed(self, line: bytes, seen_at: datetime | None) -> tuple[Said, ...]:
        """Read one line, without its end.

        Args:
            line: The line's bytes; anything but a JSON object is noise.
            seen_at: When it came, aware; None when it is read afterwards.
        """
        obj = fields.load(line)
        if obj is None:
            return ()
        self._objects += 1
        return () if self._is_repeated(obj) else tuple(self._hear(obj, seen_at))

    def _is_repeated(self, line: Json) -> bool:
        uuid = fields.name(line, "uuid")
        if uuid is None or uuid not in self._uuids:
            self._uuids |= {uuid} if uuid else set()
            return False
        return True

    def _hear(self, line: Json, seen_at: datetime | None) -> Iterator[Said]:
        match line.get("type"):
            case "system":
                yield from self._system(line, seen_at)
            case "assistant":
                yield from self._assistant(line, seen_at)
            case "user":
                self._answered.update(_calls(line, "tool_result", "tool_use_id"))
            case "rate_limit_event":
                yield from self._limit(line, seen_at)
            case "conversation_reset":
                session = fields.name(line, "session_id")
                yield StreamReset(at=_at(seen_at), job=self.job, seen_at=seen_at, session=session)
            case "result":
                yield self._result(line, seen_at)
            case _:
                pass

    def _system(self, line: Json, seen_at: datetime | None) -> Iterator[StreamEvent]:
        match line.get("subtype"):
            case "init":
                yield from self._init(line, seen_at)
            case "informational":
                yield from self._informational(line, seen_at)
            case "api_retry":
                yield self._retry(line, seen_at)
            case "model_refusal_no_fallback":
                self._trouble.refused = True
            case "background_tasks_changed":
                tasks = fields.items(line, "tasks")
                self._background = tuple(fields.name(task, "task_type") for task in tasks)
            case _:
                pass

    def _init(self, line: Json, seen_at: datetime | None) -> Iterator[StreamEvent]:
        # The client introduces itself anew before each turn; what it says first is what counts.
        self._resulted = False
        if not self._opened:
            self._opened = True
            yield opened(line, self.job, parser=PARSER, seen_at=seen_at, at=_at(seen_at))

    def _informational(self, line: Json, seen_at: datetime | None) -> Iterator[StreamEvent]:
        restriction = fields.child(line, "model_restriction")
        warned = line.get("level") == "warning"
        told = warned and "is restricted" in (fields.text(line, "content") or "")
        if not (told or restriction):
            return
        self._refused = True
        yield StreamRefused(
            at=_at(seen_at),
            job=self.job,
            seen_at=seen_at,
            requested=fields.name(restriction, "requested_model"),
            effective=fields.name(restriction, "effective_model"),
        )

    def _retry(self, line: Json, seen_at: datetime | None) -> StreamRetried:
        silence = fields.child(line, "no_response")
        self._retry_ms = max(
            fields.whole(line, "retry_delay_ms") or 0, fields.whole(silence, "retry_wait_ms") or 0
        )
        return StreamRetried(
            at=_at(seen_at),
            job=self.job,
            seen_at=seen_at,
            attempt=fields.count(line, "attempt") or 1,
            delay_ms=self._retry_ms,
            error_status=fields.count(line, "error_status"),
        )

    def _assistant(self, line: Json, seen_at: datetime | None) -> Iterator[StreamEvent]:
        self._retry_ms = None
        self._resulted = False
        self._called.update(_calls(line, "tool_use", "id"))
        message = fields.child(line, "message")
        main = fields.name(line, "parent_tool_use_id") is None
        synthetic = message.get("model") == "<synthetic>"
        if main:
            self._trouble.hear_assistant(line, synthetic=synthetic)
        identity = fields.name(message, "id")
        if synthetic or not message or identity in self._messages:
            return
        self._messages.add(identity)
        self._trouble.rejection = None
        yield StreamTurned(
            at=_at(seen_at),
            job=self.job,
            seen_at=seen_at,
            main=main,
            model=fields.name(message, "model"),
            usage=fields.usage(fields.child(message, "usage")),
        )

    def _limit(self, line: Json, seen_at: datetime | None) -> Iterator[Said]:
        reading = quota.read(line)
        self._trouble.hear_limit(reading)
        if reading.status is not None or reading.windows:
            yield QuotaRead(at=_at(seen_at), job=self.job, seen_at=seen_at, reading=reading)

    def _result(self, line: Json, seen_at: datetime | None) -> StreamEvent:
        self._retry_ms = None
        self._resulted = not fields.count(line, "queued_turn_count")
        event = self._results.read(line, self._trouble, self.job, seen_at=seen_at, at=_at(seen_at))
        self._trouble = Trouble(rejection=self._trouble.rejection)
        return event


def parse(raw: bytes, job: str) -> tuple[Said, ...]:
    """Read a whole raw file: the same events as line by line, without the times.

    Args:
        raw: All that the client printed; its last line may lack its end.
        job: The job whose events these are.
    """
    parser, framer = Parser(job), Framer()
    lines = [*framer.feed(raw), *framer.close()]
    return tuple(event for line in lines for event in parser.feed(line, None))


def _at(seen_at: datetime | None) -> datetime:
    return seen_at or EPOCH


def _calls(line: Json, kind: str, key: str) -> set[str]:
    blocks = fields.items(fields.child(line, "message"), "content")
    calls = (fields.name(block, key) for block in blocks if block.get("type") == kind)
    return {call for call in calls if call}
