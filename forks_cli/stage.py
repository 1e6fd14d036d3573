"""The stage of a demonstration: a git repository, a client, and an environment of its own.

The user's account, settings and sessions are never touched: the real client gets a home of its
own, a dummy token, and an API on loopback.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from attrs import frozen

from forks_core.claude.environment import CHILD
from forks_core.errors import Refused
from forks_core.rules.paths import normalise
from forks_core.system.account import ACCOUNT
from forks_core.system.files import storage, working_directory, write_durably
from forks_core.system.loopback import Answer as ApiAnswer
from forks_core.system.loopback import LoopbackApi, Request, say
from forks_core.system.loopback import run as run_tool
from forks_core.system.standin.install import install

BLOCKS = ("one", "two")
_FENCE = "```standin"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


@frozen(kw_only=True)
class Stage:
    """Where a demonstration plays.

    Args:
        repository: The git repository to work in.
        run: The run log.
        client: The client program.
    """

    repository: Path
    run: Path
    client: Path


@contextlib.contextmanager
def stage(keep: str | None, client: str | None) -> Iterator[Stage]:
    """Set the stage, and clear it away.

    Args:
        keep: Folder that stays afterwards, with ``.md`` and ``-forks`` beside it; None: none stays.
        client: The real client, or None for the stand-in.

    Raises:
        Refused: Something of that name is there already.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_in_order())
        if keep is None:
            temporary = tempfile.TemporaryDirectory(
                prefix="forks-demo-", ignore_cleanup_errors=True
            )
            folder = Path(stack.enter_context(temporary)) / "demo"
        else:
            folder = Path(normalise(keep, working_directory()))
        run = folder.with_name(f"{folder.name}.md")
        for path in (folder, run, run.with_name(f"{folder.name}-forks")):
            if path.exists():
                raise Refused("it is there already", path=str(path))
        repository = folder / "repository"
        with storage(folder):
            _make_repository(repository)
            write_durably(run, b"# A demonstration\n\nThe run log of `forks demo`.\n")
        stack.enter_context(_environment(folder, real=client is not None))
        if client is None:
            program = install(folder / "client", home=folder / "client" / "sessions")
        else:
            program = Path(normalise(client, working_directory()))
            api = stack.enter_context(LoopbackApi(_work))
            os.environ["ANTHROPIC_BASE_URL"] = api.url
        yield Stage(repository=repository, run=run, client=program)


@contextlib.contextmanager
def _in_order() -> Iterator[None]:
    """Clear away also when we are told to end, as on an interrupt; and once begun, to the end."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where signals cannot be handled, they do what they do
        return
    # What is ignored, as under nohup, stays so.
    heard = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _make_repository(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("# A small project\n", encoding="utf-8")
    identity = ("-c", "user.name=forks demo", "-c", "user.email=demo@localhost")
    git = shutil.which("git")
    if git is None:
        raise Refused("git is not on PATH, and the demonstration needs it")
    for words in (
        ("init", "--quiet"),
        ("add", "README.md"),
        (*identity, "commit", "--quiet", "--message", "Begin"),
    ):
        done = subprocess.run(
            [git, *words], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Refused("git cannot make a repository", detail=done.stderr.strip())


@contextlib.contextmanager
def _environment(folder: Path, *, real: bool) -> Iterator[None]:
    """Leave nothing of the user's account in the environment while the demonstration plays."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("ANTHROPIC_", "CLAUDE_", "FORKS_STANDIN_")) or name == CHILD:
            del os.environ[name]
    os.environ[ACCOUNT] = str(folder / "account")
    if real:
        home = folder / "home"
        temporary = home / "tmp"
        temporary.mkdir(parents=True)
        for name in ("CONFIG", "CACHE", "DATA", "STATE"):
            os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
        os.environ |= {
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "CLAUDE_CODE_TMPDIR": str(temporary),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "CLAUDE_CODE_OAUTH_TOKEN": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def work_of(block: str) -> str:
    """The command that a fork of the demonstration runs."""
    return f"echo 'block {block} was here' > {block}.txt"


def _work(request: Request) -> ApiAnswer:
    """Answer the real client: a fork runs its block's command, then all say a word."""
    messages = request.body.get("messages")
    last = messages[-1].get("content") if isinstance(messages, list) and messages else None
    text = last if isinstance(last, str) else repr(last)
    if "tool_result" in text:
        return say("Done.")
    for block in BLOCKS:
        if f"block: `{block}`" in text:
            return run_tool(work_of(block))
    command = _scripted(last)
    return run_tool(command) if command else say("Done.")


def _scripted(content: object) -> str | None:
    """The command of a prompt that has a script in it."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    for text in texts:
        if isinstance(text, str) and _FENCE in text:
            script = json.loads(text.rpartition(_FENCE)[2].partition("```")[0])
            return str(script["steps"][0]["tool"])
    return None
