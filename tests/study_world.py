"""A world to run studies in: small ones, whose agents do as they are told, call by call."""

import contextlib
import json
import math
import os
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.driver import Run, Said, ok, one_object
from tests.log_view import Line
from tests.processes import environment, is_alive, until
from tests.study_driver import Study

BOUND_S = 60.0
DONE = {"steps": [{"say": "done"}], "cache": "miss"}
"""What an agent does that is told nothing else; it costs the same every time."""


class World(Study):
    """A study of few trials, scheduled when first it is needed.

    Args:
        run: The driver whose client and environment it has.
        tasks: Its tasks; each passes its check unless told otherwise.
        study: Keys of ``[study]``; by default one run, in one phase.
    """

    def __init__(self, run: Run, *tasks: str, **study: Any) -> None:
        super().__init__(run, *(tasks or ("MB-01",)))
        self._going: list[Going] = []
        few = {"phase1_runs": 1, "phase2_runs": 0, "min_free_gb": 0.0}
        self.says("study", **few | study)
        for number, task in enumerate(self.data["task"]):
            self.says("task", number, check=["true"])
            self.agent(DONE, task=task["id"])

    @property
    def file(self) -> str:
        """The study's file."""
        return str(self.path)

    def agent(self, *calls: Line, task: str = "MB-01") -> None:
        """Say what the agents of a task do, call by call; the last for ever."""
        script = json.dumps({"calls": list(calls)}).replace("$", "$$")
        text = f"Solve {task} by $seed.\n\n```standin\n{script}\n```\n"
        self.prompt(task).write_text(text, encoding="utf-8")

    @property
    def go_on(self) -> Path:
        """The file that an agent waits for who is held."""
        return self.folder / "go-on"

    def held(self) -> Line:
        """What an agent does that waits until it is let go on."""
        wait = {"wait_for": {"path": str(self.go_on), "within_s": BOUND_S}}
        return {"steps": [{"say": "begun"}, wait, {"say": "done"}], "cache": "miss"}

    def judges(self, *words: str, **task: Any) -> None:
        """Say how the first task is checked."""
        self.says("task", 0, check=list(words), **task)

    def one_arm(self) -> None:
        """Leave one arm only."""
        self.has(arm=self.data["arm"][:1])

    def scheduled(self) -> "World":
        """Schedule it, for nobody's account."""
        ok(self.schedule("--lab"))
        return self

    # The verbs

    def words(self, verb: str, *words: str) -> list[str]:
        """The words of a call on this study."""
        return ["study", verb, self.file, *words]

    def start(self, *words: str) -> "Going":
        """Start a runner."""
        self._going.append(Going(self, self.run.start(*self.words("run", *words))))
        return self._going[-1]

    def go(self, *words: str) -> Said:
        """Let a runner go through it to its end."""
        return self.start(*words).end()

    def ask(self, verb: str, *words: str) -> Said:
        """Answer a verb on this study, in this process."""
        return self.run.ask_words(*self.words(verb, *words))

    def status(self) -> Line:
        """How it stands."""
        return ok(self.ask("status"))

    def rows(self, *words: str) -> list[Line]:
        """Its attempts."""
        rows: list[Line] = ok(self.ask("rows", *words))["rows"]
        return rows

    # The records

    def count(self) -> int:
        """How many events the log holds."""
        return self.log_file.read_bytes().count(b"\n")

    def trials(self) -> list[str]:
        """The trials of its attempts, in the order in which they were begun."""
        return [begun["trial_id"] for begun in self.events("TrialBegun")]

    def states(self) -> dict[str, str]:
        """Where each trial stands."""
        return {row["trial_id"]: row["state"] for row in self.status()["by_trial"]}

    def waits_for(self, kind: str, count: int = 1) -> None:
        """Wait until the log holds so many events of a type."""
        until(lambda: len(self.events(kind)) >= count, BOUND_S)

    def left(self) -> list[int]:
        """The living processes that belong to it, checks among them."""
        opened = next((line for line in self.readable() if line["type"] == "RunOpened"), None)
        run = opened["data"]["run"] if opened else "none"
        marks = (f"FORKS_JOB={run}/".encode(), f"FORKS_TEST_MARK={self.run.mark}".encode())
        return [pid for pid in _pids() if any(map(_environ(pid).__contains__, marks))]

    def nothing_left(self) -> None:
        """Prove that no process is left of it."""
        until(lambda: not self.left(), 5.0)

    def close(self) -> None:
        """End what a failed test left going, then prove that nothing is left; end only what is ours."""
        for going in self._going:
            going.kill()
        try:
            self.nothing_left()
        except AssertionError:
            for pid in self.left():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            raise


