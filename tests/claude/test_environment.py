"""The client's environment: what is taken away, what is set, what is told of it."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from immutables import Map

from forks_core.claude.environment import Host, is_dropped, pinned, report, scrub, split_path
from tests.histories import LAUNCH as ANY_LAUNCH
from tests.projections.builders import reached

HOSTED = [
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_HOST_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_DESKTOP_APP_VERSION",
    "CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH",
    "CLAUDE_CODE_TERMINAL_MCP_TOOLS",
    "CLAUDE_CODE_REPORT_FINDINGS",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_CODE_ENABLE_ASK_USER_QUESTION_TOOL",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
]
STEERING = [
    "CLAUDE_EFFORT",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "ENABLE_PROMPT_CACHING_1H",
    "FORCE_PROMPT_CACHING_5M",
    "CLAUDE_CODE_SUBAGENT_PROMPT_CACHE_TTL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
]
DROPPED = [*HOSTED, *STEERING, "VIRTUAL_ENV"]
PATTERNS = [
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_X_MODEL",
    "UV_",
    "UV_PYTHON",
    "UV_A\nB",
]
KEPT = [
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "AI_AGENT",
    "CLAUDE_PID",
    "CLAUDE_CODE_GIT_BASH_PATH",
    "HOME",
    "USERPROFILE",
]
NEAR = [
    "ANTHROPIC_DEFAULT_MODEL",
    "ANTHROPIC_DEFAULT__MODELS",
    "UVX",
    "XUV_A",
    "VIRTUAL_ENV_PROMPT",
]
GIT_OFF = "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS"
PINS = {
    "CLAUDE_CODE_PROMPT_CACHE_TTL": "1h",
    "DISABLE_AUTOUPDATER": "1",
    GIT_OFF: "1",
    "SPIRE_FORKS_CHILD": "1",
    "CLAUDE_CODE_EXECPATH": "/opt/claude",
    "FORKS_JOB": "run/j0001",
}
LAUNCH = evolve(
    ANY_LAUNCH,
    binary=evolve(ANY_LAUNCH.binary, path="/opt/claude"),
    env=Map(pinned(git_instructions=False)),
    keep_env=(),
)
NAMES = st.sampled_from([*DROPPED, *PATTERNS, *KEPT, *NEAR, *PINS, "PATH", "X"])
CASES: list[Callable[[str], str]] = [str, str.lower, str.title]
ENVIRONMENTS = st.dictionaries(
    st.tuples(NAMES, st.sampled_from(CASES)).map(lambda drawn: drawn[1](drawn[0])),
    st.sampled_from(["", "host", "/a:/venv/bin", "/venv"]),
    max_size=12,
)


def host(prefix: str = "/usr", base: str = "/usr", **environment: str) -> Host:
    """A place where forks runs."""
    return Host(environment=environment, prefix=prefix, base_prefix=base)


def scrubbed(environment: dict[str, str], **launch: Any) -> dict[str, str]:
    """What is left of an environment, and what is set."""
    return scrub(host(**environment), evolve(LAUNCH, **launch), "run/j0001")


class TestDropped:
    """What an application hands to its sessions, and what steers model, cache or login, goes."""

    @pytest.mark.rule("B9.1")
    def test_number(self) -> None:
        """Twelve of the application, eleven that steer, and the virtual environment."""
        assert (len(HOSTED), len(STEERING), len(set(DROPPED))) == (12, 11, 24)

    @pytest.mark.rule("B9.1", "B9.2")
    @pytest.mark.parametrize("name", [*DROPPED, *PATTERNS])
    @pytest.mark.parametrize("case", CASES)
    def test_in_whatever_case(self, name: str, case: Callable[[str], str]) -> None:
        """Each is dropped, however it is written."""
        assert is_dropped(case(name))
        assert set(scrubbed({case(name): "secret"})) == set(PINS)

    @pytest.mark.rule("B9.4")
    @pytest.mark.parametrize("name", [*KEPT, *NEAR, "ANTHROPIC_BASE_URL", "LANG"])
    def test_everything_else_is_kept(self, name: str) -> None:
        """What is on no list stays as it is, also where it resembles what is."""
        assert not is_dropped(name)
        assert scrubbed({name: "as it was"}) == {**PINS, name: "as it was"}

    @pytest.mark.rule("B9.5", "D15")
    def test_spared(self) -> None:
        """A launch spares the names that it says, to the letter, and no others."""
        told = {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_MODEL": "m", "uv_python": "3"}
        left = scrubbed(told, keep_env=("ANTHROPIC_API_KEY", "UV_PYTHON"))
        assert left == {**PINS, "ANTHROPIC_API_KEY": "key"}


@pytest.mark.rule("B9.3")
class TestPinned:
    """Some variables are ours: the host's values of them are never seen."""

    def test_set(self) -> None:
        """An hour of cache, no updates, the marks of a child, the client that is launched."""
        assert scrubbed({}) == PINS

    @pytest.mark.rule("B9.5")
    @pytest.mark.parametrize("name", PINS)
    def test_host_values_lose(self, name: str) -> None:
        """Whatever the host says, also where the launch spares the name."""
        assert scrubbed({name: "host"}) == PINS
        assert scrubbed({name: "host"}, keep_env=(name,)) == PINS

    def test_git_instructions(self) -> None:
        """A launch that wants git instructions has them, whatever the host has set."""
        env = Map(pinned(git_instructions=True))
        assert GIT_OFF not in env
        assert GIT_OFF not in scrubbed({GIT_OFF: "1"}, env=env)

    @settings(deadline=None)
    @given(ENVIRONMENTS, st.sets(NAMES, max_size=2))
    def test_law_scrubbed(self, environment: dict[str, str], spared: set[str]) -> None:
        """Nothing of the drop list is left but what is spared; all pins and the mark are there."""
        left = scrubbed(environment, keep_env=tuple(sorted(spared)))
        listed = {*map(str.upper, [*DROPPED, *PATTERNS])}
        assert not {name for name in left if name.upper() in listed} - spared
        assert left.items() >= PINS.items()
        kept = {name for name in environment if name.upper() not in listed}
        assert left.keys() >= kept
        assert left.keys() <= {*environment, *PINS}

    def test_reachability(self) -> None:
        """The law looks at hosts with dropped names in small letters, and with pinned ones."""
        assert reached(ENVIRONMENTS, lambda host: "virtual_env" in host)
        assert reached(ENVIRONMENTS, lambda host: "CLAUDE_CODE_EXECPATH" in host)


