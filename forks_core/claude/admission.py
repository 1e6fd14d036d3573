"""Whether the client's settings allow a model.

The client reads lists of available models from its settings files, and runs another model when
the one that was asked for is on none of them. So it is looked up before.
"""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

NO_LIST = "no availableModels list"


@frozen(kw_only=True)
class SettingsFile:
    """A settings file of the client, as it was parsed."""

    path: str
    content: Any


@frozen(kw_only=True)
class Admission:
    """The answer: whether the model may be used, by what, and which files hold a list."""

    admitted: bool
    via: str
    files: tuple[str, ...]


def admission(model: str, files: Sequence[SettingsFile]) -> Admission:
    """Look a model up: first its exact id, then without ``[1m]``, then its family's alias.

    Args:
        model: The full id.
        files: The settings files that could be read, in the client's order.
    """
    lists = [
        (file.path, models)
        for file in files
        if isinstance(file.content, dict)
        and isinstance(models := file.content.get("availableModels"), list)
    ]
    if not lists:
        return Admission(admitted=True, via=NO_LIST, files=())
    paths = tuple(path for path, _ in lists)
    for kind, candidate in _candidates(model):
        for path, models in lists:
            if candidate in models:
                via = f"{kind} {candidate} in {path}"
                return Admission(admitted=True, via=via, files=paths)
    return Admission(admitted=False, via="none", files=paths)


def _candidates(model: str) -> list[tuple[str, str]]:
    plain = model.removesuffix("[1m]")
    return [
        ("exact id", model),
        *([("id without [1m]", plain)] if plain != model else []),
        ("family alias", plain.split("-")[1]),
    ]
