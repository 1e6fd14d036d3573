"""What a reader of the stand-in must survive: tools, noise, children left behind."""

import base64
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.standin_driver import Client, scripted, until


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A stand-in, whose left-over processes are ended afterwards."""
    made = Client(tmp_path)
    yield made
    made.end_survivors()


class TestTools:
    """Tools are really used."""

    def test_a_command_is_run(self, client: Client) -> None:
        """A command runs in the working directory; its output comes back; it is a turn."""
        answer = client.play({"tool": "touch here; echo one"}, {"tool": "echo no; exit 3"})
        assert (client.cwd / "here").exists()
        results = [line["message"]["content"][0] for line in answer.of("user")]
        assert [r["content"] for r in results] == ["one", "Exit code 3\nno"]
        assert [r["is_error"] for r in results] == [False, True]
        asked = answer.of("assistant")
        assert asked[0]["message"]["id"] == asked[1]["message"]["id"]
        assert asked[1]["message"]["content"][0]["id"] == results[0]["tool_use_id"]
        assert answer.result["num_turns"] == 3

    def test_bad_bytes_are_replaced(self, client: Client) -> None:
        """Output that is not UTF-8 arrives with replacement characters."""
        answer = client.play({"tool": r"printf '\377\376 end'"})
        assert answer.of("user")[0]["tool_use_result"]["stdout"] == "\ufffd\ufffd end"

    def test_a_background_child_ends_with_the_call(self, client: Client) -> None:
        """A plain background child holds nobody up and does not outlive the call."""
        client.play({"tool": "sleep 60 & echo started"})
        until(lambda: not client.survivors())

    def test_a_child_of_its_own_session_stays(self, client: Client) -> None:
        """What leaves the group with setsid outlives the call, as with the real client."""
        child = "setsid nohup sh -c 'touch gone; exec sleep 60' >/dev/null 2>&1 &"
        client.play({"tool": f"{child} while [ ! -e gone ]; do sleep 0.01; done"})
        until(lambda: len(client.survivors()) == 1)

    def test_a_tool_can_be_denied(self, client: Client) -> None:
        """A denial is a line, a tool result and an entry of the result; the call is a success."""
        answer = client.play({"deny": "git push origin main"})
        assert len(answer.of("system", "permission_denied")) == 1
        assert answer.result["permission_denials"][0]["tool_input"]["command"].startswith("git")
        assert (answer.code, answer.result["subtype"]) == (0, "success")

    def test_a_rule_denies(self, client: Client) -> None:
        """A scoped rule of the command line denies the command without running it."""
        flags = ("--disallowedTools", "Bash(touch:*)", "WebFetch")
        answer = client.play({"tool": "touch gone"}, flags=flags)
        assert len(answer.result["permission_denials"]) == 1
        assert not (client.cwd / "gone").exists()

    def test_a_subagent_counts_in_model_usage_alone(self, client: Client) -> None:
        """A subagent's lines name their parent; usage leaves them out, modelUsage does not."""
        answer = client.play({"subagent": "found it"})
        assert sum(bool(line["parent_tool_use_id"]) for line in answer.of("assistant")) == 1
        counted = answer.result["modelUsage"]["claude-opus-4-5"]["inputTokens"]
        assert counted > answer.result["usage"]["input_tokens"]

    def test_turns_are_limited(self, client: Client) -> None:
        """Over `--max-turns` the call ends as error_max_turns."""
        answer = client.play({"tool": "true"}, {"tool": "true"}, flags=("--max-turns", "1"))
        assert (answer.code, answer.result["subtype"]) == (1, "error_max_turns")
        assert "result" not in answer.result


class TestNoise:
    """What a reader of the stream must survive."""

    def test_garbage(self, client: Client) -> None:
        """Noise is put out as it was given, text or bytes."""
        raw = base64.b64encode(b"\x00\xff").decode()
        answer = client.play({"garbage": "[debug] hm"}, {"garbage": {"base64": raw}})
        assert answer.out.splitlines()[1:3] == [b"[debug] hm", b"\x00\xff"]
        assert answer.code == 0

    def test_half_a_line(self, client: Client) -> None:
        """Half a line has no newline, and may be the last that is heard."""
        answer = client.play({"half": {"exit": 9}})
        assert answer.code == 9
        assert not answer.out.endswith(b"\n")

    def test_a_big_line(self, client: Client) -> None:
        """A line can have exactly the size that was told."""
        answer = client.play({"big": 1_200_000})
        assert len(answer.out.splitlines()[1]) == 1_200_000
        assert answer.code == 0

    def test_any_line(self, client: Client) -> None:
        """Any record can be said; the session's id is added to it."""
        answer = client.play({"line": {"type": "system", "subtype": "thinking_tokens"}})
        assert answer.of("system", "thinking_tokens")[0]["session_id"]

    @pytest.mark.parametrize("kind", ["plain", "setsid", "stdout"])
    def test_children_left_behind(self, client: Client, kind: str) -> None:
        """A told child outlives the call, even one that holds the output open."""
        with client.start() as process:
            assert process.stdin is not None
            process.stdin.write(scripted({"leave": {"kind": kind, "seconds": 61}}).encode())
            process.stdin.close()
            assert process.wait(timeout=10) == 0
            until(lambda: len(client.survivors()) == 1)
            for pid in client.survivors():
                os.kill(pid, signal.SIGKILL)

    def test_a_script_may_lie_in_a_file(self, client: Client, tmp_path: Path) -> None:
        """FORKS_STANDIN_SCRIPT names a script; the prompt's own wins."""
        told = tmp_path / "script.json"
        told.write_text(json.dumps({"steps": [{"say": "from the file"}]}))
        named = {"FORKS_STANDIN_SCRIPT": str(told)}
        assert client.ask("hello", **named).result["result"] == "from the file"
        prompt = scripted({"say": "from the prompt"})
        assert client.ask(prompt, **named).result["result"] == "from the prompt"
