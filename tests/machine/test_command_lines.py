"""Real command lines in any order, crashes between and within them: the laws hold all the same."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from forks_core.registry import Active
from forks_core.system.checkpoint import WORTH_IT
from forks_events.words import Kind
from tests.log_view import Line
from tests.machine.house import House

BASES = ("red", "green", "blue", "grey")
VERBS = ("train", "fork", "continue", "wait", "list", "kill", "expire", "show")
CRASHES = (
    *((verb, moment) for verb in VERBS for moment in ("at once", "later", "locking")),
    *((verb, "spawning") for verb in ("train", "fork", "continue")),
    *((verb, "killing") for verb in ("kill", "expire")),
)
WAITS: tuple[tuple[str, ...], ...] = (
    ("--all",),
    ("--all", "--any"),
    ("j0001",),
    ("j0001", "j0002"),
)
SCRIPTS = ("quick", "obedient", "failing", "limited", "mute", "plain", "setsid", "stdout")
numbers = st.integers(min_value=0, max_value=2**16)
verbs = st.sampled_from(VERBS)

_REAL: dict[str, Any] = {
    "deadline": None,
    "database": None,
    # To play it again takes as long, and is never the same: processes are what they are.
    "phases": (Phase.generate,),
    "report_multiple_bugs": False,
    "suppress_health_check": list(HealthCheck),
}
SHORT = settings(max_examples=3, derandomize=True, **_REAL)
EXAMPLES = int(os.environ.get("FORKS_MACHINE_EXAMPLES", "60"))
LONG = settings(max_examples=EXAMPLES, stateful_step_count=25, **_REAL)

# A move's name, and what is drawn for it: never anything that depends on what happened.
MOVES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "ask": {"verb": verbs, "n": numbers},
    "launch": {"verb": st.sampled_from(("fork", "fork", "continue")), "n": numbers},
    "ask_freshly": {"verb": verbs, "n": numbers},
    "ask_at_once": {"first": verbs, "second": verbs, "n": numbers, "m": numbers},
    "crash": {
        "crash": st.sampled_from(CRASHES),
        "n": numbers,
        "late": st.integers(1, 60) | st.integers(1, 5),
    },
    "open_a_gate": {"n": numbers},
    "kill_one": {"n": numbers, "supervisor": st.booleans()},
    "kill_both": {"n": numbers},
    "tear": {"n": numbers, "nul": st.booleans()},
    "corrupt": {"n": numbers},
    "be_silent": {},
}
_Move = TypeVar("_Move", bound=Callable[..., None])


def move(name: str) -> Callable[[_Move], _Move]:
    """Make a rule of a method."""
    drawn: Any = MOVES[name]
    return cast("Callable[[_Move], _Move]", rule(**drawn))


class CommandLines(RuleBasedStateMachine):
    """Verbs, releases of clients, and damage, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="forks-machine-"))
        self.house = House(self.folder)

    @initialize()
    def begin(self) -> None:
        """A base is trained, so that forks are not rare; at length: then checkpoints are worth it."""
        at_length: Line = {"retry": {"count": WORTH_IT, "delay_ms": 0}}
        said: Line = {"say": self.house.secret}
        self.house.trained(at_length, said, base=BASES[0], text=self.house.secret)

    # What is asked

    @move("ask")
    def ask(self, verb: str, n: int) -> None:
        """Somebody asks for something, by a process of its own."""
        self.house.command(*self.words(verb, n))

    @move("launch")
    def launch(self, verb: str, n: int) -> None:
        """Somebody has work to do."""
        self.house.command(*self.words(verb, n))

    @move("ask_freshly")
    def ask_freshly(self, verb: str, n: int) -> None:
        """Somebody asks, by the program itself."""
        self.house.fresh(*self.words(verb, n))

    @move("ask_at_once")
    def ask_at_once(self, first: str, second: str, n: int, m: int) -> None:
        """Two ask at the same time."""
        words = (self.words(first, n), self.words(second, m))
        both = [self.house.begin(*each) for each in words]
        for started in both:
            self.house.finish(started)
        self.house.note("two at once")

    @move("crash")
    def crash(self, crash: tuple[str, str], n: int, late: int) -> None:
        """A command is killed in the middle of its work."""
        verb, moment = crash
        self.house.crash(moment, late, *self.words(verb, n))

    def words(self, verb: str, n: int) -> tuple[str, ...]:
        """The words of a verb, about something that is known by now, or not."""
        registry = self.house.registry()
        jobs, bases = sorted(registry.jobs), sorted(registry.bases)
        forks = [name for name in jobs if registry.jobs[name].spec.kind is Kind.FORK]
        job = [*jobs, "j0099"][n % (len(jobs) + 1)]
        running = [name for name in jobs if not registry.jobs[name].ended]
        base = [*bases, "none"][n % (len(bases) + 1)]
        active = [name for name in bases if isinstance(registry.bases[name].state, Active)]
        match verb:
            case "train":
                return (verb, "--base", BASES[n % len(BASES)], "--brief", self.brief(n))
            case "fork":
                force = ("--force",) if n % 5 == 0 else ()
                named = ("--base", [*active, base][n % (len(active) + 1)], "--block", f"b {n % 3}")
                return (verb, *named, *force, "--brief", self.brief(n))
            case "continue":
                fork = [*forks, job][n % (len(forks) + 1)]
                return (verb, "--job", fork, "--brief", self.brief(n))
            case "wait":
                return (verb, *WAITS[n % len(WAITS)], "--timeout", "1")
            case "kill":
                return (verb, "--job", [*running, job][n % (len(running) + 1)])
            case "expire":
                return (verb, "--all") if n % 7 == 0 else (verb, "--base", base)
            case "show":
                return (verb, job if n % 2 else base)
            case _:
                return (verb,)

    def brief(self, n: int) -> str:
        """A brief whose client does what the number says, once its gate is open."""
        script = SCRIPTS[n % len(SCRIPTS)]
        house = self.house
        gate: Line = {
            "wait_for": {"path": f"{house.folder}/go-{house._briefs + 1}", "within_s": 90}
        }
        said: Line = {"say": house.secret}
        steps: dict[str, tuple[Line, ...]] = {
            "quick": (said,),
            "obedient": (gate, said),
            "failing": (gate, {"crash": 3}),
            "limited": (gate, {"reject": "five_hour"}),
            "mute": (said, {"sleep": 300}),
        }
        if script not in steps:
            steps[script] = ({"leave": {"kind": script, "seconds": 300}}, gate, said)
        house.note(f"script {script}")
        return house.brief(*steps[script], text=house.secret)

    # What happens

    @move("open_a_gate")
    def open_a_gate(self, n: int) -> None:
        """A client may go on; one that was to fail fails."""
        jobs = self.house.running()
        if jobs:
            source = Path(jobs[n % len(jobs)].spec.brief_source)
            source.with_name(source.stem.replace("brief", "go")).touch()
            self.house.note("gate opened")

    @move("kill_one")
    def kill_one(self, n: int, supervisor: bool) -> None:  # noqa: FBT001
        """A supervisor dies, or a client."""
        self.house.kill_processes(n, supervisor=supervisor, client=not supervisor)

    @move("kill_both")
    def kill_both(self, n: int) -> None:
        """Both die."""
        self.house.kill_processes(n, supervisor=True, client=True)

    @move("tear")
    def tear(self, n: int, nul: bool) -> None:  # noqa: FBT001
        """A writer dies while it appends."""
        self.house.tear(n, nul=nul)

    @move("corrupt")
    def corrupt(self, n: int) -> None:
        """The checkpoint is damaged."""
        self.house.corrupt(n)

    @move("be_silent")
    def be_silent(self) -> None:
        """Time passes, for those who cannot speak any more."""
        self.house.let_silence_pass()

    @invariant()
    def the_laws_hold(self) -> None:
        """After every step."""
        self.house.note("step")
        self.house.check()

    def teardown(self) -> None:
        """All is expired and reaped; then nothing is left."""
        try:
            self.house.leave()
        finally:
            self.house.close()
            shutil.rmtree(self.folder)


