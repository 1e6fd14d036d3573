"""The fingerprint of a launch, its drift, and the differences of two."""

import hashlib
import json
from typing import Any

import pytest
from attrs import evolve, fields
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.rules.fingerprint import (
    Found,
    changes,
    differences,
    fingerprint,
    launch_drift,
)
from forks_events.codec import structure, unstructure
from forks_events.values import Agent, Binary, FileDigest, Launch, Mcp
from tests.histories import LAUNCH, SETTINGS
from tests.projections.builders import reached
from tests.strategies import values

OTHER: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "effort": "low",
    "permission_mode": "auto",
    "tools": ("Edit", "Read"),
    "allowed_tools": ("Read",),
    "disallowed_tools": ("Bash(git push:*)",),
    "mcp": Mcp(strict=False, config=LAUNCH.mcp.config),
    "append_system_prompt": FileDigest(path="/run-forks/preamble.md", sha256="0" * 64),
    "agent": Agent(name="reviewer", path="/repo/.claude/agents/reviewer.md", sha256="1" * 64),
    "settings": FileDigest(path="/s.json", sha256="2" * 64),
    "max_turns": 3,
    "cwd": "/elsewhere",
    "binary": evolve(LAUNCH.binary, size=LAUNCH.binary.size + 1),
    "env": LAUNCH.env.set("X", "1"),
    "keep_env": ("HTTP_PROXY",),
}
CANONICAL = (
    rb'{"agent":null,"allowed_tools":["Read","Bash(git *)"],'
    rb'"append_system_prompt":{"path":"/run-forks/preamble.md","sha256":"' + b"e" * 64 + rb'"},'
    rb'"binary":{"path":"/usr/bin/claude","size":4096,"version":"2.1.332"},'
    rb'"cwd":"/r\u00e9po","disallowed_tools":[],"effort":"high",'
    rb'"env":{"A":"1","B":"2","C":"3"},"keep_env":[],"max_turns":null,'
    rb'"mcp":{"config":"/run-forks/mcp-empty.json","strict":true},'
    rb'"model":"claude-opus-4-5","permission_mode":"dontAsk","settings":null,'
    rb'"tools":["Read","Edit"]}'
)
LAUNCHES: st.SearchStrategy[Launch] = values(Launch)


@pytest.mark.rule("B13.8")
class TestFingerprint:
    """It is a digest of every field of the launch, and of nothing else."""

    def test_form(self) -> None:
        """64 hexadecimal digits, and not the same as another launch's by chance."""
        assert len(fingerprint(LAUNCH)) == 64
        assert int(fingerprint(LAUNCH), 16)

    def test_canonical(self) -> None:
        """It is SHA-256 over JSON with sorted keys, no spaces and ASCII only, at every depth."""
        launch = evolve(LAUNCH, cwd="/répo", env=Map({"B": "2", "A": "1", "C": "3"}))
        assert fingerprint(launch) == hashlib.sha256(CANONICAL).hexdigest()

    @pytest.mark.parametrize("name", [field.name for field in fields(Launch)])
    def test_every_field(self, name: str) -> None:
        """Another value of any field is another fingerprint."""
        assert fingerprint(evolve(LAUNCH, **{name: OTHER[name]})) != fingerprint(LAUNCH)

    def test_order_of_tools(self) -> None:
        """The order of a list is part of it: the client builds its prompt in that order."""
        turned = evolve(LAUNCH, tools=LAUNCH.tools[::-1])
        assert fingerprint(turned) != fingerprint(LAUNCH)

    @settings(deadline=None)
    @given(st.permutations(["A", "B", "Ü", "a", ""]))
    def test_law_insertion_order(self, names: list[str]) -> None:
        """In whatever order variables were put in, it is the same."""
        first = evolve(LAUNCH, env=Map({name: name for name in sorted(names)}))
        second = evolve(LAUNCH, env=Map({name: name for name in names}))
        assert fingerprint(first) == fingerprint(second)

    @settings(max_examples=50, deadline=None)
    @given(LAUNCHES)
    def test_law_key_order(self, launch: Launch) -> None:
        """A launch that was written and read again with its keys turned around is the same."""
        turned = dict(reversed(json.loads(json.dumps(unstructure(launch))).items()))
        assert fingerprint(structure(turned, Launch)) == fingerprint(launch)

    @settings(max_examples=50, deadline=None)
    @given(LAUNCHES, LAUNCHES)
    def test_law_equal_or_different(self, one: Launch, other: Launch) -> None:
        """Two launches have one fingerprint exactly when they are equal."""
        assert (fingerprint(one) == fingerprint(other)) is (one == other)

    def test_reachability(self) -> None:
        """The laws look at launches with an agent and several variables."""
        assert reached(LAUNCHES, lambda launch: launch.agent is not None and len(launch.env) > 1)


