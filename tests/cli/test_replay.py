"""``replay``: the registry as it was after an event, or at a time."""

import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from tests.driver import Run, ok, one_object

# Only a user who is not almighty is kept from writing.
_AS_NOBODY = """
import os, sys
from forks_cli.main import answer, main
sys.argv[1:1] = ["replay"]
answer(sys.argv[1:])  # nobody may not even import what the interpreter has not read yet
if os.geteuid() == 0:
    os.setuid(65534)
sys.exit(main())
"""


class TestReplay:
    """The log is folded anew, from its first event, and nothing is recorded."""

    def test_all_of_it(self, shared: Run) -> None:
        """Every event is folded, and the head is the last line's hash."""
        before = shared.snapshot()
        content = ok(shared.forks("replay"))
        assert shared.snapshot() == before
        lines = shared.log_file.read_bytes().splitlines()
        assert set(content) == {"registry", "events", "unknown", "head"}
        assert (content["events"], content["unknown"]) == (len(lines), 0)
        assert content["head"] == {"seq": len(lines), "hash": sha256(lines[-1]).hexdigest()}
        assert content["registry"]["bases"]["base"]["state"]["is"].lower() == "active"
        assert content["registry"]["jobs"]["j0001"]["state"]["is"].lower() == "ended"

    def test_up_to_an_event(self, shared: Run) -> None:
        """After each event the job is as far as it was then; beyond the end is the end."""
        lines = shared.log_file.read_bytes().splitlines()
        kinds = [line["type"] for line in shared.log()]
        expected = {
            "JobCreated": "created",
            "JobLaunched": "launched",
            "ClientStarted": "running",
            "StreamResulted": "running",
            "JobEnded": "ended",
        }
        for kind, state in expected.items():
            seq = kinds.index(kind) + 1
            content = ok(shared.ask("replay", "--seq", str(seq)))
            assert content["registry"]["jobs"]["j0001"]["state"]["is"].lower() == state
            assert content["head"] == {"seq": seq, "hash": sha256(lines[seq - 1]).hexdigest()}
            assert content["events"] == seq
        nothing = ok(shared.ask("replay", "--seq", "0"))
        assert (nothing["events"], nothing["registry"]["jobs"]) == (0, {})
        assert nothing["head"] == {"seq": 0, "hash": "0" * 64}
        beyond = ok(shared.ask("replay", "--seq", "999"))
        assert beyond == ok(shared.ask("replay"))

    def test_at_a_time(self, shared: Run) -> None:
        """At an event's very time it has happened; without a zone a time is in UTC."""
        line = next(line for line in shared.log() if line["type"] == "ClientStarted")
        for text in (line["at"], line["at"].removesuffix("+00:00")):
            content = ok(shared.ask("replay", "--at", text))
            assert content["head"]["seq"] == line["seq"]
        assert ok(shared.ask("replay", "--at", "2001-01-01"))["events"] == 0
        assert ok(shared.ask("replay", "--at", "2999-01-01"))["events"] == len(shared.log())

    def test_one_of_them(self, inited: Run) -> None:
        """An event or a time, not both; and both must be one."""
        for words in (("--seq", "1", "--at", "2001-01-01"), ("--seq", "-1"), ("--at", "noon")):
            assert inited.ask("replay", *words).error == "usage"


class TestElsewhere:
    """An auditor needs nothing but the log."""

    def test_the_log_alone(self, shared: Run) -> None:
        """A copy of the log says the same, read by somebody who may not write it."""
        expected = ok(shared.ask("replay"))
        folder = Path(tempfile.mkdtemp())
        try:
            state = folder / "copy-forks"
            state.mkdir()
            shutil.copy(shared.log_file, state / "events.jsonl")
            (state / "events.jsonl").chmod(0o444)
            for path in (state, folder):
                path.chmod(0o555)
            done = subprocess.run(
                [sys.executable, "-P", "-c", _AS_NOBODY, "--run", str(folder / "copy.md")],
                env=shared.env,
                cwd=folder,
                capture_output=True,
                check=False,
            )
            assert one_object(done.stdout) == expected, done.stderr
            assert [path.name for path in state.iterdir()] == ["events.jsonl"]
        finally:
            for path in (folder, folder / "copy-forks"):
                path.chmod(0o755)
            shutil.rmtree(folder)
