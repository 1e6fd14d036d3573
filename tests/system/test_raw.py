"""What a job's raw file holds, for whoever ends the job."""

from pathlib import Path

import pytest

from forks_core.system.raw import has_text
from forks_core.system.state_folder import StateFolder
from tests.claude.lines import Line, calls, init, result, says, stream, wire


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((init(), says(), result(result="Done.")), True),
        ((init(), says(content=[{"type": "text", "text": "Done."}]), result(result="")), True),
        ((init(), calls("t"), result(result=None)), False),
        ((init(),), True),
    ],
)
def test_has_text(tmp_path: Path, lines: tuple[Line, ...], *, expected: bool) -> None:
    """It is in the result, or in what was said before it; without a result none is missed."""
    folder = StateFolder(tmp_path)
    folder.raw("j0001").parent.mkdir()
    folder.raw("j0001").write_bytes(wire(*lines))
    assert has_text(folder, "j0001", stream(*lines)) is expected


def test_no_file(tmp_path: Path) -> None:
    """A raw file that is gone holds none."""
    heard = stream(init(), says(), result(result=""))
    assert has_text(StateFolder(tmp_path), "j0001", heard) is False
