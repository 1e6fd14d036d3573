"""A log that was damaged, torn or locked: said by every verb, mended only where that is safe."""

import json
import os

import pytest

from tests.driver import Run, ok

VERBS = {
    "init": ("--model", "claude-opus-4-5"),
    "train": ("--base", "b", "--brief", "none"),
    "fork": ("--base", "base", "--block", "k", "--brief", "none"),
    "wait": ("--all",),
    "list": (),
    "show": ("j0001",),
    "kill": ("--job", "j0001"),
    "replay": (),
}


@pytest.fixture
def longer(inited: Run) -> Run:
    """A run with a few more lines in its log."""
    inited.ask("list")
    inited.create()
    inited.ask("kill", "--job", "j0001")
    return inited


@pytest.mark.rule("B4.3")
class TestDamaged:
    """A line that is not what was written is named, by number and offset, and nothing is done."""

    @pytest.mark.parametrize("verb", VERBS)
    def test_every_verb(self, longer: Run, verb: str) -> None:
        """Each verb refuses with the line and the offset, and changes nothing."""
        lines = longer.log_file.read_bytes().splitlines(keepends=True)
        lines[2] = lines[2].replace(b'"seq":3', b'"seq":9')
        longer.log_file.write_bytes(b"".join(lines))
        before = longer.snapshot()
        said = longer.ask(verb, *VERBS[verb])
        assert said.error == "the log is damaged"
        assert (said.content["line"], said.content["offset"]) == (3, len(b"".join(lines[:2])))
        assert said.content["path"] == str(longer.log_file)
        assert said.content["detail"]
        assert longer.snapshot() == before

    @pytest.mark.parametrize("number", [1, 2, 4])
    def test_every_kind(self, longer: Run, number: int) -> None:
        """No JSON, another value, a missing line, a line twice: each is found where it is."""
        lines = longer.log_file.read_bytes().splitlines(keepends=True)
        at = number - 1
        for damaged in (
            [*lines[:at], b"garbage\n", *lines[at + 1 :]],
            [
                *lines[:at],
                lines[at].replace(b'"by":{"verb":"', b'"by":{"verb":"x'),
                *lines[at + 1 :],
            ],
            [*lines[:at], *lines[at + 1 :]],
            [*lines[:at], lines[at], *lines[at:]],
        ):
            longer.log_file.write_bytes(b"".join(damaged))
            said = longer.ask("list")
            assert said.error in {"the log is damaged", "the log was replaced or cut off"}
            assert abs(said.content["line"] - number) <= 1


class TestTorn:
    """What lies behind the last whole commit was never said: it is dropped, and that is said."""

    @pytest.mark.parametrize("tail", [b'{"type":"JobBea', b"\0" * 512, b"x", b"x\0\n\0"])
    def test_repaired(self, inited: Run, tail: bytes) -> None:
        """Who only reads ignores it; who writes removes it and says so."""
        whole = inited.log_file.read_bytes()
        inited.log_file.write_bytes(whole + tail)
        assert ok(inited.ask("replay"))["events"] == 3
        assert inited.log_file.read_bytes() == whole + tail
        ok(inited.ask("list"))
        assert inited.log_file.read_bytes().startswith(whole + b'{"type":')
        assert [dropped["bytes"] for dropped in inited.events("TailDropped")] == [len(tail)]

    @pytest.mark.rule("D13")
    def test_half_a_commit(self, inited: Run) -> None:
        """Of an append that was cut off nothing counts, not even its whole lines."""
        inited.create()
        whole = inited.log_file.read_bytes()
        lines = inited.log()
        first = next(line for line in lines if line["type"] == "JobCreated")
        assert first["commit"] > first["seq"]
        end = whole.index(b"\n", whole.index(b'"JobCreated"')) + 1
        inited.log_file.write_bytes(whole[:end])
        assert ok(inited.ask("list"))["jobs"] == []
        assert inited.events("JobCreated") == []
        assert len(inited.events("TailDropped")) == 1


@pytest.mark.rule("B6.2")
class TestUnknown:
    """Events of a newer forks are kept and counted; who would write refuses."""

    def test_a_type_of_the_future(self, inited: Run) -> None:
        """Reading goes on, and says how many it does not know."""
        lines = inited.log_file.read_bytes().splitlines(keepends=True)
        last = json.loads(lines[-1])
        last["type"] = "FromTheFuture"
        text = json.dumps(last, separators=(",", ":")) + "\n"
        inited.log_file.write_bytes(b"".join([*lines[:-1], text.encode()]))
        assert ok(inited.ask("replay"))["unknown"] == 1
        before = inited.snapshot()
        said = inited.ask("init", "--model", "claude-opus-4-5", "--binary", str(inited.client))
        assert said.code == 2
        assert inited.snapshot() == before


@pytest.mark.rule("B4.2")
class TestUnwritable:
    """A state folder that cannot be used is the machine keeper's business, in one sentence."""

    def test_the_log_is_a_folder(self, inited: Run) -> None:
        """The system's own word, and the path."""
        os.rename(inited.log_file, inited.state / "aside")  # noqa: PTH104
        inited.log_file.mkdir()
        said = inited.ask("list")
        assert said.error == "cannot use the state folder: Is a directory"
        assert said.content["path"] == str(inited.log_file)
        inited.log_file.rmdir()
        os.rename(inited.state / "aside", inited.log_file)  # noqa: PTH104

    def test_the_folder_is_a_file(self, run: Run) -> None:
        """So with a file in the folder's place."""
        run.state.write_text("", encoding="utf-8")
        said = run.ask("list")
        assert said.error == "cannot use the state folder: Not a directory"
        run.state.unlink()

    @pytest.mark.rule("D3")
    def test_briefs_cannot_be_kept(self, inited: Run) -> None:
        """A prompt that cannot be stored: nothing is recorded."""
        (inited.state / "briefs").rmdir()
        said = inited.ask("train", "--base", "b", "--brief", inited.brief())
        assert said.error == "cannot use the state folder: No such file or directory"
        assert inited.events("JobCreated") == []
