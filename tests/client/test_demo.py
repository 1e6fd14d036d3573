"""`forks demo` on the real client, and what it leaves behind: nothing."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.client.theatre import FORKS
from tests.client.world import end, marked, until

pytestmark = pytest.mark.client
WARM_S = 15.0


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return what lies in a folder, at any depth."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


class User:
    """Somebody with a home, with settings, and with variables that would cost money."""

    def __init__(self, folder: Path, client: Path) -> None:
        """Move in."""
        self.folder, self.client = folder, client
        self.home, self.temporary = folder / "home", folder / "tmp"
        (self.home / ".claude").mkdir(parents=True)
        self.temporary.mkdir()
        # With these settings the demonstration could not end well, if it were to read them.
        settings = {"availableModels": ["claude-sonnet-5-5"]}
        (self.home / ".claude" / "settings.json").write_text(json.dumps(settings))
        (self.home / ".claude.json").write_text('{"numStartups": 7}')
        self.before = contents(self.home)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a demonstration."""
        return subprocess.Popen(
            [*FORKS, "demo", "--client", str(self.client), *words],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "TMPDIR": str(self.temporary),
                "FORKS_ACCOUNT": str(self.home / "account"),
                "ANTHROPIC_API_KEY": "the user's own",
                "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def assert_untouched(self, *kept: str) -> None:
        """Nothing runs, the home is as it was, and no file is left but what was to be kept."""
        try:
            until(lambda: not marked(str(self.folder)), within_s=1)
        finally:
            end(marked(str(self.folder)))
        assert contents(self.home) == self.before
        assert contents(self.temporary) == {}
        assert {path.name for path in self.folder.iterdir()} == {"home", "tmp", *kept}


@pytest.fixture
def user(client: Path, tmp_path: Path) -> User:
    """A user who has the real client."""
    return User(tmp_path, client)


def test_the_demo(user: User) -> None:
    """It ends well within 15 s, and leaves nothing."""
    begun = time.monotonic()
    with user.start() as process:
        out, _ = process.communicate(timeout=120)
    took_s = time.monotonic() - begun
    said = json.loads(out)
    user.assert_untouched()
    assert process.returncode == 0, said
    assert (said["ok"], said["replay_equals_live"]) == (True, True)
    assert [row["status"] for row in said["jobs"]] == ["ok", "ok", "ok"]
    assert [row["cache"] for row in said["jobs"]] == [None, "hit", "hit"]
    assert took_s < WARM_S


@pytest.mark.long
def test_what_is_kept(user: User) -> None:
    """With --keep the folder, the run log and the state stay, and hold what the forks wrote."""
    with user.start("--keep", "kept") as process:
        process.communicate(timeout=120)
    assert process.returncode == 0
    user.assert_untouched("kept", "kept.md", "kept-forks")
    for block in ("one", "two"):
        written = (user.folder / "kept" / "repository" / f"{block}.txt").read_text()
        assert written == f"block {block} was here\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_it_is_told_to_end(user: User, number: signal.Signals) -> None:
    """Ended in the middle, while its client runs, it leaves nothing either."""
    with user.start() as process:
        assert process.stderr
        assert any("ClientStarted j0001" in line for line in process.stderr)
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
    user.assert_untouched()
    assert (process.returncode, json.loads(out)) == (2, {"error": "interrupted"})
