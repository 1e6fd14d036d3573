"""Laws of attempts: whatever a client says, and whatever goes wrong in whatever order."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_core.rules.attempts import Verdict, infra_kind, trial_status, verdict
from forks_core.rules.backoff import BACKOFF_CAP_S
from forks_events.study import Attempts
from forks_events.trials import InfraKind, TrialStatus
from forks_events.words import ErrorKind
from tests.claude.lines import init, limit, result, says
from tests.fates import LOST, TIMED_OUT, Told, failed
from tests.strategies import reach
from tests.studies import went

KINDS = st.sampled_from([*InfraKind, None])
LIMITS = st.builds(
    Attempts,
    overloaded=st.integers(1, 6),
    other=st.integers(1, 4),
    auth=st.integers(1, 4),
)
STORIES = st.lists(KINDS, max_size=30).map(lambda kinds: [*kinds, None])
"""What would go wrong if it were tried as often; in the end nothing does."""


def judged(story: Sequence[InfraKind | None], limits: Attempts) -> list[Verdict]:
    """Try until it is over, or given up."""
    verdicts: list[Verdict] = []
    for count in range(1, len(story) + 1):
        verdicts.append(verdict(story[:count], limits))
        if verdicts[-1].final or verdicts[-1].gives_up:
            break
    return verdicts


class TestVerdicts:
    """Laws of what follows from attempts."""

    @pytest.mark.rule("R3.2", "R3.3", "R3.4", "R3.5", "R3.6")
    @given(STORIES, LIMITS)
    def test_law_one_thing_follows(self, story: list[InfraKind | None], limits: Attempts) -> None:
        """A trial is over, or given up, or waits: one of the three, and it comes to an end."""
        verdicts = judged(story, limits)
        for one in verdicts:
            assert [one.final, one.gives_up, one.wait is not None].count(True) == 1
            assert one.final or not one.excluded
            assert one.wait_s is None or 0 < one.wait_s <= BACKOFF_CAP_S
        assert verdicts[-1].wait is None

    @pytest.mark.rule("R3.3", "R3.4", "R3.5")
    @given(STORIES, LIMITS)
    def test_law_no_more_attempts_than_may_be(
        self, story: list[InfraKind | None], limits: Attempts
    ) -> None:
        """Of each kind there are as many attempts as the plan says, but for limits."""
        tried = story[: len(judged(story, limits))]
        shared = [kind for kind in tried if kind and kind.value not in {"rate_limit", "overloaded"}]
        assert tried.count(InfraKind.OVERLOADED) <= limits.overloaded
        assert len(shared) <= max(limits.other, limits.auth)

    @pytest.mark.rule("R3.6", "R3.7")
    @given(STORIES, LIMITS)
    def test_law_excluded_is_what_failed(
        self, story: list[InfraKind | None], limits: Attempts
    ) -> None:
        """A trial is excluded when the last attempt failed on infrastructure, and then only."""
        verdicts = judged(story, limits)
        if verdicts[-1].final:
            assert verdicts[-1].excluded is (story[len(verdicts) - 1] is not None)

    @pytest.mark.parametrize(
        "end",
        [
            lambda last: last.excluded,
            lambda last: last.final and not last.excluded,
            lambda last: last.gives_up,
        ],
    )
    def test_reachability(self, end: object) -> None:
        """Each of the ends is drawn, behind more than one attempt."""
        assert callable(end)
        limits = Attempts(overloaded=4, other=2, auth=2)
        assert reach(
            STORIES, lambda story: len(judged(story, limits)) > 2 and end(judged(story, limits)[-1])
        )


TEXTS = st.sampled_from(
    [
        "You've hit your weekly limit",
        "API Error: 529 Overloaded",
        "Please run /login",
        "rate_limit_error 429",
        "No conversation found",
        "Done.",
    ]
) | st.text(max_size=20)


class TestWords:
    """Laws of what is read of a client."""

    @pytest.mark.rule("E6")
    @given(st.lists(TEXTS, min_size=1, max_size=3), TEXTS, st.integers(0, 3))
    @settings(max_examples=60)
    def test_law_words_of_good_answers_never_count(
        self, said: list[str], text: str, code: int
    ) -> None:
        """Whatever the agent says on its way, a good result fails on nothing."""
        talk = [
            says(f"m{at}", content=[{"type": "text", "text": words}])
            for at, words in enumerate(said)
        ]
        call = went(Told(lines=(init(), *talk, result(result=text)), exit_code=code))
        assert infra_kind(call) is None
        assert trial_status(call, None) is TrialStatus.COMPLETED

    def test_reachability_of_words(self) -> None:
        """The same words count in an error."""
        for text in ("You've hit your weekly limit", "API Error: 529 Overloaded"):
            assert infra_kind(went(Told(lines=(init(), failed(text)), exit_code=1)))

    @pytest.mark.rule("R3.1", "R3.7")
    @given(
        st.lists(
            st.sampled_from(
                [
                    init(),
                    says(),
                    limit("rejected"),
                    limit("allowed"),
                    failed("?", 529),
                    failed("?", 401),
                    failed("?"),
                    result(),
                    result(subtype="error_max_turns", is_error=True),
                ]
            ),
            max_size=5,
        ),
        st.sampled_from([None, LOST, TIMED_OUT]),
        st.sampled_from([None, 0, 1, -9]),
        st.sampled_from([None, ErrorKind.AUTH, ErrorKind.STARTUP]),
    )
    @settings(max_examples=80)
    def test_law_status_and_kind_agree(
        self,
        lines: list[dict[str, object]],
        imposed: object,
        code: int | None,
        stderr: ErrorKind | None,
    ) -> None:
        """Every call has a status; it is infra_error just when something failed in time."""
        call = went(
            Told(lines=tuple(lines), exit_code=code, stderr=stderr, imposed=imposed)  # type: ignore[arg-type]
        )
        kind = infra_kind(call)
        status = trial_status(call, kind)
        assert (status is TrialStatus.TIMEOUT) is (imposed is TIMED_OUT)
        assert (status is TrialStatus.INFRA_ERROR) is (
            kind is not None and imposed is not TIMED_OUT
        )
