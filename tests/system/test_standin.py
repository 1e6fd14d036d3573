"""The stand-in: what it prints, what it refuses, and the tools it uses."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forks_core.system.standin.dialect import dialect
from forks_core.system.standin.flags import UsageError, parse
from forks_core.system.standin.prices import Usage, cost
from forks_core.system.standin.script import find
from tests.system.standin_driver import NEVER, Client, new_id, scripted


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A stand-in, whose left-over processes are ended afterwards."""
    made = Client(tmp_path)
    yield made
    made.end_survivors()


class TestThePlainAnswer:
    """Without a script: init, one response, the quota, a result."""

    def test_four_lines_of_one_session(self, client: Client) -> None:
        """A call says init, a response, its quota and its result, all of one session."""
        session = new_id()
        answer = client.ask("hello", "--session-id", session)
        kinds = [line["type"] for line in answer.lines]
        assert kinds == ["system", "assistant", "rate_limit_event", "result"]
        assert {line["session_id"] for line in answer.lines} == {session}
        assert len({line["uuid"] for line in answer.lines}) == len(answer.lines)
        assert (answer.code, answer.err) == (0, "")

    def test_init_tells_the_launch(self, client: Client) -> None:
        """`system/init` repeats directory, model, mode and tools; a tool denied by name is gone."""
        flags = ["--permission-mode", "dontAsk", "--tools", "Bash,Read,Edit"]
        config = json.dumps({"mcpServers": {"wiki": {"command": "true"}}})
        answer = client.ask(
            "hello", *flags, "--disallowedTools", "Edit", "Bash(git push:*)", "--mcp-config", config
        )
        init = answer.of("system", "init")[0]
        assert init["tools"] == ["Bash", "Read"]
        assert (init["cwd"], init["permissionMode"]) == (str(client.cwd), "dontAsk")
        assert (init["model"], init["claude_code_version"]) == ("claude-opus-4-5", "2.1.332")
        assert [server["name"] for server in init["mcp_servers"]] == ["wiki"]

    def test_the_result_adds_up(self, client: Client) -> None:
        """Cost is usage at list price; a fresh call's `modelUsage` equals its `usage`."""
        result = client.ask("hello").result
        usage, model = result["usage"], result["modelUsage"]["claude-opus-4-5"]
        spent = Usage(
            usage["input_tokens"],
            usage["output_tokens"],
            usage["cache_read_input_tokens"],
            usage["cache_creation"]["ephemeral_5m_input_tokens"],
            usage["cache_creation"]["ephemeral_1h_input_tokens"],
        )
        assert result["total_cost_usd"] == pytest.approx(cost("claude-opus-4-5", spent))
        assert model["cacheCreationEphemeral1hInputTokens"] == spent.write_1h > 15_000 - 500
        assert model["canonicalModel"] == "claude-opus-4-5"
        assert next(iter(result)) != "type"

    def test_the_lifetime_of_the_cache_shows_in_usage(self, client: Client) -> None:
        """With a lifetime of five minutes the written tokens are counted as such."""
        usage = client.ask("hello", CLAUDE_CODE_PROMPT_CACHE_TTL="5m").first_usage
        assert usage["cache_creation"]["ephemeral_1h_input_tokens"] == 0
        assert usage["cache_creation"]["ephemeral_5m_input_tokens"] > 0

    def test_partial_messages_surround_the_response(self, client: Client) -> None:
        """`--include-partial-messages` adds stream events, of which one tells the output."""
        answer = client.ask("hello", "--include-partial-messages")
        events = [line["event"] for line in answer.of("stream_event")]
        assert [e["type"] for e in events][0::5] == ["message_start", "message_stop"]
        assert events[-2]["usage"]["output_tokens"] == answer.result["usage"]["output_tokens"]


