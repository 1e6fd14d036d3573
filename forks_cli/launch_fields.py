"""The launch's fields as ``init`` takes them: checked, and looked up where they name a file."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from forks_cli.answer import diagnose
from forks_core.claude.admission import admission
from forks_core.errors import Refused
from forks_core.rules.naming import AGENT_NAME, MODEL_ID
from forks_core.rules.paths import normalise
from forks_core.system import git
from forks_core.system.client import resolve, settings_files
from forks_core.system.files import file_sha256, working_directory
from forks_events.values import Agent, FileDigest

PERMISSION_MODES = ("default", "acceptEdits", "dontAsk", "bypassPermissions", "auto")


def model_id(text: str) -> str:
    """A full model id; an alias would change under the cache."""
    if not MODEL_ID.fullmatch(text):
        raise Refused("model must be a full id, not an alias", model=text, pattern=MODEL_ID.pattern)
    return text


def permission_mode(text: str) -> str:
    """A mode in which nobody has to answer."""
    if text == "plan":
        raise Refused("permission mode plan cannot work without somebody to approve the plan")
    if text not in PERMISSION_MODES:
        raise Refused("unknown permission mode", mode=text, allowed=list(PERMISSION_MODES))
    return text


def cwd_of(option: str | None) -> str:
    """The working directory: the one that was named, or the top of the git tree."""
    if option is None:
        top = git.toplevel(Path(working_directory()))
        if top is None and shutil.which("git") is None:
            raise Refused("git is not on PATH; name the working directory by --cwd")
        if top is None:
            raise Refused("not in a git repository; name the working directory by --cwd")
        return str(top)
    path = normalise(option, working_directory())
    if not Path(path).is_dir():
        raise Refused("--cwd is not a directory", cwd=path)
    return path


def admission_of(model: str, cwd: Path) -> str:
    """Why the client's settings admit the model."""
    files, complaints = settings_files(Path.home(), cwd)
    for complaint in complaints:
        diagnose(f"ignored: {complaint}")
    found = admission(model, files)
    if not found.admitted:
        raise Refused(
            "the client's settings do not admit this model; add it to availableModels",
            model=model,
            files=list(found.files),
        )
    return found.via


def binary_of(option: str | None) -> tuple[str, str]:
    """The client's path, and how it was found."""
    found = resolve(option, os.environ)
    if found is None:
        raise Refused("no claude binary: none named, and none on PATH")
    return found


def agent_of(name: str | None, cwd: str) -> Agent | None:
    """The agent's definition, by its file."""
    if name is None:
        return None
    if not AGENT_NAME.fullmatch(name):
        raise Refused("bad agent name", agent=name)
    path = Path(cwd, ".claude", "agents", f"{name}.md")
    digest = file_sha256(path)
    if digest is None:
        raise Refused("agent file not found", agent=name, path=str(path))
    return Agent(name=name, path=str(path), sha256=digest)


def settings_of(option: str | None, folder: str) -> FileDigest | None:
    """The settings file, by its digest; a relative path starts at the folder."""
    return _digest_of(option, folder, "the settings file", "settings")


def appended_of(option: str | None, folder: str) -> FileDigest | None:
    """The file that is appended to the system prompt; a relative path starts at the folder."""
    return _digest_of(option, folder, "append_system_prompt", "path")


def _digest_of(option: str | None, folder: str, what: str, field: str) -> FileDigest | None:
    if option is None:
        return None
    path = normalise(option, folder)
    digest = file_sha256(Path(path))
    if digest is None:
        raise Refused(f"cannot read {what}", **{field: path})
    return FileDigest(path=path, sha256=digest)


def variables_of(option: Iterable[str] | None) -> tuple[str, ...]:
    """Names of environment variables; what looks like a value is refused, and not told again."""
    names = tuple(sorted(set(option or ())))
    for name in names:
        if not name or "=" in name:
            raise Refused(
                "env takes the names of variables; their values are written nowhere",
                name=name.partition("=")[0],
            )
    return names
