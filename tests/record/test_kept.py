"""The recordings that are kept: they belong together, and are of the clients that they name."""

from pathlib import Path

import pytest

from tests.claude.lines import every_recording
from tests.claude.recorded import EACH, NEW, OLD, lines, meta
from tests.record.__main__ import main
from tests.record.scenarios import NAMED, SCENARIOS, chosen
from tests.record.scrubbing import scrub, traces


class TestTheRecordings:
    """They are whole, belong together, and tell nothing of the machine that made them."""

    @EACH
    def test_all_are_there(self, version: str) -> None:
        """Every scenario that is not big is kept, and each says what it is."""
        small = {scenario.name for scenario in SCENARIOS if not scenario.is_big}
        kept = {path.stem for path in every_recording() if path.parent.name == version}
        assert small <= kept
        for name in kept:
            told = meta(version, name)
            assert (told["version"], told["scenario"]) == (version, name)

    @EACH
    def test_the_chain(self, version: str) -> None:
        """The fork is of the base's session, and the continue is of the fork's."""
        base, fork, more = (
            {line["session_id"] for line in lines(version, scenario)}
            for scenario in ("train", "fork", "continue")
        )
        assert len(base | fork) == 2
        assert fork == more
        for scenario, parent in (("fork", base), ("continue", fork)):
            tail = meta(version, scenario)["argv_tail"]
            assert {tail[tail.index("--resume") + 1]} == parent

    @EACH
    def test_quota(self, version: str) -> None:
        """The newest client always tells how full a window is, the middle one near its end."""
        told = {
            scenario: [
                line["rate_limit_info"]
                for line in lines(version, scenario)
                if line["type"] == "rate_limit_event"
            ]
            for scenario in ("train", "quota-warning", "quota-over-stop")
        }
        if version == OLD:
            assert not any(told.values())
            return
        full = {scenario: info.get("utilization") for scenario, (info,) in told.items()}
        assert full == {"train": None, "quota-warning": 0.80, "quota-over-stop": 0.96}
        for (info,) in told.values():
            assert ("unifiedWindows" in info) is (version == NEW)

    def test_no_traces(self) -> None:
        """No path, host or registry of the recording machine is left."""
        for path in every_recording():
            for file in (path, path.with_suffix(".meta.json")):
                assert traces(file.read_text()) == []


class TestChoosing:
    """What is recorded when."""

    def test_all(self) -> None:
        """Without a name all are recorded but the big one."""
        assert {scenario.name for scenario in chosen([])} == set(NAMED) - {"big-text"}

    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (["big-text"], ["big-text"]),
            (["continue"], ["train", "fork", "continue"]),
            (["denied", "fork"], ["train", "fork", "denied"]),
        ],
    )
    def test_named(self, names: list[str], expected: list[str]) -> None:
        """What is named is recorded, after what it goes on with."""
        assert [scenario.name for scenario in chosen(names)] == expected


class TestScrubbing:
    """Paths are replaced, and what is left is found."""

    def test_paths(self) -> None:
        """The working directory, the home, folders that are named after them, and scratch files."""
        stage = Path("/tmp/forks-record-a_b/train")
        text = scrub(
            f'{{"cwd":"{stage}/repository","memory":"{stage}/home/.claude/projects/'
            f'-tmp-forks-record-a-b-train-repository/memory/","socket":"{stage}/scratch/s/1.sock"}}',
            repository=stage / "repository",
            home=stage / "home",
            scratch=stage / "scratch",
        )
        assert text == (
            '{"cwd":"/repo","memory":"/home/user/.claude/projects/-repo/memory/",'
            '"socket":"/var/scratch"}'
        )
        assert traces(text) == []

    @pytest.mark.parametrize(
        "text",
        ["/tmp/x", "in /home/ann/.cache", "/home/ann/x", "registry.example", "box", "the/box:1"],
    )
    def test_traces(self, text: str) -> None:
        """A place that was missed is found, and a name of the machine's by itself."""
        assert traces(text, ["box"])

    @pytest.mark.parametrize("text", ["/home/user/.claude", "/repo", "sandbox_x", "box-1", "boxes"])
    def test_no_traces_of_others(self, text: str) -> None:
        """What is in every recording is none, nor a word that only holds a name."""
        assert traces(text, ["box"]) == []


def test_unknown_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario that there is none of is refused, before any client is run."""
    with pytest.raises(SystemExit):
        main(["--client", "/nowhere/client", "train", "trian"])
    assert "no scenario: trian" in capsys.readouterr().err
