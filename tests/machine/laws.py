"""What holds of a run at any moment, whatever was asked, and whoever was killed."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from forks_core.reducer import fold
from forks_core.registry import Registry
from forks_core.rules.naming import job_number
from forks_core.system.checkpoint import restore
from forks_core.system.log_file import LogFile
from forks_core.system.state_folder import StateFolder
from forks_core.transact import known_events
from forks_events import Event
from forks_events.chain import Scan, verify
from forks_events.envelope import Head
from forks_events.jobs import (
    ClientStarted,
    JobCreated,
    JobDelivered,
    JobEnded,
    JobLaunched,
    JobSettled,
    KillRequested,
)
from forks_events.words import Kind


def whole(data: bytes, known: Head) -> Scan:
    """The log is whole and chained, and still holds all that was seen of it before."""
    return verify(data, known)


def folds(events: Sequence[Event]) -> Registry:
    """The history is a legal one."""
    return fold(events)


def checkpoint_agrees(state: Path) -> bool:
    """A checkpoint that holds yields what the log folds to; tell whether there was one."""
    folder = StateFolder(state)
    log, fresh = LogFile(state), LogFile(state)
    try:
        found = restore(folder, log)
        if found is None:
            return False
        registry, head = found
        rest = log.read(head.seq + 1)
        events, _ = known_events(fresh.read().envelopes)
        assert fold(events[: head.seq]) == registry
        assert fold(known_events(rest.envelopes)[0], registry) == fold(events[: rest.head.seq])
        return True
    finally:
        log.close()
        fresh.close()


def history_is_lawful(events: Sequence[Event], cap: int) -> None:
    """Ids grow, jobs end once, forks stay under the cap, and each thing comes after its cause."""
    created: list[int] = []
    running: set[str] = set()
    launched: set[str] = set()
    ended: set[str] = set()
    unwanted: set[str] = set()
    delivered: Counter[str] = Counter()
    for event in events:
        match event:
            case JobCreated():
                created.append(job_number(event.job))
                if event.kind is not Kind.TRAIN:
                    running.add(event.job)
                    assert len(running) <= cap, event.job
            case JobLaunched():
                assert event.job not in launched | unwanted | ended
                launched.add(event.job)
            case ClientStarted():
                assert event.job in launched - ended
            case KillRequested():
                unwanted |= {event.job} - launched
            case JobEnded():
                assert event.job not in ended
                ended.add(event.job)
                running.discard(event.job)
            case JobDelivered():
                delivered[event.job] += 1
                assert event.job in ended
            case JobSettled():
                assert event.job in ended
            case _:
                pass
    assert created == sorted(set(created))
    assert set(delivered.values()) <= {1}, delivered
