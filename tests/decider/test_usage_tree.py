"""What the jobs of a tree cost, added up, is what the account is billed: whatever the client does."""

import math

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_events.values import Usage
from forks_events.words import UsageBasis
from tests.decider.bill import Tree
from tests.decider.plans import (
    CARRIED,
    FRESH,
    MILLION,
    PARTS,
    PLANS,
    SHAPES,
    WITHOUT_RESULT,
    Part,
    Plan,
)
from tests.decider.world import MODEL
from tests.strategies import drawn

# A training must end well, or there is nothing to fork.
TRAININGS = st.builds(
    lambda shape, first, second: Plan(shape=shape, first=main(first), second=main(second)),
    st.sampled_from(["one", "two", "note_last", "crash_last", "reset", "reset_early"]),
    PARTS,
    PARTS,
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["fork", "continue", "continue", "end", "end"]),
        st.sampled_from([0, 0, 0, 1, 2, 3]),
        PLANS,
    ),
    min_size=4,
    max_size=14,
)
CLIENTS = [(FRESH, FRESH), (CARRIED, CARRIED), (FRESH, CARRIED)]


def main(part: Part) -> Part:
    """The same part as a training does it: by the model that was asked for."""
    responses = tuple((MODEL, True, usage) for _, _, usage in part.responses)
    return evolve(part, responses=responses)


@frozen(kw_only=True)
class Story:
    """How a tree grows: by which clients, from which training, in which steps."""

    clients: tuple[str, str]
    training: Plan
    steps: tuple[tuple[str, int, Plan], ...]


STORIES = st.builds(
    Story, clients=st.sampled_from(CLIENTS), training=TRAININGS, steps=STEPS.map(tuple)
)


def grown(story: Story) -> Tree:
    """Grow it, and end whatever still runs, the last one first."""
    tree = Tree(version=story.clients[0], upgraded=story.clients[1])
    tree.grow(story.training)
    for what, who, plan in story.steps:
        match what:
            case "end":
                tree.end(who)
            case "continue" if tree.go_on(who, within(plan)):
                pass
            case _:
                tree.fork(plan)
    while tree.running:
        tree.end(len(tree.running) - 1)
    return tree


def within(plan: Plan) -> Plan:
    """What a continue does: nobody resumes the session that a continue was reset to."""
    return evolve(plan, shape=plan.shape.replace("reset_early", "two").replace("reset", "two"))


def is_out_of_order(tree: Tree) -> bool:
    """Whether some call ended before one that began earlier."""
    return tree.order != sorted(tree.order)


def part(prompt: int, millionths: int) -> Part:
    """One response of so many prompt tokens."""
    return Part(responses=((MODEL, True, Usage(input=prompt, output=9)),), millionths=millionths)


def plan(shape: str, prompt: int, millionths: int, more: int = 1, again: int = 1) -> Plan:
    """A call of one part, or of two."""
    return Plan(shape=shape, first=part(prompt, millionths), second=part(more, again))


def costs(tree: Tree) -> list[float | None]:
    """What each job cost, by number."""
    return [tree.ends[job].cost_usd for job in sorted(tree.ends)]


@pytest.mark.rule("D7", "B23.4", "B23.5")
class TestLaw:
    """No call is billed twice, and none is forgotten."""

    @settings(deadline=None, max_examples=60)
    @given(STORIES)
    def test_law_the_account(self, story: Story) -> None:
        """The jobs' costs add up to what the calls with a result cost, and none is negative."""
        tree = grown(story)
        known = [end.cost_usd for end in tree.ends.values() if end.cost_usd is not None]
        assert all(cost >= 0 for cost in known)
        assert math.fsum(known) == pytest.approx(
            sum(tree.client.billed.values()) / MILLION, abs=1e-8
        )

    @settings(deadline=None, max_examples=40)
    @given(STORIES)
    def test_law_each_its_own(self, story: Story) -> None:
        """Each job is booked its own call, tokens and money, and unknown is not zero."""
        tree = grown(story)
        for job, told in tree.ends.items():
            planned = tree.plans[job]
            if planned.shape in WITHOUT_RESULT:
                assert (told.cost_usd, told.usage_basis) == (None, None)
                continue
            assert told.cost_usd == pytest.approx(tree.client.billed[job] / MILLION, abs=1e-8)
            assert told.usage is not None
            own = [usage for of in planned.parts for _, _, usage in of.responses]
            assert told.usage.prompt == sum(usage.prompt for usage in own)
            assert told.usage.output == sum(usage.output for usage in own)

    def test_reachability(self) -> None:
        """Deep trees, ends out of order, resets, kills and each basis, under all clients."""
        trees = [grown(story) for story in drawn(STORIES, 80)]
        for version, upgraded in CLIENTS:
            of = [tree for tree in trees if (tree.version, tree.upgraded) == (version, upgraded)]
            assert any(max(tree.depth.values(), default=0) > 1 for tree in of)
            assert any(len(tree.forks) > 2 and is_out_of_order(tree) for tree in of)
            assert {"killed", "reset"} <= {one.shape for tree in of for one in tree.plans.values()}
        assert set(SHAPES) == {one.shape for tree in trees for one in tree.plans.values()}
        ends = [end for tree in trees for end in tree.ends.values()]
        assert {end.usage_basis for end in ends} == {None, *UsageBasis}


