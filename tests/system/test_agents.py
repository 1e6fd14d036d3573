"""The agents of a study's arms."""

from pathlib import Path

import pytest
from attrs import evolve

from forks_core.errors import Refused
from forks_core.system.agents import lend_agents
from forks_core.system.files import sha256
from forks_core.system.state_folder import StateFolder
from forks_events.values import Agent, Launch
from tests.histories import LAUNCH

TEXT = b"---\nname: reviewer\n---\nYou review.\n"


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    """A state folder."""
    made = StateFolder(tmp_path / "s-forks")
    made.create(b"preamble")
    return made


@pytest.fixture
def reviewed(tmp_path: Path) -> Launch:
    """A launch as an agent whose definition lies beside the study."""
    path = tmp_path / "reviewer.md"
    path.write_bytes(TEXT)
    return evolve(LAUNCH, agent=Agent(name="reviewer", path=str(path), sha256=sha256(TEXT)))


@pytest.mark.rule("R1.1")
class TestLent:
    """Each definition lies above the working copies, as it was when it was registered."""

    def test_in_place(self, folder: StateFolder, reviewed: Launch) -> None:
        """Where the client of a trial looks for it, walking up; and again changes nothing."""
        lend_agents(folder, [LAUNCH, reviewed])
        place = folder.agent("reviewer")
        assert place.read_bytes() == TEXT
        assert place.parent.parent.parent in folder.working_copy("MB-01-r1-plain", 1).parents
        before = place.stat()
        lend_agents(folder, [reviewed])
        assert place.stat() == before

    def test_mended(self, folder: StateFolder, reviewed: Launch) -> None:
        """One that was touched there is put right."""
        lend_agents(folder, [reviewed])
        folder.agent("reviewer").write_text("another")
        lend_agents(folder, [reviewed])
        assert folder.agent("reviewer").read_bytes() == TEXT

    def test_changed_since(self, folder: StateFolder, reviewed: Launch) -> None:
        """What is another one now is refused, and so is what is gone."""
        assert reviewed.agent is not None
        Path(reviewed.agent.path).write_text("changed")
        with pytest.raises(Refused, match=r"^the agent has changed since it was scheduled$"):
            lend_agents(folder, [reviewed])
        Path(reviewed.agent.path).unlink()
        with pytest.raises(Refused, match=r"^agent file not found$"):
            lend_agents(folder, [reviewed])
        assert not folder.agent("reviewer").exists()
