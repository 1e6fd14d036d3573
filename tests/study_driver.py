"""A driver for studies and accounts: a study file with all that it names, and who hears of money."""

import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import evolve
from immutables import Map

from forks_core.decider.account import Forward
from forks_core.system.account import make_account, open_account
from forks_core.transact import transact
from forks_events.account import QuotaForwarded, SpendBooked
from forks_events.quota import Reading, Window
from tests.driver import MODEL, Run, Said, ok
from tests.histories import NOON, forward
from tests.log_view import Line, LogView
from tests.toml_text import Table, toml_of

TWELVE = (
    *("MB-10", "MB-02", "CDB-S01", "MB-11", "MB-01", "MB-09"),
    *("MB-03", "MB-08", "MB-04", "MB-07", "MB-05", "MB-06"),
)
"""The tasks of A4.6, in no order."""


_READING, _SPEND = forward("run-1", 2, NOON).entries


class Study(LogView):
    """A study in a folder of its own: two arms of one client, told apart by what is appended.

    Args:
        run: The driver whose client and environment it has.
        tasks: The ids of its tasks, as the file has them.
    """

    def __init__(self, run: Run, *tasks: str) -> None:
        self.run = run
        self.folder = run.folder / f"study-{uuid.uuid4().hex[:8]}"
        super().__init__(self.folder / "study-forks")
        self.path = self.folder / "study.toml"
        (self.folder / "tasks").mkdir(parents=True)
        (self.folder / "skill.md").write_text("Be brief.\n", encoding="utf-8")
        self.data: Table = {
            "study": {"id": "skill-or-not", "max_budget_usd": 6.0},
            "launch": {"model": MODEL, "effort": "high", "binary": str(run.client)},
            "arm": [
                {"name": "plain"},
                {"name": "with-skill", "append_system_prompt": "skill.md"},
            ],
            "task": [self._task(name) for name in tasks or ("CDB-S01", "MB-01")],
        }
        self.write()

    def _task(self, name: str) -> Table:
        self.prompt(name).write_text(f"Solve {name} by $seed.\n", encoding="utf-8")
        self.workdir(name).mkdir()
        (self.workdir(name) / "code.py").write_text("x = 1\n", encoding="utf-8")
        return {
            "id": name,
            "prompt": f"tasks/{name}.md",
            "workdir": f"tasks/{name}",
            "check": ["python3", "check.py"],
        }

    def prompt(self, task: str) -> Path:
        """A task's prompt."""
        return self.folder / "tasks" / f"{task}.md"

    def workdir(self, task: str) -> Path:
        """The folder that each attempt at a task is given a copy of."""
        return self.folder / "tasks" / task

    def write(self) -> None:
        """Write the file as the data has it."""
        self.path.write_text(toml_of(self.data), encoding="utf-8")

    def says(self, table: str, number: int | None = None, **keys: Any) -> None:
        """Change keys of a table, or of one of several, in the file; None takes a key away."""
        held = self.data[table] if number is None else self.data[table][number]
        held |= keys
        for name in [name for name, value in held.items() if value is None]:
            del held[name]
        self.write()

    def has(self, **tables: Any) -> None:
        """Put other tables into the file."""
        self.data |= tables
        self.write()

    def check(self, *words: str) -> Said:
        """Ask what it means."""
        return self.run.ask_words("study", "check", str(self.path), *words)

    def schedule(self, *words: str) -> Said:
        """Register it."""
        return self.run.ask_words("study", "schedule", str(self.path), *words)


class Account(LogView):
    """The account log that a run's environment names.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(Path(run.env["FORKS_ACCOUNT"]))

    def booked(self) -> list[Line]:
        """The spends, in order."""
        return self.events("SpendBooked")

    def readings(self) -> list[Line]:
        """The readings, in order."""
        return self.events("QuotaForwarded")


def init_paying(run: Run, *words: str) -> Line:
    """Initialise a run that is no lab run: an account hears of it."""
    given = ("--model", MODEL, "--binary", str(run.client), "--stagger-s", "0")
    return ok(run.ask("init", *given, *words))


def reading(  # noqa: PLR0917 - each is a key of the normalised reading
    now: datetime,
    seven: float | None = None,
    seven_in_s: float | None = None,
    five: float | None = None,
    five_in_s: float | None = None,
    status: str = "allowed",
    kind: str | None = None,
    **told: Any,
) -> QuotaForwarded:
    """A reading of an account: shares, and in how many seconds from now each window resets."""

    def ahead(seconds: float | None) -> datetime | None:
        return None if seconds is None else now + timedelta(seconds=seconds)

    windows = {"seven_day": (seven, seven_in_s), "five_hour": (five, five_in_s)}
    held = {
        name: Window(utilization=used, resets_at=ahead(seconds))
        for name, (used, seconds) in windows.items()
        if used is not None or seconds is not None
    }
    assert isinstance(_READING, QuotaForwarded)
    return evolve(
        _READING,
        **{"recorded_at": now, "seen_at": now} | told,
        reading=Reading(
            status=status,
            type=kind,
            resets_at=held[kind].resets_at if kind in held else None,
            is_using_overage=False,
            windows=Map(held),
        ),
    )


def spend(cost_usd: float | None, **told: Any) -> SpendBooked:
    """A spend: a fork's, at noon, unless told otherwise."""
    assert isinstance(_SPEND, SpendBooked)
    return evolve(_SPEND, cost_usd=cost_usd, **told)


def tell(run: Run, *entries: SpendBooked | QuotaForwarded) -> None:
    """Write an account's log, as whoever passes on from runs of these ids."""
    with run._here({}):
        make_account()
        for entry in entries:
            account = open_account("test")
            seq = account.registry.forwarded.get(entry.run, 0) + 1
            told = (evolve(entry, seq=seq),)
            transact(
                account,
                Forward(log="account", forks_version="1", run=entry.run, entries=told, seq=seq),
            )


def to_pay_for(run: Run) -> list[tuple[int, str]]:
    """What a run's log has to say to its account: the numbers and types of those lines."""
    return [
        (line["seq"], line["type"])
        for line in run.log()
        if line["type"] in {"QuotaRead", "JobEnded"}
    ]


def forwarded(account: Account) -> list[tuple[int, str]]:
    """What an account was told, by the numbers of the run's lines, in the order of its log."""
    types = {"SpendBooked": "JobEnded", "QuotaForwarded": "QuotaRead"}
    return [
        (line["data"]["seq"], types[line["type"]])
        for line in account.log()
        if line["type"] in types
    ]
