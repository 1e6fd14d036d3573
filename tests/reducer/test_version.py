"""The version of the fold."""

import hashlib
from pathlib import Path

from forks_core.reducer.version import SOURCES

ROOT = Path(__file__).parents[2]
PLACES = ("events/forks_events/*.py", "forks_core/registry/*.py", "forks_core/reducer/*.py")


def digest(root: Path = ROOT) -> str:
    """SHA-256 over all that decides what a log folds to, in the order of names."""
    whole = hashlib.sha256()
    for file in sorted(file for place in PLACES for file in root.glob(place)):
        if file.name != "version.py":
            whole.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()


class TestVersion:
    """A checkpoint of another fold must not be taken for one of this."""

    def test_it_is_the_digest_of_the_sources(self) -> None:
        """Whoever changes the events, the registry or the reducer writes the new digest down."""
        assert digest() == SOURCES, "put this digest into forks_core/reducer/version.py"

    def test_it_speaks_of_the_sources(self, tmp_path: Path) -> None:
        """Another byte in one of them is another digest."""
        source = tmp_path / "forks_core" / "registry" / "__init__.py"
        source.parent.mkdir(parents=True)
        source.write_text("a = 1\n")
        before = digest(tmp_path)
        source.write_text("a = 2\n")
        assert digest(tmp_path) != before
