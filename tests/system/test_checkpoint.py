"""The checkpoint: a cache that is checked against the log, and never believed when in doubt."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from forks_core.reducer import fold
from forks_core.registry import Registry
from forks_core.system.checkpoint import WORTH_IT, keep, restore
from forks_core.system.log_file import LogFile
from forks_core.system.open_run import open_run
from forks_core.system.state_folder import StateFolder
from forks_core.transact import known_events
from forks_events import Event
from forks_events.envelope import Author, Head
from forks_events.run import OrchestratorSeen
from tests.golden.make import make
from tests.histories import NOON
from tests.strategies import histories

BY = Author(verb="test", host="h", pid=1)


class Place:
    """A state folder with a log, and its checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run.md"
        self.folder = StateFolder(folder / "run-forks")
        self.folder.create(b"preamble")
        self.file = self.folder.path / "cache" / "registry.json"

    def log(self) -> LogFile:
        """A fresh handle."""
        return LogFile(self.folder.path)

    def append(self, *events: Event) -> None:
        """Record events, a commit each."""
        log = self.log()
        for event in events:
            with log.writing() as writer:
                writer.read(1)
                writer.append(BY, [event], NOON)

    def append_behind(self, event: Event) -> None:
        """Record an event as a command does that goes on behind the checkpoint."""
        log = self.log()
        assert restore(self.folder, log)
        with log.writing() as writer:
            writer.append(BY, [event], NOON)

    def folded(self) -> tuple[Registry, Head]:
        """The whole log, folded from its beginning."""
        reading = self.log().read()
        return fold(known_events(reading.envelopes)[0]), reading.head

    def keep(self) -> None:
        """Keep a checkpoint of all there is."""
        log = self.log()
        registry = fold(known_events(log.read().envelopes)[0])
        keep(self.folder, log.position, registry)

    def restored(self) -> tuple[Registry, Head] | None:
        """What the checkpoint yields, if it holds."""
        return restore(self.folder, self.log())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A state folder whose log holds the golden story, and a checkpoint of it."""
    made = Place(tmp_path)
    made.folder.log.write_bytes(make())
    made.keep()
    return made


class TestRestore:
    """A checkpoint is the registry of a prefix; with the rest it is that of the whole log."""

    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(histories())
    def test_law_the_rest_completes_it(
        self, tmp_path_factory: pytest.TempPathFactory, history: tuple[Event, ...]
    ) -> None:
        """Wherever it was kept, folding what came later gives what folding all of it gives."""
        place = Place(tmp_path_factory.mktemp("run"))
        half = len(history) // 2
        place.append(*history[:half])
        place.keep()
        place.append(*history[half:])
        log = place.log()
        restored = restore(place.folder, log)
        if half == 0:
            assert restored is None
            return
        assert restored is not None
        registry, head = restored
        assert (registry, head.seq) == (fold(history[:half]), half)
        rest = known_events(log.read(head.seq + 1).envelopes)[0]
        assert rest == list(history[half:])
        assert (fold(rest, registry), log.read(head.seq + 1).head) == place.folded()

    def test_without_one_there_is_nothing(self, tmp_path: Path) -> None:
        """A new run has none."""
        assert Place(tmp_path).restored() is None


def changed(name: str, value: object) -> Callable[[bytes], bytes]:
    """A checkpoint that says something else of itself."""

    def change(data: bytes) -> bytes:
        first, _, rest = data.partition(b"\n")
        header: dict[str, Any] = json.loads(first) | {name: value}
        return json.dumps(header).encode() + b"\n" + rest

    return change


LIES: dict[str, Callable[[bytes], bytes]] = {
    "another fold": changed("sources", "0" * 64),
    "an earlier event": changed("seq", 3),
    "another line": changed("hash", "0" * 64),
    "another place": changed("end", 100),
    "the very beginning": changed("end", 0),
    "beyond the end": changed("end", 10**9),
    "beyond any file": changed("end", 2**70),
    "no number": changed("seq", "many"),
    "one key more": changed("more", 1),
    "another registry": lambda data: data.replace(b"j0001", b"j0009"),
    "half of it": lambda data: data[: len(data) // 2],
    "nothing": lambda _: b"",
    "garbage": lambda _: b"\xff\x00 no JSON\n{}",
    "a list": lambda _: b"[]\n[]",
    "far too deep": lambda _: b"{" + b'"a":' * 100_000,
}


class TestDoubt:
    """A checkpoint that does not hold is thrown away, and the log is folded from its beginning."""

    def test_the_place_holds(self, place: Place) -> None:
        """What the lies are told of is true before."""
        assert place.restored() == place.folded()

    @pytest.mark.parametrize("lie", LIES)
    def test_a_lie_is_found(self, place: Place, lie: str) -> None:
        """Whatever of it was changed, it is not believed, and a command works all the same."""
        place.file.write_bytes(LIES[lie](place.file.read_bytes()))
        assert place.restored() is None
        assert open_run(str(place.run), "test").registry == place.folded()[0]

    def test_another_log_is_found(self, place: Place) -> None:
        """A log that was cut off, or replaced, does not hold the line before the place."""
        whole = place.folder.log.read_bytes()
        place.folder.log.write_bytes(whole[: whole[:-1].rfind(b"\n") + 1])
        assert place.restored() is None
        place.folder.log.write_bytes(whole.replace(b"4211", b"4212"))
        assert place.restored() is None

    def test_no_log_at_all(self, place: Place) -> None:
        """Without the log the checkpoint is worth nothing."""
        place.folder.log.unlink()
        assert place.restored() is None


class TestCommands:
    """Commands fold only what is new, and keep a checkpoint when that was much."""

    def test_it_is_kept_when_it_is_worth_it(self, place: Place) -> None:
        """A short log is folded without one; a long tail makes a new one."""
        place.file.unlink()
        short = place.folder.log.read_bytes().splitlines(keepends=True)[:3]
        place.folder.log.write_bytes(b"".join(short))
        open_run(str(place.run), "test")
        assert not place.file.exists()
        place.append(*[OrchestratorSeen(at=NOON)] * WORTH_IT)
        opened = open_run(str(place.run), "test")
        assert place.restored() == (opened.registry, opened.live.head) == place.folded()

    def test_only_the_tail_is_read(self, place: Place) -> None:
        """What lies before the checkpoint is not looked at again, only replay does that."""
        data = place.folder.log.read_bytes()
        place.folder.log.write_bytes(b"{" * 50 + data[50:])
        place.append_behind(OrchestratorSeen(at=NOON))
        opened = open_run(str(place.run), "test")
        assert opened.live.head.seq == json.loads(data.splitlines()[-1])["seq"] + 1

    def test_a_folder_that_cannot_be_written_has_none(self, tmp_path: Path) -> None:
        """An auditor's copy is read as it is."""
        place = Place(tmp_path)
        place.folder.log.write_bytes(make())
        place.file.parent.rmdir()
        place.keep()
        assert not place.file.exists()
        assert open_run(str(place.run), "test").registry == place.folded()[0]
