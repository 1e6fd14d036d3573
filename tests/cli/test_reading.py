"""Who reads: a program is answered in JSON, and a person in text."""

import json
import os
import pty

import pytest

from tests.driver import Run, one_object

CHILD = {"SPIRE_FORKS_CHILD": "1"}


def printed(run: Run, *words: str, **env: str) -> bytes:
    """What a listing prints into a pipe."""
    with run.start(*run.words("list", *words), env=env) as process:
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    return out


def shown(run: Run, *words: str, **env: str) -> bytes:
    """What a listing prints on a terminal."""
    terminal, end = pty.openpty()
    with run.start(*run.words("list", *words), env=env, stdout=end) as process:
        os.close(end)
        found = b""
        while chunk := _read(terminal):
            found += chunk
        process.wait(timeout=30)
    os.close(terminal)
    assert process.returncode == 0
    return found


def _read(terminal: int) -> bytes:
    """What comes from a terminal; nothing once nobody writes to it any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def is_json(out: bytes) -> bool:
    """Whether this is one object and nothing else."""
    try:
        return isinstance(json.loads(out), dict)
    except ValueError:
        return False


@pytest.mark.rule("D15")
class TestWhoReads:
    """JSON goes to programs and into forks, text to terminals and where it is asked for."""

    def test_a_pipe(self, inited: Run) -> None:
        """A program gets JSON, and text only when it asks for that."""
        assert one_object(printed(inited))["jobs"] == []
        assert not is_json(printed(inited, "--text"))
        assert is_json(printed(inited, "--text", **CHILD))

    def test_a_terminal(self, inited: Run) -> None:
        """A person gets text, JSON when asked for, and a fork never anything else."""
        assert not is_json(shown(inited))
        assert is_json(shown(inited, "--json"))
        assert is_json(shown(inited, **CHILD))
