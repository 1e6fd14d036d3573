"""Whether the client's settings allow a model."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.claude.admission import Admission, SettingsFile, admission
from tests.projections.builders import reached

PLAIN, LONG = "claude-opus-4-5", "claude-opus-4-5[1m]"
NAMES = ("user.json", "project.json", "local.json")
MODELS = st.sampled_from([PLAIN, LONG, "opus", "claude-sonnet-4-5", "sonnet", "", 7, None])
CONTENTS: st.SearchStrategy[Any] = st.sampled_from(
    [{}, None, [], {"availableModels": "opus"}]
) | st.lists(MODELS, max_size=3).map(lambda models: {"availableModels": models})
FILES = st.lists(CONTENTS, max_size=3).map(lambda contents: files(*contents))


def files(*contents: Any) -> list[SettingsFile]:
    """Settings files of these contents, in the client's order."""
    return [
        SettingsFile(path=path, content=content)
        for path, content in zip(NAMES, contents, strict=False)
    ]


def lists(*models: list[str]) -> list[SettingsFile]:
    """Settings files with these lists of models."""
    return files(*({"availableModels": of} for of in models))


@pytest.mark.rule("B11.2")
class TestNoList:
    """Where no settings file lists models, every model is admitted."""

    @pytest.mark.parametrize(
        "content", [{}, {"model": "opus"}, {"availableModels": "opus"}, [], "text", 7, None]
    )
    def test_admitted(self, content: Any) -> None:
        """Only a list counts as one: a file that is something else says nothing."""
        expected = Admission(admitted=True, via="no availableModels list", files=())
        assert admission(PLAIN, files(content)) == expected

    def test_no_files(self) -> None:
        """Without any settings nothing is forbidden."""
        assert admission(PLAIN, []).admitted


@pytest.mark.rule("B11.3")
class TestCandidates:
    """A model is looked for by its exact id, then without ``[1m]``, then by its family's alias."""

    @pytest.mark.parametrize(
        ("model", "listed", "via"),
        [
            (PLAIN, [PLAIN], f"exact id {PLAIN} in user.json"),
            (LONG, [LONG], f"exact id {LONG} in user.json"),
            (LONG, [PLAIN], f"id without [1m] {PLAIN} in user.json"),
            (PLAIN, ["opus"], "family alias opus in user.json"),
            (LONG, ["opus"], "family alias opus in user.json"),
            ("claude-opus[1m]", ["opus"], "family alias opus in user.json"),
        ],
    )
    def test_admitted(self, model: str, listed: list[str], via: str) -> None:
        """What admits it is told: the kind, the value, the file."""
        expected = Admission(admitted=True, via=via, files=("user.json",))
        assert admission(model, lists(listed)) == expected

    @pytest.mark.parametrize(
        ("model", "listed"),
        [
            (PLAIN, []),
            (PLAIN, [LONG]),
            (PLAIN, ["sonnet", "claude-opus-4-1"]),
            (PLAIN, ["claude-opus", "Opus", "opus[1m]"]),
        ],
    )
    def test_refused(self, model: str, listed: list[str]) -> None:
        """A list without any of them refuses it, an empty one too."""
        told = admission(model, lists(listed))
        assert not told.admitted
        assert told.files == ("user.json",)


@pytest.mark.rule("B11.3")
class TestOrder:
    """The better candidate wins wherever it stands; of equal ones the earlier file's."""

    def test_candidate_before_file(self) -> None:
        """An exact id in the last file beats an alias in the first."""
        told = admission(LONG, lists(["opus"], [PLAIN], [LONG]))
        assert told.via == f"exact id {LONG} in local.json"
        told = admission(LONG, lists(["opus"], [PLAIN]))
        assert told.via == f"id without [1m] {PLAIN} in project.json"

    def test_file_order(self) -> None:
        """Of two files that list it, the first is named."""
        told = admission(PLAIN, lists(["sonnet"], [PLAIN], [PLAIN]))
        assert told.via == f"exact id {PLAIN} in project.json"

    def test_any_list_admits(self) -> None:
        """One list that has it is enough, and all files with a list are named."""
        told = admission(PLAIN, files({"availableModels": []}, {}, {"availableModels": ["opus"]}))
        assert told.admitted
        assert told.files == ("user.json", "local.json")

    @settings(deadline=None)
    @given(FILES, st.sampled_from([PLAIN, LONG]))
    def test_law_order_only_names(self, found: list[SettingsFile], model: str) -> None:
        """The order of the files never decides whether a model is admitted."""
        told, turned = admission(model, found), admission(model, found[::-1])
        assert told.admitted is turned.admitted
        assert told.via.split(" in ")[0] == turned.via.split(" in ")[0]

    @settings(deadline=None)
    @given(FILES, st.sampled_from([PLAIN, LONG]))
    def test_law_more_never_refuses(self, found: list[SettingsFile], model: str) -> None:
        """Where the model itself is listed too, it is admitted by its exact id."""
        told = admission(
            model, [*found, SettingsFile(path="x", content={"availableModels": [model]})]
        )
        assert told.admitted
        assert told.via.startswith(f"exact id {model} in ")

    def test_reachability(self) -> None:
        """The laws look at models that are refused, and at each way to be admitted."""
        assert reached(FILES, lambda found: not admission(LONG, found).admitted)
        for word in ("exact", "id without", "family", "no available"):
            assert reached(FILES.map(lambda found: admission(LONG, found).via), starting(word))


def starting(word: str) -> Any:
    """Whether a text starts so."""
    return lambda text: text.startswith(word)
