"""A stage: a home, a git repository and a scratch folder for one chain of calls."""

import json
import os
import subprocess
from pathlib import Path

from tests.record.scenarios import Scenario
from tests.record.scrubbing import scrub


class Stage:
    """Where a chain of calls plays; all of it lies in one folder."""

    def __init__(self, folder: Path) -> None:
        """Set it up."""
        self.folder = folder
        self.repository, self.home, self.scratch = (
            folder / name for name in ("repository", "home", "scratch")
        )
        for path in (self.repository, self.home / ".claude", self.scratch):
            path.mkdir(parents=True)
        (self.repository / "README.md").write_text("# A small project\n")
        for words in (
            ("init", "--quiet"),
            ("add", "README.md"),
            ("-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "Begin"),
        ):
            subprocess.run(
                ["git", *words], cwd=self.repository, env=self.environment(""), check=True
            )

    def environment(self, api: str) -> dict[str, str]:
        """The whole environment of a call: nothing of the caller's but where programs are.

        Args:
            api: The URL of the API.
        """
        return {
            "PATH": os.environ["PATH"],
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self.home),
            "TMPDIR": str(self.scratch),
            "CLAUDE_CODE_TMPDIR": str(self.scratch),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CLAUDE_CODE_OAUTH_TOKEN": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "ANTHROPIC_BASE_URL": api,
        }

    def prepare(self, scenario: Scenario) -> None:
        """Write the user's settings that a scenario has."""
        if scenario.settings is not None:
            path = self.home / ".claude" / "settings.json"
            path.write_text(json.dumps(scenario.settings))

    def scrub(self, text: str) -> str:
        """Take the stage's places out of a text."""
        return scrub(text, repository=self.repository, home=self.home, scratch=self.scratch)