class TestRefusals:
    """What is refused before a line is printed: exit 1, the reason on standard error."""

    @pytest.mark.parametrize(
        ("flags", "reason"),
        [
            (["--x"], "error: unknown option '--x'"),
            (["--model"], "error: option '--model <model>' argument missing"),
            (["--append-system-prompt-file", "/no.md"], "prompt file not found: /no.md"),
            (["--mcp-config", "/no.json"], "MCP config file not found: /no.json"),
            (["--settings", "/no.json"], "Settings file not found: /no.json"),
            (["--session-id", "zzz"], "Must be a valid UUID."),
            (["--resume", NEVER, "--session-id", NEVER], "also needs --fork-session"),
            (["--permission-mode", "foo"], "argument 'foo' is invalid"),
            (["--max-budget-usd", "0"], "must be a number greater than 0"),
        ],
    )
    def test_a_bad_command_line(self, client: Client, flags: list[str], reason: str) -> None:
        """A bad command line is refused with the client's own words."""
        answer = client.ask("hello", *flags)
        assert (answer.code, answer.out) == (1, b"")
        assert reason in answer.err

    def test_a_stream_needs_verbose(self, client: Client) -> None:
        """stream-json without --verbose is refused."""
        argv = [str(client.program), "-p", "--output-format", "stream-json"]
        done = subprocess.run(argv, input=b"hi", capture_output=True, check=False)
        assert done.returncode == 1
        assert b"requires --verbose" in done.stderr

    def test_no_prompt(self, client: Client) -> None:
        """An empty standard input is refused."""
        answer = client.ask("")
        assert (answer.code, answer.out) == (1, b"")
        assert "Input must be provided" in answer.err

    @pytest.mark.parametrize(
        "prompt",
        [
            scripted({"dance": 1}),
            scripted({"say": "a", "sleep": 1}),
            scripted(tempo=3),
            "```standin\n{nonsense\n```",
        ],
    )
    def test_a_script_that_cannot_be_followed(self, client: Client, prompt: str) -> None:
        """An unknown verb or option, two verbs in a step, or no JSON: refused, not guessed."""
        answer = client.ask(prompt)
        assert (answer.code, answer.out) == (1, b"")
        assert answer.err.startswith("error: ")

    def test_the_version(self, client: Client) -> None:
        """`--version` tells the version that is spoken, which the environment may choose."""
        argv = [str(client.program), "--version"]
        assert subprocess.check_output(argv) == b"2.1.332 (Claude Code stand-in)\n"
        chosen = client.env | {"FORKS_STANDIN_VERSION": "2.0.76"}
        assert subprocess.check_output(argv, env=chosen).startswith(b"2.0.76 ")

    def test_the_package_is_a_program(self) -> None:
        """`python -m` runs the stand-in too."""
        argv = [sys.executable, "-m", "forks_core.system.standin", "--version"]
        assert b"stand-in" in subprocess.check_output(argv)


class TestWords:
    """The small languages: flags, versions, scripts."""

    @given(st.lists(st.sampled_from(["Bash", "Bash(git push:*)", "Read", "mcp__*"]), min_size=1))
    def test_one_value_or_several(self, rules: list[str]) -> None:
        """Tool rules may come as several values or as one, joined by commas."""
        several = parse(["--allowedTools", *rules, "-p"])
        joined = parse(["--allowedTools", ",".join(rules), "-p"])
        assert several.rules("--allowedTools") == joined.rules("--allowedTools") == rules

    @given(st.text(min_size=1).filter(lambda name: not name.startswith(("-", "="))))
    def test_unknown_options_are_refused(self, name: str) -> None:
        """No option is guessed at."""
        with pytest.raises(UsageError):
            parse([f"--no-{name}"])

    @given(st.tuples(*[st.integers(0, 999)] * 3))
    def test_a_version_carries_from_2_1_277_on(self, number: tuple[int, int, int]) -> None:
        """The dialect is chosen by the number, not by its text."""
        assert dialect(".".join(map(str, number))).carries == (number >= (2, 1, 277))

    @given(st.text())
    def test_a_prompt_without_a_fence_is_no_script(self, prompt: str) -> None:
        """Only a fenced block is a script."""
        assert find(prompt.replace("`", ""), {}).steps == []
