"""Running the client through a scenario."""

import subprocess
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple

from forks_core.system.loopback import LoopbackApi
from tests.client.world import end, marked
from tests.record.director import Director
from tests.record.scenarios import Kill, Scenario
from tests.record.stage import Stage
from tests.record.usages import numbers_of

MODEL = "claude-opus-4-5"
_LOOK_S, _LONGEST_S, _VERSION_S = 0.02, 90.0, 60
_ANNOUNCED = b'"subtype":"api_retry"'


class Recording(NamedTuple):
    """What a call printed, and how it was called and exited."""

    stdout: str
    meta: dict[str, Any]
    session: str
    """The session that it was given, if it was given one."""


def version_of(client: Path, stage: Stage) -> str:
    """Ask a client for its version."""
    done = subprocess.run(
        [client, "--version"],
        cwd=stage.repository,
        env=stage.environment(""),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_VERSION_S,
        check=True,
    )
    return done.stdout.split()[0]


def record(
    client: Path, version: str, scenario: Scenario, stage: Stage, parent: str = ""
) -> Recording:
    """Play a scenario.

    Args:
        client: The client's program.
        version: Its version.
        scenario: What is played.
        stage: Where.
        parent: The session that it goes on with.

    Raises:
        TimeoutError: The client did not end.
    """
    own = str(uuid.uuid4())
    tail = [word.format(own=own, parent=parent) for word in scenario.tail]
    numbers = tuple(map(int, version.split(".")))
    director = Director(scenario, numbers_of(numbers))
    stage.prepare(scenario)
    begun = time.monotonic()
    with LoopbackApi(director) as api:
        argv = [str(client), *_common(scenario), *tail]
        call = _Call(stage, argv, f"Do {scenario.name}.\n", api.url)
        try:
            exit_code = call.watch(director, scenario.kill, announces=numbers >= (2, 1))
            wall_s = time.monotonic() - begun
        finally:
            call.close()
    meta = {
        "version": version,
        "scenario": scenario.name,
        "exit_code": exit_code,
        "stderr": stage.scrub(call.stderr.read_text()),
        "wall_s": round(wall_s, 2),
        "argv_tail": [stage.scrub(word) for word in tail],
    }
    printed = call.stdout.read_bytes().decode("utf-8", "surrogateescape")
    return Recording(stage.scrub(printed), meta, own)


def _common(scenario: Scenario) -> list[str]:
    return [
        *("-p", "--output-format", "stream-json", "--verbose"),
        *("--model", MODEL),
        *("--permission-mode", "bypassPermissions"),
        *("--tools", scenario.tools),
        "--strict-mcp-config",
    ]


class _Call:
    """One process of the client; its output goes to files, whole whatever becomes of it."""

    def __init__(self, stage: Stage, argv: list[str], prompt: str, api: str) -> None:
        self._stage = stage
        self.stdout, self.stderr = stage.folder / "stdout", stage.folder / "stderr"
        told = stage.folder / "prompt"
        told.write_text(prompt)
        with told.open("rb") as given, self.stdout.open("wb") as out, self.stderr.open("wb") as err:
            self._process = subprocess.Popen(
                argv,
                cwd=stage.repository,
                env=stage.environment(api),
                stdin=given,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def watch(self, director: Director, kill: Kill | None, *, announces: bool) -> int:
        """Wait for the end, or bring it about when its time has come; return the exit code."""
        until = time.monotonic() + _LONGEST_S
        while (code := self._process.poll()) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"no end within {_LONGEST_S:.0f} s")
            if kill and self._is_due(director, kill, announces=announces):
                self._process.kill()
                return self._process.wait()
            time.sleep(_LOOK_S)
        return code

    def _is_due(self, director: Director, kill: Kill, *, announces: bool) -> bool:
        if director.asked < kill.requests:
            return False
        printed = self.stdout.read_bytes()
        retries = kill.retries if announces else 0
        return b"\n" in printed and printed.count(_ANNOUNCED) >= retries

    def close(self) -> None:
        """End what is left of the call: the client, and what its tools have started."""
        self._process.kill()
        self._process.wait()
        while left := marked(str(self._stage.folder)):
            end(left)
            time.sleep(_LOOK_S)
