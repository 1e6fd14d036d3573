"""One call of the stand-in: what it was given, what it has spent, and how it answers."""

import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from forks_core.system.standin import lines, partial
from forks_core.system.standin.cache import Cache, Launch, block, tokens_of
from forks_core.system.standin.dialect import Dialect
from forks_core.system.standin.ledger import Ledger
from forks_core.system.standin.prices import Usage
from forks_core.system.standin.quota import Quota
from forks_core.system.standin.sessions import Session, Sessions
from forks_core.system.standin.voice import Voice, stamp

GREETING = "Hello from the stand-in."
_UNCACHED_TOKENS = 12
_HELPERS = {
    "claude-haiku-4-5-20251001": Usage(input=24, output=18, write_5m=1173),
    "claude-sonnet-4-5-20250929": Usage(input=12, output=9, write_5m=1048),
}


class TurnOverError(Exception):
    """The turn has ended before its script: its result is out."""


class Terms(NamedTuple):
    """What holds for the whole of a call."""

    home: Path
    dialect: Dialect
    launch: Launch
    cache: Cache
    one_hour: bool
    """Whether the cache is written for an hour, else for five minutes."""
    forced: str | None
    """A cache that the script decrees: hit, partial or miss; None lets it be earned."""
    shuffle: bool
    partial: bool
    budget_usd: float | None
    max_turns: int | None
    denied: Sequence[str]