@pytest.mark.machine
def test_law_long() -> None:
    """The laws hold after every step of many long stories, and in the end nothing runs."""
    run_state_machine_as_test(CommandLines, settings=LONG)


@contextmanager
def played() -> Iterator[CommandLines]:
    """A machine that a test plays by hand, from its beginning to its teardown."""
    machine = CommandLines()
    try:
        machine.begin()
        yield machine
        machine.the_laws_hold()
    finally:
        machine.teardown()


_DRAWN = [st.tuples(st.just(name), st.fixed_dictionaries(drawn)) for name, drawn in MOVES.items()]


@SHORT
@given(story=st.lists(st.one_of(_DRAWN), min_size=8, max_size=8))
def test_law_short(story: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """The laws hold after every step of a few short stories, and in the end nothing runs."""
    with played() as machine:
        for name, drawn in story:
            getattr(machine, name)(**drawn)
            machine.the_laws_hold()


@pytest.mark.machine
def test_law_every_crash() -> None:
    """Whichever verb dies, and wherever: the laws hold, and nothing is left of it in the end."""
    with played() as machine:
        for crash in CRASHES:
            for n in range(4):
                machine.crash(crash, n, n)
                machine.the_laws_hold()
        seen = {*machine.house.seen}
    for moment in ("at once", "later", "locking", "spawning"):
        assert any(f"crash {verb} {moment}" in seen for verb in VERBS), moment


class TestReachable:
    """None of the laws holds only because its case never comes: the machine reaches them all."""

    def test_every_outcome(self) -> None:
        """Every way to end, every exit code, every refusal that a race could hide."""
        with played() as machine:
            house = machine.house
            self._failed_and_swept(machine)
            self._lost_and_killed(machine)
        assert {"wait exits 0", "wait exits 3", "wait exits 4"} <= {*house.seen}
        assert {"refused: parallel cap reached", "refused: unknown base"} <= {*house.seen}
        ends = {what for what in house.seen if what.startswith("ended")}
        assert ends == {
            "ended ok None",
            "ended failed exit_code",
            "ended lost supervisor_dead",
            "ended killed kill",
            "ended killed expire",
        }
        assert {"delivered ok", "delivered failed", "flag leftovers_swept"} <= {*house.seen}
        assert {"crash of a supervisor", "crash of a client", "silence"} <= {*house.seen}

    def _failed_and_swept(self, machine: CommandLines) -> None:
        """Two forks at the cap, one that fails and one that leaves something behind."""
        house = machine.house
        for n, job in ((2, "j0002"), (6, "j0003"), (8, ""), (1, "")):
            machine.ask("fork", n)
            machine.the_laws_hold()
            if job:
                house.opened_stream(job)
        machine.ask_freshly("wait", 0)
        for n in (1, 0):
            machine.open_a_gate(n)
        assert house.end_of("j0002")["exit_code"] == 3
        assert house.end_of("j0003")["status"] == "ok"
        machine.ask_at_once("wait", "wait", 0, 0)
        machine.ask("wait", 3)
        machine.ask("wait", 2)
        assert set(house.printed) == {"j0001", "j0002", "j0003"}

    def _lost_and_killed(self, machine: CommandLines) -> None:
        """A supervisor dies, a client dies, a job is killed, a base expires."""
        house = machine.house
        machine.ask("continue", 1)
        house.started("j0004")
        machine.kill_one(0, supervisor=True)
        machine.be_silent()
        machine.ask("list", 0)
        assert house.end_of("j0004")["status"] == "lost"
        machine.ask("train", 5)
        house.started("j0005")
        machine.kill_one(0, supervisor=False)
        assert house.end_of("j0005")["exit_code"] == -9
        machine.ask("train", 1)
        machine.ask("kill", 5)
        assert house.end_of("j0006")["reason"] == "kill"
        machine.ask("train", 9)
        machine.ask("expire", 3)
        assert house.end_of("j0007")["reason"] == "expire"

    @pytest.mark.long
    def test_every_damage(self) -> None:
        """Commands die before and behind their commit; torn tails go; caches are made anew."""
        with played() as machine:
            house = machine.house
            machine.crash(("fork", "at once"), 0, 0)
            assert len(house.events("JobCreated")) == 1
            machine.crash(("fork", "locking"), 0, 0)
            assert len(house.events("JobCreated")) == 1
            machine.crash(("fork", "spawning"), 8, 1)
            assert [job.spec.job for job in house.running()] == ["j0002"]
            assert house.kinds("j0002") == ["JobCreated"]
            machine.be_silent()
            self._damaged(machine)
            machine.ask("train", 1)
            house.started("j0003")
            machine.crash(("kill", "killing"), 2, 1)
            assert house.events("KillRequested", "j0003")
            assert not house.events("JobEnded", "j0003")
            machine.kill_both(0)
        assert house.seen["tail dropped"] == 2
        assert house.seen["checkpoint corrupted"] == 6
        assert house.seen["checkpoint held"]
        assert {f"crash fork {moment}" for moment in ("at once", "locking", "spawning")} <= {
            *house.seen
        }
        assert {"torn tail", "torn tail of NULs", "ended lost supervisor_dead"} <= {*house.seen}

    def _damaged(self, machine: CommandLines) -> None:
        for nul in (False, True):
            machine.tear(700, nul=nul)
            machine.the_laws_hold()
            machine.ask("list", 0)
            machine.ask("wait", 2)
        for n in range(6):
            machine.corrupt(n + 600)
            machine.the_laws_hold()
            machine.ask("list", 0)
