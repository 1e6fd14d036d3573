"""Why a call did not hit its base's cache."""

from typing import Any

import pytest
from attrs import evolve
from immutables import Map

from forks_core.projections.misses import miss_causes
from forks_events import Event
from forks_events.run import LaunchFixed
from forks_events.stream import StreamOpened
from forks_events.values import GIT_INSTRUCTIONS
from forks_events.words import Cache, Kind, Reason, Status, Warmth
from tests.histories import LAUNCH
from tests.projections.builders import (
    PRINT,
    at,
    ended,
    fork,
    launched,
    named,
    registry,
    started,
    train,
    trained,
    turned,
)

BASE, MOVED = "c" * 40, "d" * 40
MISS: dict[str, Any] = {"cache": Cache.MISS}
OFF = LaunchFixed(
    at=at(0), fingerprint=PRINT, launch=evolve(LAUNCH, env=Map({GIT_INSTRUCTIONS: "1"}))
)


def opened(
    job: str, version: str | None, seconds: float = 11, model: str | None = LAUNCH.model
) -> StreamOpened:
    """A client of that version introduces itself."""
    return StreamOpened(
        at=at(seconds),
        job=job,
        seen_at=at(seconds),
        parser=2,
        session="s",
        model=model,
        client_version=version,
        runtime=Map(),
        mcp_failed=(),
    )


def base(version: str | None = "2.1.332") -> tuple[Event, ...]:
    """The base ``api``, trained at the commit BASE by j0001, whose client is of that version."""
    return (
        train("j0001"),
        named("j0001"),
        launched("j0001", 1),
        started("j0001", 2),
        opened("j0001", version, 3),
        turned("j0001", 4, cache_creation=1000),
        ended("j0001", 5),
        trained(5),
    )


def called(
    version: str | None = "2.1.332",
    *,
    end: dict[str, Any] | None = None,
    model: str | None = LAUNCH.model,
    **spec: Any,
) -> tuple[Event, ...]:
    """The fork j0002 that starts at 10, has its response at 12, and ends at 20: a miss."""
    return (
        fork("j0002", **{"head": BASE} | spec),
        launched("j0002", 9),
        started("j0002", 10),
        opened("j0002", version, model=model),
        turned("j0002", 12, cache_creation=1000),
        ended("j0002", 20, **MISS | (end or {})),
    )


def sibling(
    begins: float | None, responds: float | None, ends: float | None = 99
) -> tuple[Event, ...]:
    """Another fork, j0003, with its times."""
    events: list[Event] = [fork("j0003", head=BASE), launched("j0003", 6)]
    if begins is not None:
        events.append(started("j0003", begins))
    if responds is not None:
        events.append(turned("j0003", responds, cache_creation=1000))
    if ends is not None:
        events.append(ended("j0003", ends, cache=Cache.HIT))
    return tuple(events)


def causes(*events: Event, job: str = "j0002") -> tuple[str, ...]:
    """Why that job missed."""
    state = registry(*events)
    return miss_causes(state, state.jobs[job])


class TestNone:
    """Where nothing was missed nothing has to be explained."""

    @pytest.mark.parametrize("told", [Cache.HIT, None])
    def test_hit(self, told: Cache | None) -> None:
        """A hit has no cause, and neither has a job without any response, however cold it was."""
        mine = called(end={"cache": told}, base_state=Warmth.COLD, head=MOVED)
        assert causes(OFF, *base(), *mine) == ()

    def test_training(self) -> None:
        """A training reads nobody's prefix."""
        assert causes(*base(), job="j0001") == ()

    def test_still_running(self) -> None:
        """A job is judged when it has ended."""
        assert causes(*base(), *called()[:-1]) == ()