class Call:
    """The state of one call, and the things that a step can make it do."""

    def __init__(self, terms: Terms, session: Session, sessions: Sessions, ledger: Ledger) -> None:
        """Begin a call on a session; nothing is said yet."""
        self.terms = terms
        self.session = session
        self.sessions = sessions
        self.ledger = ledger
        self.voice = Voice(session.id)
        self.quota = Quota()
        self.model = terms.launch.model
        self.text = ""
        self.turns = 1
        self.responses = 0
        self.ended = False
        self.exit_code = 0
        self.denials: list[dict[str, Any]] = []
        self._turn = Usage()
        self._init: lines.Record | None = None
        self._asked: Usage | None = None
        self._results = 0
        self._began = time.monotonic()

    def greet(self, record: lines.Record) -> None:
        """Say `system/init`; it is said again, the same but for its uuid, at each further turn."""
        self._init = record
        self.voice.line(record)

    def turn_anew(self) -> None:
        """Begin a further turn of the same call."""
        self.turns = 1
        if self._init and self.terms.dialect.modern:
            self.voice.line(self._init)

    def hear(self, text: str) -> None:
        """Take a message of the user's side into the conversation, and send it to the model."""
        self.session.blocks.append(block("user", text))
        self._asked = None
        self.ask()
        self.sessions.save(self.session)

    def ask(self) -> None:
        """Send the request: what it can read from the cache is settled now, not when it is answered."""
        if self._asked is None:
            points = self.terms.launch.points(self.session.blocks)
            whole = points[-1].tokens
            decreed = {"hit": points[-2].tokens, "partial": points[0].tokens, "miss": 0}
            forced = self.terms.forced
            read = decreed[forced] if forced else self.terms.cache.warm_tokens(points)
            uncached = min(_UNCACHED_TOKENS, whole - read)
            self._asked = self._usage(uncached, whole - read - uncached, read)

    def _usage(self, uncached: int, written: int, read: int) -> Usage:
        if self.terms.one_hour:
            return Usage(input=uncached, read=read, write_1h=written)
        return Usage(input=uncached, read=read, write_5m=written)

    def respond(
        self, contents: Sequence[lines.Record], *, output: int | None = None, pad_to: int = 0
    ) -> None:
        """Say one response, a line a content block; raise TurnOverError if a limit ends the turn.

        `output` is its size in tokens (from its length if None). If `pad_to` is given, the text
        of the last block is padded so that its line has that many bytes.
        """
        self._refuse_turn_over_limit()
        self.ask()
        asked = self._asked or Usage()
        texts = [str(content.get("text") or content.get("input")) for content in contents]
        usage = asked._replace(output=output or tokens_of("".join(texts)))
        self._say(contents, usage, pad_to)
        self.text = str(contents[-1].get("text", self.text))
        self._settle(usage, "".join(texts))

    def _say(self, contents: Sequence[lines.Record], usage: Usage, pad_to: int) -> None:
        message_id = f"msg_{uuid.uuid4().hex[:20]}"
        shown = usage._replace(output=1) if self.terms.dialect.modern else usage
        if self.terms.partial:
            for line in partial.before(message_id, self.model, contents[0], shown):
                self.voice.line(line)
        for content in contents:
            line = lines.assistant(message_id, self.model, content, shown)
            if self.terms.dialect.modern:
                line["timestamp"] = stamp()
            if pad_to and "text" in content:
                content["text"] += "x" * (pad_to - len(self.voice.encoded(line)))
            self.voice.line(line)
        if self.terms.partial:
            for line in partial.after(usage):
                self.voice.line(line)

    def _settle(self, usage: Usage, text: str) -> None:
        self._asked = None
        self._help_once()
        self.responses += 1
        self._turn = self._turn.plus(usage)
        self.ledger.spend(self.model, usage)
        self.terms.cache.finished(self.terms.launch.points(self.session.blocks))
        self.session.blocks.append(block("assistant", text))
        self.sessions.save(self.session)
        if self.terms.budget_usd is not None and self.ledger.call_usd > self.terms.budget_usd:
            self.over_budget(self.terms.budget_usd)
        if self.quota.unsaid and self.terms.dialect.modern:
            self.voice.line(self.quota.line(windows=self.terms.dialect.windows))

    def _help_once(self) -> None:
        # 2.0 asked helper models beside the main one, and counted them in `modelUsage` only.
        if self.responses == 0 and not self.terms.dialect.modern:
            for model, usage in _HELPERS.items():
                self.ledger.spend(model, usage)

    def _refuse_turn_over_limit(self) -> None:
        limit = self.terms.max_turns
        if limit is not None and self.responses >= limit:
            told = {
                "subtype": "error_max_turns",
                "is_error": True,
                "stop_reason": "tool_use",
                "terminal_reason": "max_turns",
                "errors": [f"Reached maximum number of turns ({limit})"],
            }
            self.finish(told, without=["result"])
            raise TurnOverError

    def over_budget(self, limit_usd: float) -> None:
        """Give the result of a call that has spent too much, and raise TurnOverError.

        Its `usage` is zero, while `modelUsage` and the cost are right.
        """
        modern = self.terms.dialect.modern
        self._turn = Usage()
        told = {
            "subtype": "error_max_budget_usd",
            "is_error": modern,
            "duration_api_ms": 0,
            "errors": [f"Reached maximum budget (${limit_usd:g})"] if modern else [],
        }
        self.finish(told | ({"terminal_reason": "budget_exhausted"} if modern else {}), ["result"])
        raise TurnOverError

    def refused(self, text: str, status: int, error: str) -> None:
        """End the turn because the service would not answer; `status` is the HTTP status."""
        line = lines.synthetic(text, error)
        line["message"]["id"] = str(uuid.uuid4())
        if self.terms.dialect.modern:
            line |= {"timestamp": stamp(), "is_api_error_message": True, "api_error_status": status}
        self.voice.line(line)
        self.text = text
        told: dict[str, Any] = {"is_error": True, "duration_api_ms": 0}
        if self.terms.dialect.modern:
            told |= {"stop_reason": "stop_sequence", "terminal_reason": "api_error"}
            told["api_error_status"] = status
        self.finish(told)

    def finish(self, told: dict[str, Any], without: Sequence[str] = ()) -> None:
        """Give the result: `told` replaces or adds keys, `without` names keys to leave out."""
        record = lines.result(self._turn, self._known() | told, modern=self.terms.dialect.modern)
        record = {key: value for key, value in record.items() if key not in without}
        (self.voice.shuffled if self.terms.shuffle else self.voice.line)(record)
        self.session.models = dict(self.ledger.models)
        self.session.costs = dict(self.ledger.costs)
        self.sessions.save(self.session)
        self.ended = True
        self.exit_code = 1 if record.get("is_error") else 0
        self._results += 1
        self._turn = Usage()

    def _known(self) -> dict[str, Any]:
        elapsed_ms = int((time.monotonic() - self._began) * 1000)
        known = {
            "duration_ms": elapsed_ms,
            "duration_api_ms": elapsed_ms,
            "num_turns": self.turns,
            "result": self.text,
            "total_cost_usd": self.ledger.total_usd,
            "modelUsage": self.ledger.model_usage(modern=self.terms.dialect.modern),
            "permission_denials": self.denials,
        }
        if self.terms.dialect.windows:
            known["result_index"] = self._results
            known["model_usage_since_last_result"] = self.ledger.since_last_result()
        return known

    def close(self) -> None:
        """Give what a call gives in the end, unless the script has: one response and a result."""
        if self.ended:
            return
        if not self.responses:
            self.respond([{"type": "text", "text": GREETING}])
        self.finish({})
