"""``python -m tests.record``: record a client's scenarios."""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.record.running import Recording, record, version_of
from tests.record.scenarios import NAMED, Scenario, chosen
from tests.record.scrubbing import names_here, traces
from tests.record.stage import Stage

RECORDINGS = Path(__file__).parent.parent / "recordings"


def main(words: list[str] | None = None) -> int:
    """Record, and name every recording that is made."""
    parser = _parser()
    arguments = parser.parse_args(words)
    if unknown := sorted(set(arguments.scenario) - set(NAMED)):
        parser.error(f"no scenario: {', '.join(unknown)}")
    with tempfile.TemporaryDirectory(prefix="forks-record-") as name:
        folder = Path(name).resolve()
        version = version_of(arguments.client, Stage(folder / "version"))
        into = arguments.into / version
        for recording in played(folder, arguments.client, version, chosen(arguments.scenario)):
            print(write(into, recording))  # noqa: T201 - it is a program
    return 0


def played(
    folder: Path, client: Path, version: str, scenarios: Iterable[Scenario]
) -> Iterable[Recording]:
    """Play scenarios in turn, each on the stage of the one that it goes on with, or on its own."""
    stages: dict[str, Stage] = {}
    sessions: dict[str, str] = {}
    for scenario in scenarios:
        name, after = scenario.name, scenario.after
        stages[name] = stages[after] if after else Stage(folder / name)
        parent = sessions[after] if after else ""
        recording = record(client, version, scenario, stages[name], parent)
        sessions[name] = recording.session
        yield recording


def write(into: Path, recording: Recording) -> Path:
    """Write a recording and how it came about.

    Raises:
        ValueError: It still tells of this machine.
    """
    told = json.dumps(recording.meta, indent=1) + "\n"
    if found := traces(recording.stdout + told, names_here()):
        raise ValueError(f"{recording.meta['scenario']} holds {sorted(set(found))}")
    into.mkdir(parents=True, exist_ok=True)
    path = into / f"{recording.meta['scenario']}.jsonl"
    path.with_suffix(".meta.json").write_text(told, encoding="utf-8")
    path.write_text(recording.stdout, encoding="utf-8", errors="surrogateescape", newline="")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.add_argument("--client", required=True, type=Path, help="the client's program")
    parser.add_argument("--into", type=Path, default=RECORDINGS, metavar="FOLDER")
    parser.add_argument(
        "scenario",
        nargs="*",
        metavar="SCENARIO",
        help=f"all but the big ones if none is named: {', '.join(NAMED)}",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
