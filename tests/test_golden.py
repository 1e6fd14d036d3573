"""A whole life in a few dozen lines, as version 1 of the format wrote it.

``golden/v1.jsonl`` must never need a change to be read. A later format adds a file of its own
beside it, and an upcaster; whoever finds that this file has to be edited has broken every log
there is.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from forks_core.reducer import evolve, fold
from forks_core.registry import INITIAL, Ended, Registry, Retired
from forks_core.transact import known_events
from forks_events.chain import link, scan, verify
from forks_events.codec import TYPES
from forks_events.envelope import EMPTY, Head, decode, encode
from forks_events.jobs import JobSettled
from tests.golden.make import make

GOLDEN = (Path(__file__).parent / "golden" / "v1.jsonl").read_bytes()
HEAD = Head(
    seq=78,
    hash="1d97f7f77e4936ba3e1b575dc76379d2b1e654d2de53cbd056e04c8f47ffbddd",
)
SCAN = scan(GOLDEN)
EVENTS, UNKNOWN = known_events(SCAN.envelopes)


class TestReading:
    """The checked-in bytes are read for ever, and tell the same story."""

    def test_whole(self) -> None:
        """Every line is of a whole commit, known, and what was written: the head is held here."""
        assert SCAN.length == len(GOLDEN)
        assert UNKNOWN == 0
        assert SCAN.head == HEAD
        assert verify(GOLDEN, HEAD) == SCAN

    def test_every_event(self) -> None:
        """Every event class of the first version is used; a later class has a later story."""
        assert {type(event) for event in EVENTS} == set(TYPES.values())

    def test_the_story(self) -> None:
        """A base fails and is trained; a fork is killed, the other one is done; both are shown."""
        registry = fold(EVENTS)
        ends = {
            name: (job.state.end.status.value, job.state.end.cost_usd, job.state.settled_at)
            for name, job in registry.jobs.items()
            if isinstance(job.state, Ended)
        }
        shown = next(event.at for event in EVENTS if isinstance(event, JobSettled))
        assert ends == {
            "j0001": ("failed", None, None),
            "j0002": ("ok", 0.48, None),
            "j0003": ("killed", None, shown),
            "j0004": ("ok", 0.61, shown),
            "j0005": ("killed", None, None),
            "j0006": ("ok", 0.22, None),
        }
        base = registry.bases["stem"]
        assert isinstance(base.state, Retired)
        assert base.active
        assert (base.job, base.active.context_tokens) == ("j0002", 48_012)
        assert registry.run is not None
        assert registry.run.tails_dropped == 1
        assert (len(registry.launches), len(registry.sessions)) == (1, 4)
        assert shown - EVENTS[0].at < timedelta(minutes=20)

    def test_law_every_prefix(self) -> None:
        """Every prefix folds, commit by commit and event by event."""
        registry: Registry = INITIAL
        for at, event in enumerate(EVENTS, 1):
            registry = evolve(registry, event)
            assert registry == fold(EVENTS[:at])

    @pytest.mark.parametrize("line", GOLDEN.splitlines(), ids=lambda line: line[9:24].decode())
    def test_law_the_same_bytes(self, line: bytes) -> None:
        """Each line is written again as it stands, while its version is the newest one."""
        assert encode(decode(line)) == line

    def test_the_same_chain(self) -> None:
        """Linked again, commit by commit, the log is the same to the byte."""
        head, data = EMPTY, b""
        for last in [envelope for envelope in SCAN.envelopes if envelope.seq == envelope.commit]:
            events, _ = known_events([e for e in SCAN.envelopes if e.commit == last.commit])
            _, more, head = link(head, last.by, events)
            data += more
        assert (head, data) == (SCAN.head, GOLDEN)


def test_made_by_decisions() -> None:
    """The story was told by decide and link, and is told so still."""
    assert make() == GOLDEN
