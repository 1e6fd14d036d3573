"""Accounts: where their log lies, and whose quota and money a run's are."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forks_core.system.account import account_folder
from tests.driver import Run, ok
from tests.study_driver import Account, init_paying, reading, spend, tell
from tests.system.test_lock import ROOT

_OF_NOBODY = """
import os, sys
from forks_core.errors import Refused
from forks_core.system.account import account_folder
os.setuid(54321)
os.environ.clear()
try:
    print(account_folder().path)
except Refused as error:
    print(error.message)
"""


class TestPlaces:
    """The log lies where FORKS_ACCOUNT names, else where the platform keeps state."""

    @pytest.mark.rule("A10.1")
    def test_the_platforms(self, run: Run) -> None:
        """XDG_STATE_HOME where it is absolute, else ~/.local/state; an empty variable is none."""
        init_paying(run)
        run.trained()
        state = run.folder / "state"
        home = run.home / ".local" / "state"
        del run.env["FORKS_ACCOUNT"]
        for env, place in (
            ({"FORKS_ACCOUNT": "", "XDG_STATE_HOME": str(state)}, state),
            ({"XDG_STATE_HOME": "relative"}, home),
            ({"XDG_STATE_HOME": ""}, home),
        ):
            assert run.ask("list", env=env).code == 0
            account = place / "forks" / "account"
            assert (account / "events.jsonl").exists()
            assert account.stat().st_mode & 0o777 == 0o700
            assert ok(run.ask_words("spend", env=env))["calls"] == 1
        assert not (run.repository / "relative").exists()
        found = sorted(path.name for path in (home / "forks" / "account").iterdir())
        assert found == ["cache", "events.jsonl", "events.lock"]

    def test_named(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is named wins; a relative path is relative to the working directory."""
        monkeypatch.chdir(run.folder)
        monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
        monkeypatch.setenv("FORKS_ACCOUNT", "here/../there")
        assert account_folder().path == run.folder / "there"
        monkeypatch.setenv("FORKS_ACCOUNT", "/else")
        assert account_folder().path == Path("/else")

    def test_a_blank_name(self, run: Run) -> None:
        """A name that is none is refused where an account is asked for, and no run suffers by it."""
        blank = {"FORKS_ACCOUNT": " "}
        assert run.ask_words("gate", env=blank).error == "empty path"
        init_paying(run)
        run.trained()
        said = run.ask("list", env=blank)
        assert (said.code, said.err) == (0, "forks: the account could not be told: empty path\n")

    def test_no_home(self) -> None:
        """Somebody without a home, like a container's user, is told how to name a place."""
        if os.getuid() != 0:
            pytest.skip("only root can become nobody")
        done = subprocess.run(
            [sys.executable, "-c", _OF_NOBODY], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout == "there is no home; name the account's folder by FORKS_ACCOUNT\n"


class TestLabels:
    """Accounts of one log are told apart by their labels."""

    def test_verbs(self, run: Run) -> None:
        """Gate, quota and spend speak of the account that is named."""
        now = datetime.now(UTC).replace(microsecond=0)
        tell(
            run,
            reading(now, seven=0.97, seven_in_s=3600, account="team"),
            spend(0.5, account="team"),
            reading(now, seven=0.2, seven_in_s=3600),
            spend(0.25),
        )
        for label, code, seven, usd in (("team", 75, 0.97, 0.5), ("default", 0, 0.2, 0.25)):
            words = ("--account", label)
            said = run.ask_words("gate", *words)
            assert (said.code, said.content["account"]) == (code, label)
            assert ok(run.ask_words("quota", *words))["seven_day"] == seven
            assert ok(run.ask_words("spend", *words))["usd"] == usd
        assert ok(run.ask_words("gate", "--acc", "nobody"))["action"] == "unknown"
        assert ok(run.ask_words("spend", "--account", "nobody"))["calls"] == 0
        assert ok(run.ask_words("quota"))["accounts"] == ["default", "team"]

    def test_init(self, run: Run) -> None:
        """A run's label is fixed at init, and is told; another label there is a usage error."""
        assert init_paying(run)["config"]["account"] == "default"
        assert init_paying(run, "--account", "team")["changed_fields"] == ["account"]
        run.trained()
        ok(run.ask("list"))
        assert {line["account"] for line in Account(run).booked()} == {"team"}
        given = ("--model", "claude-opus-4-5", "--binary", str(run.client))
        assert run.ask("init", *given, "--account", "a/b").error == "usage"
        assert run.ask("init", *given, "--account", "other").error.startswith("init values differ")
