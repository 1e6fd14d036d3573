"""A mutant at work: a child of this process that loads it, and runs the tests that must find it."""

import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from enum import Enum
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType
from typing import Any

import pytest
from attrs import define, frozen

from tests.mutation.mutants import ROOT, Mutant

_MEMORY = 4 * 1024**3
_SOURCE_ROOTS = ("events/", "templates/")


class Outcome(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"


@frozen(kw_only=True)
class Finding:
    """A mutant's outcome, and the test that found it."""

    mutant: Mutant
    outcome: Outcome
    by: str = ""


def module_of(file: str) -> str:
    """The module that a source is imported as."""
    for root in _SOURCE_ROOTS:
        file = file.removeprefix(root)
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


class Loader(SourceFileLoader):
    """Gives a module code that is not what its file holds."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """The code with the fault in it."""
        del fullname
        return self._code


class Finder:
    """Finds one module in another form, and no other."""

    def __init__(self, mutant: Mutant) -> None:
        self._name = module_of(mutant.file)
        self._path = ROOT / mutant.file
        self._code = mutant.code()

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """The module's place, with a loader of ours."""
        if name != self._name:
            return None
        package = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        path = str(self._path)
        loader = Loader(name, path, self._code)
        return importlib.util.spec_from_file_location(
            name, path, loader=loader, submodule_search_locations=package
        )


class Witness:
    """Notes which test failed first."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        """A module that cannot be imported any more finds a mutant too."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


@define
class Child:
    """A forked child that judges one mutant."""

    mutant: Mutant
    pid: int
    pipe: int
    deadline: float

    def poll(self) -> Finding | None:
        """What it found, or None while it works; one that is out of time is ended."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0 and time.monotonic() < self.deadline:
            return None
        if pid == 0:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.pipe)
            return Finding(mutant=self.mutant, outcome=Outcome.TIMED_OUT)
        with os.fdopen(self.pipe, "rb") as pipe:
            by = pipe.read().decode()
        if status == 0:
            return Finding(mutant=self.mutant, outcome=Outcome.SURVIVED)
        return Finding(mutant=self.mutant, outcome=Outcome.KILLED, by=by or "it crashed")


def judge(mutant: Mutant, stages: Sequence[Sequence[str]], timeout_s: float) -> Child:
    """Fork a child that judges a mutant by these tests, stage by stage."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.close(reading)
        _work(mutant, stages, writing)
    os.close(writing)
    return Child(mutant, pid, reading, time.monotonic() + timeout_s)


def _work(mutant: Mutant, stages: Sequence[Sequence[str]], writing: int) -> None:
    """Run the tests against the mutant; never returns, and exits with 0 when none has failed."""
    status = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        sys.meta_path.insert(0, Finder(mutant))
        by = _first_failure(stages)
        os.write(writing, by.encode())
        status = 1 if by else 0
    finally:
        os._exit(status)


def _first_failure(stages: Sequence[Sequence[str]]) -> str:
    """The first test that fails, or nothing."""
    for stage in stages:
        witness = Witness()
        code = pytest.main(
            [
                *("-x", "-q", "--noconftest", "--assert=plain"),
                *("-p", "no:cacheprovider", "-o", "addopts=", "-W", "ignore"),
                *("--rootdir", str(ROOT), *(str(ROOT / path) for path in stage)),
            ],
            plugins=[witness],
        )
        if witness.failed or code:
            return witness.failed or f"pytest: {code!r}"
    return ""