class Going:
    """A runner that goes on.

    Args:
        world: The study.
        process: The runner.
    """

    def __init__(self, world: World, process: subprocess.Popen[bytes]) -> None:
        self._world = world
        self.process = process
        self._ended = False

    @property
    def pid(self) -> int:
        """Who it is."""
        return self.process.pid

    def end(self) -> Said:
        """Wait for its end, and return what it answered."""
        out, err = self.process.communicate(timeout=BOUND_S)
        self._ended = True
        return Said(self.process.returncode, one_object(out), err.decode())

    def kill(self) -> None:
        """End it as a crash does, unless it has ended."""
        if not self._ended:
            self._ended = True
            self.process.kill()
            self.process.communicate()

    def killed_at(self, event: int | str) -> bool:
        """End it as soon as the log holds so many lines, or such an event of a trial that it began.

        False: it had ended before.
        """
        log, data = self._world.log_file, b""
        before = log.stat().st_size
        while self.process.poll() is None:
            if log.stat().st_size != len(data):
                data = log.read_bytes()
                if isinstance(event, int) and data.count(b"\n") >= event:
                    break
                if isinstance(event, str) and _holds(data[before:], event):
                    break
            time.sleep(0.001)
        alive = self.process.poll() is None
        self.kill()
        return alive

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)


def _holds(data: bytes, event: str) -> bool:
    """Whether a runner's own lines hold an event: from its start on, or from its first trial on."""
    for name in ("RunnerStarted", "TrialBegun", event):
        data = data.partition(f'"{name}"'.encode())[2]
        if not data or name == event:
            break
    return bool(data)


def is_whole(world: World) -> None:
    """Prove that a study that is done lost nothing, did nothing twice, and forgot no money."""
    entries = world.events("StudyScheduled")[0]["entries"]
    scheduled = [entry["trial_id"] for entry in entries]
    assert len(world.events("StudyScheduled")) == 1
    finals = [end["trial_id"] for end in world.events("AttemptConcluded") if end["final"]]
    assert sorted(finals) == sorted(scheduled)
    begun = world.events("TrialBegun")
    assert list(dict.fromkeys(row["trial_id"] for row in begun)) == scheduled
    rows = world.rows()
    assert [(row["trial_id"], row["job"]) for row in rows] == [
        (row["trial_id"], row["job"]) for row in begun
    ]
    jobs = [job["job"] for job in world.events("JobCreated")]
    assert jobs == [row["job"] for row in begun] == [end["job"] for end in world.events("JobEnded")]
    costs = [end["cost_usd"] for end in world.events("JobEnded")]
    status = world.status()
    assert status["spent_usd"] == round(math.fsum(costs), 6) > 0
    assert (status["done"], status["blocks_complete"]) == (len(scheduled), status["blocks"])


def costs(world: World) -> dict[str, float]:
    """What each trial has cost, all of its attempts."""
    found: dict[str, float] = {}
    for row in world.rows():
        found[row["trial_id"]] = found.get(row["trial_id"], 0.0) + row["cost_usd"]
    return {name: round(cost, 6) for name, cost in found.items()}


def seconds_until(moment: str) -> float:
    """How far ahead a recorded time is."""
    at = datetime.fromisoformat(moment)
    return (at - datetime.now(at.tzinfo)).total_seconds()


def between(earlier: str, later: str) -> float:
    """Seconds from a recorded time to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every byte below a folder; folders are None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def _pids() -> list[int]:
    names = os.listdir("/proc")  # noqa: PTH208 - numbers
    return [int(name) for name in names if name.isdigit() and is_alive(int(name))]


def _environ(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return b"\0".join(environment(pid))
    return b""