@pytest.mark.rule("B9.6")
class TestPath:
    """PATH loses what is empty and what belongs to a virtual environment; its order stays."""

    def test_virtual_env(self) -> None:
        """Entries equal to it or under it go; a neighbour with a longer name stays."""
        path = "/z:/venv/bin::/venv:/venv2/bin:/a:/venv/x/y:"
        stay, go = split_path(host(PATH=path, VIRTUAL_ENV="/venv/"))
        assert stay == ["/z", "/venv2/bin", "/a"]
        assert go == ["/venv/bin", "/venv", "/venv/x/y"]

    def test_prefix(self) -> None:
        """The interpreter's prefix counts when it is a virtual environment's."""
        path = "/env/bin:/usr/bin"
        assert split_path(host("/env", "/usr", PATH=path)) == (["/usr/bin"], ["/env/bin"])
        assert split_path(host("/usr", "/usr", PATH=path)) == (["/env/bin", "/usr/bin"], [])

    @pytest.mark.parametrize("root", ["", "/"])
    def test_no_virtual_env(self, root: str) -> None:
        """A variable that names nothing, or everything, takes nothing away."""
        assert split_path(host(PATH="/a:/b", VIRTUAL_ENV=root)) == (["/a", "/b"], [])

    def test_in_the_scrub(self) -> None:
        """The client is given what stays, and no PATH where there was none."""
        told = {"PATH": "/venv/bin:/a::/b", "VIRTUAL_ENV": "/venv"}
        assert scrubbed(told) == {**PINS, "PATH": "/a:/b"}
        assert "PATH" not in scrubbed({})


class TestReport:
    """What the scrub does is told by names: a value is never shown."""

    @pytest.mark.rule("B9.4", "B9.7", "B9.8")
    def test_fields(self) -> None:
        """Dropped, kept on purpose, pinned, and what no list knows, sorted."""
        told = report(
            host(
                ANTHROPIC_API_KEY="secret",
                uv_cache="secret",
                CLAUDECODE="secret",
                CLAUDE_NEW="secret",
                ANTHROPIC_BASE_URL="secret",
                CLAUDE_CODE_EXECPATH="secret",
                HOME="secret",
                LANG="secret",
                PATH="/venv/bin:/usr/bin",
                VIRTUAL_ENV="/venv",
            )
        )
        assert told == {
            "drop": ["ANTHROPIC_API_KEY", "VIRTUAL_ENV", "uv_cache"],
            "drop_patterns": ["ANTHROPIC_DEFAULT_.+_MODEL", "UV_.*"],
            "drop_path_entries": ["/venv/bin"],
            "keep": ["CLAUDECODE", "PATH", "HOME"],
            "keep_rule": "everything that is not dropped is kept",
            "pinned": sorted(PINS),
            "unknown": ["ANTHROPIC_BASE_URL", "CLAUDE_NEW"],
        }

    @pytest.mark.rule("B9.8")
    @settings(deadline=None)
    @given(ENVIRONMENTS)
    def test_law_no_values(self, environment: dict[str, str]) -> None:
        """No value is in the report, but for entries of PATH."""
        secret = {name: "s3cret" for name in environment if name != "PATH"}
        assert "s3cret" not in str(report(host(**secret)))

    @pytest.mark.rule("B9.5")
    @settings(deadline=None)
    @given(ENVIRONMENTS)
    def test_law_one_class(self, environment: dict[str, str]) -> None:
        """A name is dropped, kept on purpose, or unknown: never two of them."""
        told: Any = report(host(**environment))
        listed = [*told["drop"], *told["keep"], *told["unknown"]]
        assert len(listed) == len(set(listed))
        assert not set(told["unknown"]) & set(PINS)
