"""Every field report: what a correct supervisor concludes of it, or where that is proved."""

import ast
from pathlib import Path

import pytest

from forks_core.claude.framing import Framer
from forks_core.claude.stream import parse
from tests.claude.lines import JOB
from tests.claude.reports import flags, host, limits, lines, money, results
from tests.claude.reports.case import Case, told

ROOT = Path(__file__).parents[2]
CASES: tuple[Case, ...] = (
    *results.CASES,
    *flags.CASES,
    *lines.CASES,
    *money.CASES,
    *limits.CASES,
    *host.CASES,
)
REPORTS = {
    "A": (1, 2, 3, 4, 6, 8, 9, 10, 12, 13, 15),
    "B": (1, 3, 5, 6, 7, 8, 9, 10, 11),
    "C": (1, 2, 3, 5, 6, 9, 10, 11, 12, 13, 14),
    "D": (1, 2, 4, 5, 7, 8, 10, 11),
    "E": (1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 13),
    "F": (1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13),
}
"""All reports by their references; a number that is missing is no report."""
ELSEWHERE = {
    "A1": "tests/rules/test_supervision.py::TestStalled::test_told",
    "A2": "tests/system/test_supervisor.py::TestLimits::test_a_client_that_lingers",
    "A4": "tests/rules/test_supervision.py::TestStalled::test_stalled_is_not_overdue",
    "C2": "tests/claude/test_framing.py::TestCap::test_over_the_cap",
    "C3": "tests/claude/test_laws.py::TestHugeLines::test_many_long_lines",
    "C6": "tests/claude/test_framing.py::TestLines::test_characters_stay_whole",
    "C10": "tests/rules/test_supervision.py::TestOverdue::test_within_all_limits",
    "C14": "tests/decider/test_readings.py::TestLaws::test_law_each_once_in_order",
    "D5": "tests/decider/test_usage_tree.py::TestWorked::test_three_forks_of_five_dollars",
    "E4": "tests/rules/test_quota.py::TestCurrent::test_an_old_high_reading_ends",
    "E5": "tests/reducer/test_quota.py::TestWindows::test_no_erasing",
    "E7": "tests/rules/test_quota.py::TestOverage::test_rejected_with_overage",
    "E9": "tests/claude/test_listening.py::TestListening::test_retry",
    "E12": "tests/decider/test_fork.py::TestTheCap::test_the_third_fork_waits_for_a_place",
    "E13": "tests/rules/test_quota.py::TestGate::test_rejected_five_hour",
    "F1": "tests/system/test_supervisor.py::TestLimits::test_limits",
    "F4": "tests/system/test_nobody_escapes.py::TestNobodyEscapes::test_every_kind",
    "F5": "tests/system/test_supervisor_leftovers.py::TestLeftovers::test_every_kind",
    "F6": "tests/rules/test_supervision.py::TestStalled::test_told",
    "F7": "tests/rules/test_supervision.py::TestOverdue::test_limits_are_strict",
    "F11": "tests/decider/test_ending.py::TestFlags::test_usage_mismatch",
    "F13": "tests/decider/test_jobs.py::TestKill::test_a_supervisor_that_ends_it_first_keeps_its_verdict",
}
"""Reports that are about supervision, or of which more is proved there."""


def params() -> list[object]:
    """The cases as parameters."""
    return [pytest.param(case, id=case.label) for case in CASES]


@pytest.mark.rule("B25.2", "D14")
@pytest.mark.parametrize("case", params())
def test_report(case: Case) -> None:
    """The report's input is concluded as the report says it should be."""
    made = told(case)
    assert {key: made[key] for key in case.then} == dict(case.then)


def test_all_reports_are_there() -> None:
    """Each report has a case, or a test elsewhere that shows it."""
    expected = {f"{part}{number}" for part, numbers in REPORTS.items() for number in numbers}
    assert {case.ref for case in CASES} | ELSEWHERE.keys() == expected
    assert len({case.label for case in CASES}) == len(CASES), "each case has a name of its own"


@pytest.mark.parametrize("node", ELSEWHERE.values())
def test_elsewhere(node: str) -> None:
    """A test that is referred to is there."""
    path, *names = node.split("::")
    scope: list[ast.stmt] = ast.parse((ROOT / path).read_text("utf-8")).body
    for name in names:
        found = [
            one
            for one in scope
            if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name == name
        ]
        assert len(found) == 1, name
        scope = found[0].body


def test_cut_anywhere() -> None:
    """A case that comes in chunks of any size is the same case."""
    for case in CASES:
        if len(case.raw) > 20_000:
            continue
        for size in (5, 4096):
            framer = Framer()
            parts = range(0, len(case.raw), size)
            heard = [line for at in parts for line in framer.feed(case.raw[at : at + size])]
            heard += framer.close()
            assert parse(b"\n".join(heard), JOB) == parse(case.raw, JOB), case.label


def test_case_reaches_every_status() -> None:
    """The cases end in every way that there is, and in every kind of error."""
    ends = [told(case) for case in CASES]
    assert {end["status"] for end in ends} == {"ok", "failed", "timeout", "killed", "lost"}
    kinds = {end["kind"] for end in ends}
    assert len(kinds) > 12
