"""The server: a thread a request, on a free port of 127.0.0.1."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from forks_core.system.loopback import sse
from forks_core.system.loopback.answers import Answer, Quota
from forks_core.system.loopback.prefix import Prefix, PromptCache, Request, Usage, measure

Answers = Iterable[Answer] | Callable[[Request], Answer]
_POLL_S = 0.02


class LoopbackApi:
    """The Messages API on loopback, for as long as the `with` block lasts.

    `answers` are given in turn to requests that offer tools (the client's helpers offer none),
    and a greeting when they are used up; or they are a function of the request, asked for every
    message. The function sees `status` 200 and the usage that a success would have.
    """

    def __init__(self, answers: Answers = (), quota: Quota | None = None) -> None:
        """Prepare the API; it listens from here on and answers once it is entered."""
        self.quota = quota or Quota()
        self.cache = PromptCache()
        self._choose = answers if callable(answers) else _in_turn(answers)
        self._requests: list[Request] = []
        self._lock = threading.RLock()  # a chooser may look at `requests`
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.api = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_S,), name="loopback", daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, for ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> list[Request]:
        """The requests for messages that were answered or begun so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop answering; what is held is let go."""
        self._closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()

    def receive(self, request: Request, prefix: Prefix) -> tuple[Request, Answer]:
        """Take a request in: settle what it reads from the cache, and choose its answer."""
        with self._lock:
            asked = request._replace(usage=self.cache.ask(request.body, prefix))
            answer = self._choose(asked)
            usage = (answer.usage or asked.usage) if answer.status == 200 else Usage()
            seen = asked._replace(status=answer.status, usage=usage)
            self._requests.append(seen)
        return seen, answer

    def wait(self, answer: Answer) -> None:
        """Let an answer's delay pass, and its hold be released, unless the API closes."""
        self._closing.wait(answer.delay_s)
        while answer.hold and not self._closing.is_set() and not answer.hold.wait(_POLL_S):
            pass


def _in_turn(answers: Iterable[Answer]) -> Callable[[Request], Answer]:
    waiting = iter(answers)

    def choose(request: Request) -> Answer:
        return next(waiting, Answer()) if request.body.get("tools") else Answer()

    return choose


class _Server(ThreadingHTTPServer):
    api: LoopbackApi
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._send(200, {}, b"")

    def do_GET(self) -> None:
        self._send(200, {}, b"{}")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        route = self.path.partition("?")[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if route == "/v1/messages":
                self._message(json.loads(raw))
            elif route == "/v1/messages/count_tokens":
                tokens = measure(json.loads(raw)).tokens
                self._json(200, {"input_tokens": tokens[-1] if tokens else 0})
            else:
                self._json(200, {})

    def _message(self, body: dict[str, Any]) -> None:
        prefix = measure(body)
        model, session = str(body.get("model")), self.headers.get("x-claude-code-session-id", "")
        arrived = Request(
            "POST", self.path, session, model, body, prefix.points, Usage(), status=200
        )
        request, answer = self.server.api.receive(arrived, prefix)
        self.server.api.wait(answer)
        headers = (answer.quota or self.server.api.quota).headers(answer.rejected)
        if answer.status != 200:
            error = {"type": answer.error, "message": answer.text}
            self._json(answer.status, {"type": "error", "error": error}, headers)
            return
        whole = sse.message(answer, model, request.usage)
        if body.get("stream"):
            self._stream(whole, headers, prefix)
        else:
            self.server.api.cache.finish(prefix)
            self._json(200, whole, headers)

    def _stream(self, whole: dict[str, Any], headers: dict[str, str], prefix: Prefix) -> None:
        self._head(200, headers | {"content-type": "text/event-stream"})
        *events, last = sse.events(whole)
        for event in events:
            self.wfile.write(event)
        # Finished a moment before the client can know it: its next request must find it warm.
        self.server.api.cache.finish(prefix)
        self.wfile.write(last)

    def _json(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> None:
        kind = {"content-type": "application/json"}
        self._send(status, (headers or {}) | kind, json.dumps(body).encode())

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self._head(status, headers | {"content-length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet: what was asked is in `requests`."""
