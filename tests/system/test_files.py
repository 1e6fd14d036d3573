"""Files that must survive: whole or not at all."""

from pathlib import Path

import pytest

from forks_core.errors import StorageFailed
from forks_core.system.files import storage, write_durably


@pytest.mark.rule("B4.1")
class TestWriteDurably:
    """What is at the path is the old or the new, whole, and nothing lies beside it."""

    def test_written(self, tmp_path: Path) -> None:
        """It holds the bytes, for us alone, and replaces what was there."""
        path = tmp_path / "file"
        for data in (b"old", b"", b"new\n" * 100_000):
            write_durably(path, data)
            assert path.read_bytes() == data
            assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
        assert path.stat().st_mode & 0o777 == 0o600

    def test_refused(self, tmp_path: Path) -> None:
        """When it cannot be put in place the temporary is gone, and the error is the system's."""
        taken = tmp_path / "taken"
        (taken / "inner").mkdir(parents=True)
        with pytest.raises(IsADirectoryError):
            write_durably(taken, b"x")
        assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
        with pytest.raises(FileNotFoundError):
            write_durably(tmp_path / "gone" / "file", b"x")

    def test_told(self, tmp_path: Path) -> None:
        """What the system says becomes one sentence, with the path."""
        with (
            pytest.raises(StorageFailed, match="cannot use the state folder: No such") as caught,
            storage(tmp_path),
        ):
            write_durably(tmp_path / "gone" / "file", b"x")
        assert str(tmp_path / "gone") in caught.value.fields["path"]
