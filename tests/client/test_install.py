"""The client is installed once, whole, and never behind the tests' back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.install import CACHE, REQUIRE, install

VERSION = "9.8.7"
# Takes a moment, like the real one, so that two at once would meet.
NPM = """#!/bin/sh
echo run >> "$NPM_RUNS"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/.bin"
sleep 0.2
printf '#!/bin/sh\\necho "%s (a client)"\\n' "${3##*@}" > "$2/node_modules/.bin/claude"
chmod +x "$2/node_modules/.bin/claude"
"""
BROKEN = """#!/bin/sh
echo 'npm error network' >&2
exit 1
"""


class Place:
    """A cache of one's own, and an npm that installs a script."""

    def __init__(self, folder: Path) -> None:
        """Make the folders."""
        self.cache, self.bin, self.runs = folder / "cache", folder / "bin", folder / "runs"
        self.bin.mkdir()
        self.env = {
            CACHE: str(self.cache),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "NPM_RUNS": str(self.runs),
        }
        self.npm(NPM)

    def npm(self, script: str) -> None:
        """Put an npm in its place."""
        (self.bin / "npm").write_text(script)
        (self.bin / "npm").chmod(0o755)

    @property
    def installs(self) -> int:
        """How often npm ran."""
        return len(self.runs.read_text().splitlines()) if self.runs.exists() else 0

    @property
    def kept(self) -> list[str]:
        """What lies in the cache."""
        return sorted(path.name for path in self.cache.iterdir())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose environment is this process's."""
    place = Place(tmp_path)
    for name, text in place.env.items():
        monkeypatch.setenv(name, text)
    monkeypatch.delenv(REQUIRE, raising=False)
    return place


class TestInstall:
    """A version is installed when it does not answer from the cache."""

    def test_reused(self, place: Place) -> None:
        """The second time nothing is installed, and no half of anything lies about."""
        first = install(VERSION)
        assert install(VERSION) == first
        assert place.installs == 1
        assert place.kept == [f"claude-code-{VERSION}", f"claude-code-{VERSION}.lock"]

    def test_a_broken_one_is_replaced(self, place: Place) -> None:
        """A client that no longer answers with its version is installed again."""
        program = install(VERSION)
        program.write_text("#!/bin/sh\nexit 1\n")
        assert install(VERSION) == program
        assert place.installs == 2
        done = subprocess.run([program], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(VERSION)
        assert place.kept == [f"claude-code-{VERSION}", f"claude-code-{VERSION}.lock"]

    def test_two_at_once(self, place: Place) -> None:
        """Two processes that need it at once install it once, and both get it."""
        program = f"from tests.client.install import install; print(install({VERSION!r}))"
        running = [
            subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = {process.communicate(timeout=20)[0].strip() for process in running}
        assert said == {str(install(VERSION))}
        assert place.installs == 1


@pytest.mark.parametrize("broken", [False, True], ids=["no npm", "broken npm"])
class TestWithoutAWay:
    """Where it cannot be installed."""

    def _break(self, place: Place, *, broken: bool) -> str:
        if broken:
            place.npm(BROKEN)
            return "npm error network"
        (place.bin / "npm").unlink()
        os.environ["PATH"] = str(place.bin)
        return "npm is not installed"

    def test_skipped(self, place: Place, broken: bool) -> None:  # noqa: FBT001 - a parameter
        """The test is skipped with the reason."""
        reason = self._break(place, broken=broken)
        with pytest.raises(pytest.skip.Exception, match=reason):
            install(VERSION)

    def test_demanded(self, place: Place, broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - a parameter
        """Where the client is demanded, the test fails with the reason."""
        reason = self._break(place, broken=broken)
        monkeypatch.setenv(REQUIRE, "1")
        with pytest.raises(pytest.fail.Exception, match=reason):
            install(VERSION)
