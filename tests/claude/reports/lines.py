"""C: what happens to bytes and lines."""

import orjson

from tests.claude.lines import (
    Line,
    init,
    result,
    says,
    wire,
)
from tests.claude.reports.case import OK, Case, Told, failed

_GOOD = (init(), says(), result(result="Done."))
_CLEAN: Told = {**OK, "cost": 0.1, "turns": 1, "text": "Done."}


def _output(size: int) -> Line:
    """A tool's result of that many bytes."""
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]
    told = {"stdout": "x" * size, "stderr": "", "interrupted": False}
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "tool_use_result": told,
    }


def _picture(size: int) -> Line:
    """A picture that a tool gave, in base64."""
    source = {"type": "base64", "media_type": "image/png", "data": "A" * size}
    image = [{"type": "image", "source": source}]
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": image}]
    return {"type": "user", "message": {"role": "user", "content": content}}


def _within(line: Line | bytes) -> tuple[Line | bytes, ...]:
    return (*_GOOD[:1], line, *_GOOD[1:])


def _any_order(line: Line) -> bytes:
    """The line with its type last."""
    keys = sorted(line, key=lambda key: (key == "type", key))
    return orjson.dumps({key: line[key] for key in keys}) + b"\n"


_STARTUP = ("Error: Session ID e829863e-0000 is already in use.", 1, "exit_code", "startup")
CASES: tuple[Case, ...] = (
    *(
        Case(ref="C1", name=name, lines=_within(_output(size)), then=_CLEAN)
        for name, size in (("", 200_000), ("just over", 65_537), ("just at", 65_536))
    ),
    *(
        Case(ref="C2", name=name, lines=_within(line), then=_CLEAN)
        for name, line in (("", _picture(3_000_000)), ("text", _output(1_100_000)))
    ),
    Case(
        ref="C2",
        name="the answer itself",
        lines=(init(), says(), result(result="x" * 1_200_000)),
        then={**OK, "text": "x" * 1_200_000},
    ),
    Case(ref="C5", lines=(*_GOOD[:2], wire(_GOOD[2]).rstrip()), then=_CLEAN),
    Case(
        ref="C5",
        name="no whole object",
        lines=(*_GOOD[:2], wire(_GOOD[2]).rstrip()[:-1]),
        then=failed("no_result", cost=None),
    ),
    *(
        Case(ref="C9", name=name, lines=_within(noise), then=_CLEAN)
        for name, noise in (
            ("", b"[SandboxDebug] Seccomp filter installed\n"),
            ("nvm", b"Found '/repo/.nvmrc' with version <v22>\nNow using node v22.1.0\n"),
            ("blank", b"\n\r\n  \n"),
            ("colours", b"\x1b[33mwarn\x1b[0m something\n"),
            ("array", b'[{"type":"result","subtype":"success","is_error":false}]\n'),
            ("no object", b'"result"\nnull\n7\ntrue\n'),
            ("torn", b'{"type":"result","subtype":\n'),
            ("two in one line", b'{"type":"system"}{"type":"result","is_error":true}\n'),
            ("no text", b"\x00\xff\xfe\n"),
            ("deep", b'{"type":' * 5000 + b"\n"),
        )
    ),
    Case(
        ref="C9",
        name="line ends of another system",
        lines=(wire(*_GOOD).replace(b"\n", b"\r\n"),),
        then=_CLEAN,
    ),
    Case(ref="C9", name="a mark in front", lines=(b"\xef\xbb\xbf" + wire(*_GOOD),), then=_CLEAN),
    *(
        Case(
            ref="C11",
            name=name,
            lines=(),
            stderr=stderr,
            exit_code=code,
            then=failed(reason, kind, turns=0, cost=None, text=None),
        )
        for name, (stderr, code, reason, kind) in (
            ("", _STARTUP),
            ("flag", ("error: unknown option '--frobnicate'", 1, "exit_code", "startup")),
            (
                "root",
                (
                    "--dangerously-skip-permissions cannot be used with root",
                    1,
                    "exit_code",
                    "startup",
                ),
            ),
            ("login", ("Invalid API key · Please run /login", 1, "exit_code", "auth")),
            (
                "session",
                ("No conversation found with session ID: S9", 1, "exit_code", "session_missing"),
            ),
            ("limit", ("You've hit your weekly limit", 1, "exit_code", "rate_limit")),
            ("mute", ("", 1, "exit_code", "startup")),
            ("exit 0", ("", 0, "no_result", "startup")),
        )
    ),
    Case(
        ref="C12",
        lines=(init(), says(), result(result="Żółć — 日本 😀")),
        then={**OK, "text": "Żółć — 日本 😀"},
    ),
    Case(
        ref="C12",
        name="another code page",
        lines=(init(), says(), wire(result(result="END")).replace(b"END", b"\xe9t\xe9")),
        then={**OK, "text": "\ufffdt\ufffd"},
    ),
    Case(ref="C13", lines=tuple(map(_any_order, _GOOD)), then=_CLEAN),
    *(
        Case(ref="C14", name=name, lines=lines, then=_CLEAN)
        for name, lines in (
            ("", (*_GOOD[:2], _GOOD[1], _GOOD[2])),
            ("all of it", (*_GOOD, *_GOOD)),
            ("the result", (*_GOOD, _GOOD[2])),
            ("from the middle on", (*_GOOD, *_GOOD[1:])),
        )
    ),
    Case(
        ref="C14",
        name="denials",
        lines=(
            *(2 * (denied := (*_GOOD[:2], result(permission_denials=[{"tool_name": "Bash"}])))),
        ),
        then={**OK, "flags": ("needs_attention",), "denials": ("Bash",)},
    ),
)
