"""Names: job ids, notes, phases, marks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.naming import (
    AGENT_NAME,
    BASE_NAME,
    MODEL_ID,
    in_order,
    job_number,
    marker,
    next_job,
    note_name,
    parse_phase,
)
from forks_events.envelope import Author, Envelope, decode, encode
from tests.projections.builders import fork, reached

FOREIGN = [
    "",
    "j",
    "j1",
    "j001",
    "J0001",
    "j0001x",
    "xj0001",
    "j-001",
    "j 0001",
    "j00o1",
    "j\u0661\u0662\u0663\u0664",
]
IDS = st.integers(1, 99_999).map(lambda number: f"j{number:04}")
JOBS = st.lists(IDS | st.sampled_from(FOREIGN), max_size=6)
NOTE_CHARACTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


@pytest.mark.rule("B14.4")
class TestJobIds:
    """An id is ``j`` and at least four digits; the next one is the largest number and one."""

    @pytest.mark.parametrize(
        ("jobs", "expected"),
        [
            ([], "j0001"),
            (["j0001"], "j0002"),
            (["j0007", "j0003"], "j0008"),
            (["j9999"], "j10000"),
            (["j10000", "j9999"], "j10001"),
            (FOREIGN, "j0001"),
            ([*FOREIGN, "j0041"], "j0042"),
        ],
    )
    def test_next(self, jobs: list[str], expected: str) -> None:
        """Gaps are not filled, and what has another form is ignored."""
        assert next_job(jobs) == expected

    @pytest.mark.rule("D21")
    def test_order_is_by_number(self) -> None:
        """j9999 comes before j10000, which text order would turn around."""
        assert in_order(["j10000", "j0002", "j9999"]) == ["j0002", "j9999", "j10000"]

    @pytest.mark.parametrize("job", FOREIGN)
    def test_foreign_forms(self, job: str) -> None:
        """Another form has no number, digits of another script neither."""
        assert job_number(job) == 0

    @settings(deadline=None)
    @given(JOBS)
    def test_law_greater_than_all(self, jobs: list[str]) -> None:
        """The next id is after every id there is, by number and in order."""
        new = next_job(jobs)
        assert all(job_number(job) < job_number(new) for job in jobs)
        assert in_order([new, *jobs])[-1] == new

    @settings(deadline=None)
    @given(JOBS, st.integers(1, 20))
    def test_law_never_reused(self, jobs: list[str], count: int) -> None:
        """However many are made one after the other, none is given out twice."""
        made: list[str] = []
        for _ in range(count):
            made.append(next_job([*jobs, *made]))
        assert len({*made, *jobs}) == count + len(set(jobs))

    @settings(deadline=None)
    @given(JOBS)
    def test_law_order_is_total(self, jobs: list[str]) -> None:
        """Order loses nothing, doubles nothing, and does not depend on how they came."""
        assert sorted(in_order(jobs)) == sorted(jobs)
        assert in_order(reversed(jobs)) == in_order(jobs)

    def test_reachability(self) -> None:
        """The laws look at ids of more than four digits, beside shorter ones and foreign ones."""
        assert reached(
            JOBS, lambda jobs: {0, 4, 5} <= {len(j) - 1 if job_number(j) else 0 for j in jobs}
        )


@pytest.mark.rule("B14.6")
class TestPhase:
    """A phase of digits only is a number; any other is the text that it is."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (None, None),
            ("3", 3),
            ("007", 7),
            ("0", 0),
            ("", ""),
            ("-3", "-3"),
            ("3.0", "3.0"),
            (" 3", " 3"),
            ("3\n", "3\n"),
            ("two", "two"),
            ("\u0663", "\u0663"),
            ("9" * 15, 10**15 - 1),
        ],
    )
    def test_told(self, text: str | None, expected: int | str | None) -> None:
        """Signs, points, blanks and other scripts' digits make a text."""
        assert parse_phase(text) == expected
        assert type(parse_phase(text)) is type(expected)

    @pytest.mark.parametrize("digits", [16, 20, 5000])
    def test_any_length_can_be_recorded(self, digits: int) -> None:
        """More digits than a JSON number holds stay text, so that the log can hold them."""
        phase = parse_phase("9" * digits)
        event = fork(phase=phase)
        by = Author(verb="fork", host="h", pid=1)
        line = encode(Envelope(seq=1, commit=1, by=by, prev="0" * 64, event=event))
        assert decode(line).event == event
        assert phase == "9" * digits


@pytest.mark.rule("B19.4")
class TestNotes:
    """A block's note is named after it: what is no letter, digit or ``. _ -`` becomes ``_``."""

    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            ("parser", "parser.md"),
            ("A.b_c-9", "A.b_c-9.md"),
            ("api/v2 (new)", "api_v2__new_.md"),
            ("../../etc", ".._.._etc.md"),
            ("a\nb\0c", "a_b_c.md"),
            ("Größe", "Gr__e.md"),
        ],
    )
    def test_told(self, block: str, expected: str) -> None:
        """No name leads out of the folder."""
        assert note_name(block) == expected

    @settings(deadline=None)
    @given(st.text(min_size=1))
    def test_law_one_file_of_the_folder(self, block: str) -> None:
        """Whatever the block is called, its note is one ordinary file name."""
        name = note_name(block)
        assert name.endswith(".md")
        assert set(name) <= NOTE_CHARACTERS

    def test_long_names_fit(self) -> None:
        """A block may be called anything: no file system refuses its note's name for its length."""
        assert note_name("x" * 5000) == "x" * 200 + ".md"

    def test_reachability(self) -> None:
        """The law looks at names that would lead out of the folder."""
        assert reached(st.text(min_size=1), lambda block: "/" in block)


class TestForms:
    """Bases, agents and models are named by a few plain characters."""

    @pytest.mark.rule("B15.2")
    @pytest.mark.parametrize("name", ["api", "Api.2_x-y", "-", "1"])
    def test_good_base(self, name: str) -> None:
        """Letters, digits, point, underscore and hyphen."""
        assert BASE_NAME.fullmatch(name)

    @pytest.mark.rule("B15.2")
    @pytest.mark.parametrize("name", ["", "a b", "a/b", "a:b", "ä", "api\n"])
    def test_bad_base(self, name: str) -> None:
        """And nothing else."""
        assert not BASE_NAME.fullmatch(name)

    @pytest.mark.rule("B13.7")
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("reviewer", True),
            ("team:reviewer.v2", True),
            ("...", True),
            (".", False),
            ("..", False),
            ("a/b", False),
            ("", False),
            ("..\n", False),
        ],
    )
    def test_agent(self, name: str, *, expected: bool) -> None:
        """An agent may have a colon too, and is not the folder or its parent."""
        assert (AGENT_NAME.fullmatch(name) is not None) is expected

    @pytest.mark.rule("B13.3")
    @pytest.mark.parametrize(
        ("model", "expected"),
        [
            ("claude-opus-4-5", True),
            ("claude-opus-4-5[1m]", True),
            ("opus", False),
            ("claude-", False),
            ("claude-Opus", False),
            ("claude-opus-4-5[2m]", False),
            ("claude-opus-4-5[1m][1m]", False),
            ("claude-opus-4-5\n", False),
        ],
    )
    def test_model(self, model: str, *, expected: bool) -> None:
        """A model is a full id, with its context at most once; an alias is none."""
        assert (MODEL_ID.fullmatch(model) is not None) is expected


def test_marker() -> None:
    """The mark names the run and the job, so that two runs never hit each other's processes."""
    assert marker("run-id", "j0001") == "run-id/j0001"
