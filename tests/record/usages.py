"""What the scripted API says that each prompt took: the numbers from which all costs follow.

A pair is what was written to the cache and what was read from it; every answer has 12 tokens of
plain input and 9 of output beside it. Writes are told to live for an hour.
"""

from collections.abc import Mapping
from typing import NamedTuple

from forks_core.system.loopback import Usage

INPUT, OUTPUT = 12, 9
Pairs = tuple[tuple[int, int], ...]


class Helpers(NamedTuple):
    """What an old client asks its helper models beside the work, by what it asks them."""

    files: tuple[int, int]
    warmup: Mapping[str, tuple[int, int]]
    """By the family of the model."""
    other: tuple[int, int]


class Numbers(NamedTuple):
    """The pairs of a generation of clients; a scenario without any takes those of `train`."""

    main: Mapping[str, Pairs]
    subagents: Pairs
    helpers: Helpers | None = None
    helpers_partly: Helpers | None = None
    """The helpers of `fork-cache-partial`."""

    def pair(self, scenario: str, number: int) -> Usage:
        """The usage of the main thread's answer by its number in a scenario, from 0."""
        return usage(_at(self.main.get(scenario, self.main["train"]), number))

    def subagent(self, number: int) -> Usage:
        """The usage of a subagents' answer by its number, from 0."""
        return usage(_at(self.subagents, number))


def usage(pair: tuple[int, int]) -> Usage:
    """The prompt side of an answer."""
    written, read = pair
    return Usage(input=INPUT, written=written, read=read)


def _at(pairs: Pairs, number: int) -> tuple[int, int]:
    return pairs[min(number, len(pairs) - 1)]


def numbers_of(version: tuple[int, ...]) -> Numbers:
    """The numbers for a client's version: those of the generation that it belongs to."""
    return next(numbers for since, numbers in _GENERATIONS if version >= since)


_CARRIED = Numbers(
    main={
        "train": ((15747, 0),),
        "fork": ((50, 15762),),
        "continue": ((50, 15827),),
        "fork-cache-miss": ((15812, 0),),
        "fork-cache-partial": ((7906, 7906),),
        "tools": ((15747, 0), (50, 15800), (50, 15905), (50, 16010)),
        "big-output": ((15747, 0), (50, 20807)),
        "bad-utf8": ((15747, 0), (50, 15808)),
        "leftover-child": ((15747, 0), (50, 15805)),
        "denied": ((15747, 0), (50, 15821)),
        "restricted-model": ((50, 7530),),
        "max-budget": ((15773, 0),),
        "subagent": ((14912, 0), (50, 15213), (50, 15557)),
    },
    # One calls the next: three first answers, then two come back to their results.
    subagents=((8099, 0), (8099, 0), (5520, 0), (50, 8790), (50, 8808)),
)
_FRESH = Numbers(
    main={
        "train": ((13908, 0),),
        "fork": ((50, 13923),),
        "continue": ((50, 13988),),
        "fork-cache-miss": ((13973, 0),),
        "fork-cache-partial": ((6987, 6986),),
        "tools": ((13908, 0), (50, 13961), (50, 14066), (50, 14171)),
        "big-output": ((13908, 0), (50, 18968)),
        "bad-utf8": ((13908, 0), (50, 13969)),
        "leftover-child": ((13908, 0), (50, 13966)),
        "denied": ((13908, 0), (50, 13982)),
        "restricted-model": ((50, 6900),),
        "max-budget": ((13934, 0),),
        "subagent": ((13073, 0), (50, 13374)),
    },
    # Five deep, each of them waited for.
    subagents=(
        *((7100, 0), (7100, 0), (7100, 0), (7100, 0), (4840, 0)),
        *((50, 7791), (50, 7797), (50, 7803), (50, 7809)),
    ),
)
_HELPED = Numbers(
    main={
        "train": ((8284, 0),),
        "fork": ((50, 8280),),
        "continue": ((50, 8316),),
        "fork-cache-miss": ((8330, 0),),
        "fork-cache-partial": ((4165, 4165),),
        "tools": ((8284, 0), (50, 8318), (50, 8400), (50, 8481)),
        "big-output": ((8284, 0), (50, 13325)),
        "bad-utf8": ((8284, 0), (50, 8326)),
        "leftover-child": ((8284, 0), (50, 8322)),
        "denied": ((8284, 0), (50, 8338)),
        "restricted-model": ((8285, 0),),
        "max-budget": ((8311, 0),),
        "subagent": ((7834, 0), (50, 7896)),
    },
    subagents=((4167, 0),),
    helpers=Helpers((232, 0), {"haiku": (941, 0), "sonnet": (1048, 0)}, (386, 0)),
    helpers_partly=Helpers((116, 116), {"haiku": (471, 470), "sonnet": (524, 524)}, (386, 0)),
)
_GENERATIONS = (((2, 1, 277), _CARRIED), ((2, 1), _FRESH), ((), _HELPED))