class TestEach:
    """Each cause by itself."""

    @pytest.mark.parametrize("told", [Cache.MISS, Cache.PARTIAL])
    def test_unknown(self, told: Cache) -> None:
        """Where the log shows no cause it says so."""
        assert causes(OFF, *base(), *called(end={"cache": told})) == ("unknown",)

    @pytest.mark.parametrize("state", [Warmth.COLD, Warmth.EXPIRING, Warmth.WARM])
    def test_base_cold(self, state: Warmth) -> None:
        """Only a base that was cold had lost its prefix."""
        expected = ("base_cold",) if state is Warmth.COLD else ("unknown",)
        assert causes(OFF, *base(), *called(base_state=state)) == expected

    def test_drift(self) -> None:
        """Each difference is named, but for the permission mode, which no prefix depends on."""
        drift = ("agents", "binary", "permissionMode", "tools")
        told = causes(OFF, *base(), *called(end={"drift": drift}))
        assert told == ("drift:agents", "drift:binary", "drift:tools")
        assert causes(OFF, *base(), *called(end={"drift": ("permissionMode",)})) == ("unknown",)

    @pytest.mark.parametrize(
        ("model", "other"),
        [
            ("claude-sonnet-4-5", True),
            (LAUNCH.model, False),
            (f"{LAUNCH.model}[1m]", False),
            (f"{LAUNCH.model}-20251101", False),
            (None, False),
        ],
    )
    def test_another_model(self, model: str | None, *, other: bool) -> None:
        """A client that introduces another model than was asked for has read no prefix of that."""
        expected = ("drift:model",) if other else ("unknown",)
        assert causes(OFF, *base(), *called(model=model)) == expected

    def test_head_moved(self) -> None:
        """Another HEAD than the base's is in the system prompt, where that tells of git."""
        assert causes(*base("2.1.197"), *called("2.1.197", head=MOVED)) == ("head_moved",)
        assert causes(*base("2.1.197"), *called("2.1.197", head=BASE)) == ("unknown",)

    def test_head_moved_unseen(self) -> None:
        """With the variable set the prompt does not tell of git."""
        assert causes(OFF, *base(), *called(head=MOVED)) == ("unknown",)
        assert causes(OFF, *base("2.1.197"), *called("2.1.197", head=MOVED)) == ("unknown",)

    @pytest.mark.rule("D11")
    def test_a_client_that_does_not_obey(self) -> None:
        """2.0.76 tells of git in spite of the variable."""
        old = "2.0.76"
        assert causes(OFF, *base(old), *called(old, head=MOVED)) == ("head_moved",)
        assert causes(OFF, *base(old), *called(old, head=BASE)) == ("unknown",)
        silent = called(None, head=MOVED, binary_version=old)
        assert causes(OFF, *base(None), *silent) == ("head_moved",), "as the client was launched"

    def test_a_base_without_a_commit(self) -> None:
        """Where no commit is known nothing can have moved from it."""
        events = (*base("2.0.76")[:-1], trained(5, commit=None))
        assert causes(*events, *called("2.0.76", head=MOVED)) == ("unknown",)

    def test_client_version(self) -> None:
        """Another client than the base's has another prompt; a client that tells none, who knows."""
        assert causes(OFF, *base("2.1.331"), *called("2.1.332")) == ("client_version",)
        assert causes(OFF, *base(None), *called("2.1.332")) == ("unknown",)
        assert causes(OFF, *base("2.1.331"), *called(None)) == ("unknown",)


class TestSiblings:
    """A call that started while another one of the base had no response yet missed with it."""

    @pytest.mark.parametrize(
        ("begins", "responds", "ends", "in_flight"),
        [
            (7, 11, 99, True),
            (7, 9, 99, False),
            (7, None, 99, True),
            (7, None, 11, True),
            (7, None, 9, False),
            (7, None, None, True),
            (7, 11, None, True),
            (7, 9, None, False),
            (10, 11, 99, True),
            (10.5, 11, 99, False),
            (None, None, None, False),
            (None, None, 99, False),
        ],
    )
    def test_boundaries(
        self, begins: float | None, responds: float | None, ends: float | None, *, in_flight: bool
    ) -> None:
        """It had begun, had not ended, and its first response came afterwards, or not at all."""
        told = causes(OFF, *base(), *sibling(begins, responds, ends), *called())
        assert told == (("sibling_in_flight",) if in_flight else ("unknown",))

    def test_it_is_told_by_its_first_response(self) -> None:
        """Later responses of a sibling say nothing: it has read the prefix already."""
        others = (*sibling(7, 9, None), turned("j0003", 15, input=1))
        assert causes(OFF, *base(), *others, *called()) == ("unknown",)

    def test_a_subagent(self) -> None:
        """A subagent's response has read another prefix."""
        others = (*sibling(7, None, None), turned("j0003", 9, main=False, input=1))
        assert causes(OFF, *base(), *others, *called()) == ("sibling_in_flight",)

    def test_other_bases(self) -> None:
        """A call of another base, and the training itself, are no siblings."""
        other = evolve(fork("j0003"), base="other")
        assert causes(OFF, *base(), other, *sibling(7, 11)[1:], *called()) == ("unknown",)
        again = evolve(train("j0003"), base="api")
        assert causes(OFF, *base(), again, *sibling(7, 11)[1:], *called()) == ("unknown",)

    def test_a_continue(self) -> None:
        """A continue of another fork is one, and misses for the same reason."""
        other = evolve(fork("j0003"), kind=Kind.CONTINUE, continues="j0009")
        assert causes(OFF, *base(), other, *sibling(7, 11)[1:], *called()) == ("sibling_in_flight",)
        mine = called(kind=Kind.CONTINUE, continues="j0009")
        assert causes(OFF, *base(), *sibling(7, 11), *mine) == ("sibling_in_flight",)

    def test_a_job_that_never_started(self) -> None:
        """Whoever never started a client was beside nobody."""
        never = (fork("j0002", head=BASE), launched("j0002", 9), ended("j0002", 20, **MISS))
        assert causes(OFF, *base(), *sibling(7, 11), *never) == ("unknown",)


class TestTogether:
    """Several causes are told in one order, and unknown never beside another."""

    ALL = (
        "base_cold",
        "sibling_in_flight",
        "drift:binary",
        "drift:tools",
        "head_moved",
        "client_version",
    )

    def test_all(self) -> None:
        """Base, siblings, differences, HEAD, client."""
        mine = called(
            "2.1.198",
            end={"drift": ("binary", "permissionMode", "tools"), "cache": Cache.PARTIAL},
            base_state=Warmth.COLD,
            head=MOVED,
        )
        assert causes(*base("2.1.197"), *sibling(7, 11), *mine) == self.ALL

    def test_a_base_that_is_retired(self) -> None:
        """What is known of a base stays known when it is retired."""
        lost = {"status": Status.LOST, "reason": Reason.SUPERVISOR_DEAD}
        told = causes(*base("2.1.197"), *called("2.1.198", end=lost, head=MOVED))
        assert told == ("head_moved", "client_version")
