"""The agents of a study's arms, where the client finds them: above the working copies.

It looks for an agent's definition in the folder that it runs in and in those above it, so nothing
need be put into a working copy, and nothing of it shows in what an attempt has changed.
"""

from collections.abc import Iterable
from pathlib import Path

from forks_core.errors import Refused
from forks_core.system.files import file_sha256, sha256, storage, write_durably
from forks_core.system.state_folder import StateFolder
from forks_events.values import Agent, Launch


def lend_agents(folder: StateFolder, launches: Iterable[Launch]) -> None:
    """Put the definitions of all agents in place, each as it was when it was registered.

    Raises:
        Refused: One has changed since.
        StorageFailed: It cannot be put there.
    """
    folder.create_copies()
    for launch in launches:
        if launch.agent is not None:
            _lend(folder.agent(launch.agent.name), launch.agent)


def _lend(place: Path, agent: Agent) -> None:
    if file_sha256(place) == agent.sha256:
        return
    try:
        data = Path(agent.path).read_bytes()
    except OSError as error:
        raise Refused("agent file not found", agent=agent.name, path=agent.path) from error
    if sha256(data) != agent.sha256:
        raise Refused("the agent has changed since it was scheduled", agent=agent.name)
    with storage(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_durably(place, data)
