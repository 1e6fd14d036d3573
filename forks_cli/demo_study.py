"""The demonstration of a study: the sample, run to its end, before one's eyes.

The agent's answers are scripted, in a fenced block at the end of each prompt: the stand-in follows
it itself, and for the real client the API on loopback does.
"""

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from forks_cli.answer import Answer, Exit
from forks_cli.stage import Stage
from forks_core.rules.budget import total_usd
from forks_core.system.client import EXECPATH
from forks_templates import SAMPLE_STUDY

Row = dict[str, Any]
Ask = Callable[..., Row]
# The second attempt at the totals goes wrong, so that there is something to see.
WORK: Mapping[str, str] = {
    "greet": "printf 'def greet(name):\\n"
    '    name = name.strip()\\n    return f"Hello, {name}!" if name else "Hello!"\\n'
    "' > greet.py",
    "totals": "case $trial in *-r1-*) sed -i 's/= number/= found.get(name, 0) + number/' totals.py;; "
    "*) sed -i 's/= number/= number + 1/' totals.py;; esac",
    "report": "printf '%s\\n%s\\n' $seed $$(tr -dc a-z < words.txt | wc -c) > report.txt",
}


def set_up(scene: Stage) -> Path:
    """Copy the sample, with its script; return the study's file."""
    folder = scene.repository.parent / "study"
    shutil.copytree(SAMPLE_STUDY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for task, command in WORK.items():
        script = json.dumps({"steps": [{"tool": command}, {"say": f"{task} is done"}]})
        prompt = folder / "tasks" / task / "prompt.md"
        text = prompt.read_text(encoding="utf-8")
        prompt.write_text(f"{text}\n```standin\n{script}\n```\n", encoding="utf-8")
    os.environ[EXECPATH] = str(scene.client)
    return folder / "study.toml"


def play(file: Path, ask: Ask) -> Row:
    """Check it, schedule it, run it, and tell its rows."""
    ask("study", "check", str(file))
    ask("study", "schedule", str(file), "--lab")
    stopped = ask("study", "run", str(file))
    return {**stopped, "rows": ask("study", "rows", str(file))["rows"]}


def report(told: Row, registry: Row, fresh: Row, *, kept: bool) -> Answer:
    """What came of it.

    Args:
        told: How the run ended, and its rows.
        registry: The registry as it was folded here.
        fresh: What a fresh process answers of the log.
        kept: Whether it stays.
    """
    same = fresh["registry"] == registry
    ok = same and told["ok"]
    rows: Sequence[Row] = told["rows"]
    return Answer(
        {
            "ok": ok,
            "client": rows[0]["client_version"] if rows else None,
            "trials": [
                {name: row[name] for name in ("trial_id", "status", "passed", "score", "cost_usd")}
                for row in rows
            ],
            "arms": _by_arm(rows),
            "blocks_complete": told["blocks_complete"],
            "blocks": told["blocks"],
            "reason": told["reason"],
            "events": told["head"]["seq"],
            "replay_equals_live": same,
            "head": told["head"],
            "state": told["state"] if kept else None,
        },
        Exit.OK if ok else Exit.NOT_OK,
    )


def _by_arm(rows: Sequence[Row]) -> list[Row]:
    arms: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        arms[row["arm"]].append(row)
    return [
        {
            "arm": arm,
            "trials": len(of),
            "passed": sum(row["passed"] for row in of),
            "cost_usd": total_usd(row["cost_usd"] for row in of),
        }
        for arm, of in sorted(arms.items())
    ]