@pytest.mark.rule("D7")
class TestWorked:
    """The cases that the law came from, in numbers."""

    def test_three_forks_of_five_dollars(self) -> None:
        """Totals of 5.10, 5.20 and 5.05 over a base of 5.00 cost 0.10, 0.20 and 0.05."""
        tree = Tree(version=CARRIED, upgraded=CARRIED)
        tree.grow(plan("one", 9000, 5_000_000))
        for millionths in (100_000, 200_000, 50_000):
            tree.fork(plan("one", 100, millionths))
        for who in (2, 0, 0):
            tree.end(who)
        assert costs(tree) == [5.0, 0.1, 0.2, 0.05]
        assert math.fsum(cost or 0.0 for cost in costs(tree)) == pytest.approx(5.35)

    @pytest.mark.parametrize("clients", [(FRESH, FRESH), (CARRIED, CARRIED)])
    def test_resumed(self, clients: tuple[str, str]) -> None:
        """0.25 and then 0.028 more are 0.278, whether the client says 0.028 or 0.278."""
        tree = Tree(version=clients[0], upgraded=clients[1])
        tree.grow(plan("one", 9000, 1))
        tree.fork(plan("one", 100, 250_000))
        tree.end(0)
        assert tree.go_on(0, plan("one", 120, 28_000))
        tree.end(0)
        assert costs(tree) == [1e-6, 0.25, 0.028]

    @pytest.mark.parametrize("clients", [(FRESH, FRESH), (CARRIED, CARRIED)])
    def test_a_call_that_outgrows_its_parent(self, clients: tuple[str, str]) -> None:
        """A large call of its own looks as if it were carried on; what was seen decides."""
        tree = Tree(version=clients[0], upgraded=clients[1])
        tree.grow(plan("one", 1000, 40))
        tree.fork(plan("one", 9000, 3_000_000))
        tree.end(0)
        assert costs(tree) == [0.00004, 3.0]

    @pytest.mark.parametrize("clients", [(FRESH, FRESH), (CARRIED, CARRIED)])
    @pytest.mark.parametrize(("shape", "cost"), [("reset", 0.03), ("reset_early", 0.02)])
    def test_reset(self, clients: tuple[str, str], shape: str, cost: float) -> None:
        """What was counted before a reset and after it is added; what follows starts after it."""
        tree = Tree(version=clients[0], upgraded=clients[1])
        tree.grow(plan("one", 9000, 157_755))
        tree.fork(plan(shape, 100, 10_000, 200, 20_000))
        tree.end(0)
        assert tree.ends["j0002"].session == "s-2'"
        assert tree.go_on(0, plan("one", 70, 5_000))
        tree.end(0)
        assert costs(tree) == [0.157755, cost, 0.005]

    @pytest.mark.parametrize("clients", [(FRESH, FRESH), (CARRIED, CARRIED)])
    def test_killed_calls_between(self, clients: tuple[str, str]) -> None:
        """What was killed without a result leaves the counters where its parent's stood."""
        tree = Tree(version=clients[0], upgraded=clients[1])
        tree.grow(plan("one", 9000, 157_755))
        tree.fork(plan("killed", 100, 10_000))
        tree.end(0)
        for _ in range(2):
            assert tree.go_on(0, plan("one", 70, 5_000))
            tree.end(0)
        assert costs(tree)[2:] == [0.005, 0.005]


class TestCutAndReset:
    """A call that is cut after a result, or whose conversation is reset, is booked its own money."""

    def test_killed_in_its_second_turn(self) -> None:
        """A carried call that was killed after a result costs what that result says."""
        tree = Tree(version=CARRIED, upgraded=CARRIED)
        tree.grow(plan("one", 100, 1_000_000))
        tree.fork(plan("cut", 10, 100_000, 90))
        tree.end(0)
        assert costs(tree) == [1.0, 0.1]

    def test_a_continue_that_was_reset(self) -> None:
        """The next continue resumes the fork's session, whose counters went on until the reset."""
        tree = Tree(version=CARRIED, upgraded=CARRIED)
        tree.grow(plan("one", 9000, 157_755))
        tree.fork(plan("one", 100, 10_000))
        tree.end(0)
        for shape in ("reset", "one"):
            assert tree.go_on(0, plan(shape, 100, 10_000, 200, 20_000))
            tree.end(0)
        assert costs(tree) == [0.157755, 0.01, 0.03, 0.01]
