"""``forks demo``: the main job, in a folder of its own, before one's eyes.

A base is trained and forked twice in parallel; then the registry that was folded event by event
here is compared with the one that a fresh process folds from the log's bytes.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forks_cli import demo_study
from forks_cli.answer import Answer, Exit, diagnose
from forks_cli.main import answer
from forks_cli.stage import BLOCKS, Stage, stage, work_of
from forks_core.errors import ForksError, Refused
from forks_core.projections.head import head_row
from forks_core.projections.plain import plain
from forks_core.system.killer import kill
from forks_core.system.open_run import OpenRun, open_configured, open_run
from forks_events.jobs import JobLaunched
from forks_events.values import Process
from forks_events.words import Reason

MODEL = "claude-opus-4-5"
_LOOK_S = 0.05
_LIMIT_S = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("--keep", metavar="DIR", help="keep it: DIR, DIR.md and DIR-forks")
    parser.add_argument("--client", metavar="PATH", help="a real client, on a loopback API")
    parser.add_argument("--study", action="store_true", help="the sample study instead")


def run(arguments: argparse.Namespace) -> Answer:
    """Play the demonstration and tell what came of it."""
    if arguments.study:
        return _run_study(arguments)
    with stage(arguments.keep, arguments.client) as scene:
        diagnose(f"a git repository in {scene.repository}")
        _ask(
            "init",
            *("--run", str(scene.run), "--model", MODEL, "--lab"),
            # Older clients know no effort.
            *("--cwd", str(scene.repository), "--binary", str(scene.client), "--effort", "none"),
        )
        show = _Show(open_configured(str(scene.run), "demo"))
        with show.nothing_left():
            jobs = _play(scene, show)
        return _report(scene, show, jobs, kept=arguments.keep is not None)


def _run_study(arguments: argparse.Namespace) -> Answer:
    with stage(arguments.keep, arguments.client) as scene:
        file = demo_study.set_up(scene)
        diagnose(f"a study in {file.parent}")
        try:
            told = demo_study.play(file, _ask)
        finally:
            _end_all(str(file))
        registry = json.loads(json.dumps(plain(open_run(str(file), "demo").registry)))
        fresh = _fold_in_a_fresh_process(file)
        return demo_study.report(told, registry, fresh, kept=arguments.keep is not None)


def _end_all(file: str) -> None:
    """Leave no process behind, however a study ended."""
    opened = open_run(file, "demo")
    for name, job in opened.registry.jobs.items():
        if not job.ended:
            kill(opened, name, Reason.KILL)


def _play(scene: Stage, show: "_Show") -> list[dict[str, Any]]:
    """Train, fork twice, wait, list."""
    where = ("--run", str(scene.run))
    brief = _brief(scene, "train", "Read README.md.")
    _ask("train", *where, "--base", "demo", "--brief", brief)
    results = show.until_done(where)
    if any(result["status"] != "ok" for result in results):
        return results
    for block in BLOCKS:
        script = json.dumps({"steps": [{"tool": work_of(block)}, {"say": f"{block} is done"}]})
        brief = _brief(scene, block, f"Write {block}.txt.\n\n```standin\n{script}\n```")
        _ask(
            "fork",
            *where,
            *("--base", "demo", "--block", block, "--brief", brief),
            *("--mode", "parallel", "--paths", f"{block}.txt"),
        )
    results += show.until_done(where)
    _ask("list", *where)
    return results


def _brief(scene: Stage, name: str, text: str) -> str:
    path = scene.repository.parent / f"{name}.brief.md"
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


def _ask(*words: str) -> dict[str, Any]:
    """Give a command as a caller would; a refusal is ours."""
    diagnose(f"$ forks {' '.join(words)}")
    said = answer(words)
    if said.code is Exit.REFUSED:
        fields = dict(said.content)
        raise Refused(fields.pop("error"), command=words[0], **fields)
    return dict(said.content)


class _Show:
    """The run, followed event by event."""

    def __init__(self, opened: OpenRun) -> None:
        self.opened = opened
        self._supervisors: set[Process] = set()

    def follow(self) -> None:
        """Fold what is new, one event after the other, and name it on standard error."""
        live = self.opened.live
        reading = live.log.read(live.head.seq + 1)
        for envelope in reading.envelopes:
            event = envelope.event
            job = getattr(event, "job", "")
            if isinstance(event, JobLaunched):
                self._supervisors.add(event.supervisor)
            diagnose(f"  {envelope.seq:3} {type(event).__name__} {job}".rstrip())
        live.take(reading)

    def until_done(self, where: tuple[str, ...]) -> list[dict[str, Any]]:
        """Follow until every job has ended, then have the results delivered."""
        until = time.monotonic() + _LIMIT_S
        self.follow()
        while any(not job.ended for job in self.opened.registry.jobs.values()):
            if time.monotonic() > until:
                raise ForksError("the demonstration takes too long", limit_s=_LIMIT_S)
            time.sleep(_LOOK_S)
            self.follow()
        done: list[dict[str, Any]] = _ask("wait", *where, "--all")["done"]
        self.follow()
        return done

    @contextlib.contextmanager
    def nothing_left(self) -> Iterator[None]:
        """Leave no process behind, whatever happens within."""
        try:
            yield
        finally:
            self.follow()
            for name, job in self.opened.registry.jobs.items():
                if not job.ended:
                    kill(self.opened, name, Reason.KILL)
            until = time.monotonic() + self.opened.timings.kill_verify_s
            while self._living() and time.monotonic() < until:
                time.sleep(_LOOK_S)

    def _living(self) -> list[Process]:
        processes = self.opened.processes
        return [process for process in self._supervisors if processes.is_alive(process)]


def _report(scene: Stage, show: _Show, results: list[dict[str, Any]], *, kept: bool) -> Answer:
    show.follow()
    for result in results:
        if result["status"] != "ok":
            said = _ask("show", "--run", str(scene.run), result["job"])["stderr"] or ""
            diagnose(f"{result['job']} {result['status']}: {said.strip() or result['reason']}")
    live = show.opened.live
    fresh = _fold_in_a_fresh_process(scene.run)
    same = fresh["registry"] == json.loads(json.dumps(plain(live.registry)))
    ok = same and all(result["status"] == "ok" for result in results)
    return Answer(
        {
            "ok": ok,
            "client": show.opened.default_launch.binary.version,
            "jobs": [
                {
                    name: result[name]
                    for name in (
                        *("job", "kind", "block", "status", "reason", "reason_detail"),
                        *("error_kind", "tokens"),
                    )
                }
                | {"cost_usd": result["cost_delta_usd"], "cache": result["cache"]}
                for result in results
            ],
            "events": live.head.seq,
            "replay_equals_live": same,
            "head": head_row(live.head),
            "state": str(show.opened.folder.path) if kept else None,
        },
        Exit.OK if ok else Exit.NOT_OK,
    )


def _fold_in_a_fresh_process(run: Path) -> dict[str, Any]:
    diagnose("a fresh process folds the log's bytes")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "forks_cli", "replay", "--run", os.fspath(run)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    content: dict[str, Any] = json.loads(done.stdout)
    if done.returncode:
        raise Refused(content.pop("error"), command="replay", **content)
    return content