AGENT = Agent(name="reviewer", path="/a.md", sha256="a" * 64)
FULL = evolve(LAUNCH, agent=AGENT, settings=FileDigest(path="/s.json", sha256="5" * 64))
AS_FIXED = Found(
    binary=LAUNCH.binary,
    append_system_prompt="e" * 64,
    agent=AGENT.sha256,
    settings="5" * 64,
)


@pytest.mark.rule("B10.3")
class TestDrift:
    """What of a launch's files is not as it was fixed is named."""

    def test_none(self) -> None:
        """Nothing differs, nothing is named."""
        assert launch_drift(FULL, AS_FIXED) == ()

    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            ({"binary": evolve(LAUNCH.binary, version="9.9.9")}, "binary"),
            ({"binary": evolve(LAUNCH.binary, size=1)}, "binary"),
            ({"append_system_prompt": "0" * 64}, "append_system_prompt"),
            ({"append_system_prompt": None}, "append_system_prompt"),
            ({"agent": "0" * 64}, "agent"),
            ({"agent": None}, "agent"),
            ({"settings": "0" * 64}, "settings"),
            ({"settings": None}, "settings"),
        ],
    )
    def test_each(self, found: dict[str, Any], expected: str) -> None:
        """A changed file drifts, and so does one that cannot be read any more."""
        assert launch_drift(FULL, evolve(AS_FIXED, **found)) == (expected,)

    def test_not_used(self) -> None:
        """An agent and settings that the launch does not use cannot drift."""
        assert launch_drift(LAUNCH, evolve(AS_FIXED, agent=None, settings=None)) == ()

    def test_all(self) -> None:
        """All of them are named, in the order of the alphabet."""
        nothing = Found(
            binary=Binary(path=LAUNCH.binary.path, version="0", size=0),
            append_system_prompt=None,
            agent=None,
            settings=None,
        )
        expected = ("agent", "append_system_prompt", "binary", "settings")
        assert launch_drift(FULL, nothing) == expected


@pytest.mark.rule("B13.11")
class TestDifferences:
    """Fields that differ are named by dotted paths, and a list is one value."""

    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ({"a": 1}, {"a": 1}, ()),
            ({"a": 1, "b": 2}, {"a": 2, "b": 2}, ("a",)),
            ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, ("a.b.c",)),
            ({"a": [1, 2, 3]}, {"a": [1, 9, 3]}, ("a",)),
            ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ("a",)),
            ({"a": None}, {"a": {"b": 1}}, ("a",)),
            ({"a": 1}, {}, ("a",)),
            ({}, {"b": {"c": 1}}, ("b",)),
            ({"b": 1, "a": 1}, {"a": 2, "b": 2}, ("a", "b")),
        ],
    )
    def test_told(self, before: object, after: object, expected: tuple[str, ...]) -> None:
        """What is there on one side only differs as a whole; names are sorted."""
        assert differences(before, after) == expected

    def test_what_was_and_what_is(self) -> None:
        """Each comes with both values; what is not there is None."""
        assert changes({"a": {"b": 1, "c": [1]}}, {"a": {"b": 2}, "d": {"e": "f"}}) == {
            "a.b": {"was": 1, "is": 2},
            "a.c": {"was": [1], "is": None},
            "d": {"was": None, "is": {"e": "f"}},
        }

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("model", "model"),
            ("tools", "tools"),
            ("mcp", "mcp.strict"),
            ("append_system_prompt", "append_system_prompt.sha256"),
            ("agent", "agent"),
            ("binary", "binary.size"),
            ("env", "env.X"),
        ],
    )
    def test_launches(self, name: str, expected: str) -> None:
        """Of two launches exactly the field that differs is named, as deep as it lies."""
        assert differences(LAUNCH, evolve(LAUNCH, **{name: OTHER[name]})) == (expected,)

    def test_settings(self) -> None:
        """Thresholds are named one by one."""
        more = evolve(SETTINGS.thresholds, max_rebases=9, rebase_lines=9)
        expected = ("thresholds.max_rebases", "thresholds.rebase_lines")
        assert differences(SETTINGS, evolve(SETTINGS, thresholds=more)) == expected

    @settings(max_examples=50, deadline=None)
    @given(LAUNCHES, LAUNCHES)
    def test_law_symmetry(self, one: Launch, other: Launch) -> None:
        """Two launches differ in nothing exactly when they are equal, whichever comes first."""
        assert (differences(one, other) == ()) is (one == other)
        assert differences(one, other) == differences(other, one)
        there, back = changes(one, other), changes(other, one)
        assert tuple(there) == differences(one, other)
        assert {path: (one["was"], one["is"]) for path, one in there.items()} == {
            path: (one["is"], one["was"]) for path, one in back.items()
        }
