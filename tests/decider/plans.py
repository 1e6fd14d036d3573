"""What a call will do and what it costs, made small: in responses, results, resets and kills.

The money is in millionths of a dollar here, so that sums are exact.
"""

from attrs import frozen
from hypothesis import strategies as st
from immutables import Map

from forks_events.values import Counters, Spent, Usage, total
from tests.decider.world import MODEL

MILLION = 10**6
MODELS = (MODEL, f"{MODEL}[1m]", "claude-haiku-4-5")
FRESH, CARRIED = "2.1.276", "2.1.332"
"""The last version that counts each call by itself, and one that carries its counters on."""
WITHOUT_RESULT = frozenset({"killed"})
SHAPES = (
    "one",
    "one",
    "two",
    "note_first",
    "note_last",
    "crash_last",
    "error",
    "refused",
    "killed",
    "reset",
    "reset_early",
)


@frozen(kw_only=True)
class Part:
    """What a call does until a result.

    Args:
        responses: Model, whether it is the main thread's, and tokens, of each.
        millionths: What it costs.
    """

    responses: tuple[tuple[str, bool, Usage], ...]
    millionths: int

    @property
    def spent(self) -> Spent:
        """What a client counts for it."""
        models: Map[str, Counters] = Map()
        for model, _, usage in self.responses:
            before = models.get(model, Counters()).usage
            models = models.set(model, Counters(usage=total((before, usage))))
        return Spent(cost_usd=self.millionths / MILLION, models=models)


@frozen(kw_only=True)
class Plan:
    """What a call will do: in one part or two, and how it ends.

    Args:
        shape: One of SHAPES; or ``cut``: killed in its second part, after the first one's result.
        first: What it does first.
        second: What it does then, if it does.
    """

    shape: str
    first: Part
    second: Part

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that a result tells of."""
        match self.shape:
            case "killed" | "refused":
                return ()
            case "two" | "reset":
                return self.first, self.second
            case "reset_early":
                return (self.second,)
            case _:
                return (self.first,)


COUNTS = st.sampled_from([0, 1, 50, 900, 15_000, 400_000])
USAGES = st.builds(
    lambda plain, output, written, read: Usage(
        input=plain, output=output, cache_creation=written, cache_read=read
    ),
    COUNTS.filter(bool),
    COUNTS,
    COUNTS,
    COUNTS,
)
PARTS = st.builds(
    Part,
    responses=st.lists(
        st.tuples(st.sampled_from(MODELS), st.booleans(), USAGES), min_size=1, max_size=3
    ).map(tuple),
    millionths=st.sampled_from([1, 40, 8_666, 157_755, 3_000_000]),
)
PLANS = st.builds(Plan, shape=st.sampled_from(SHAPES), first=PARTS, second=PARTS)
