"""``completion``: a shell completes what forks understands."""

import shutil
import subprocess
from pathlib import Path

import pytest

from forks_cli.verbs import SUMMARIES
from tests.driver import Run, ok

SHELLS = ("bash", "zsh", "tcsh")
# What bash does when the tab key is pressed behind these words, as its manual says.
TAB = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
spec=$(complete -p forks); [[ $spec =~ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" forks "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


class Bash:
    """A bash that has sourced the script."""

    def __init__(self, script: Path, env: dict[str, str]) -> None:
        self.script, self.env = script, env

    def completes(self, *words: str) -> set[str]:
        """What it offers behind ``forks`` and these words."""
        done = subprocess.run(
            ["bash", "--norc", "-c", TAB, "bash", str(self.script), "forks", *words],
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        return set(done.stdout.split())


@pytest.fixture(scope="module")
def bash(shared: Run) -> Bash:
    """The script, as ``forks completion bash --text`` prints it, sourced."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    with shared.start("completion", "bash", "--text") as process:
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, b"")
    script = shared.folder / "completion.bash"
    script.write_bytes(out)
    return Bash(script, {"PATH": shared.env["PATH"]})


class TestBash:
    """Sourced in bash, it completes verbs, options and their choices."""

    def test_verbs(self, bash: Bash) -> None:
        """All of them, and those that begin so."""
        assert {name.split()[0] for name in SUMMARIES} <= bash.completes("")
        assert bash.completes("co") == {"continue", "completion"}
        assert bash.completes("exp") == {"expire"}
        assert bash.completes("x") == set()

    def test_second_words(self, bash: Bash) -> None:
        """Behind the first word of two the second ones are offered, with the options of each."""
        assert bash.completes("study", "") >= {"check", "schedule"}
        assert bash.completes("study", "sch") == {"schedule"}
        assert bash.completes("stu") == {"study"}
        assert bash.completes("study", "schedule", "--a") == {"--account"}
        assert bash.completes("study", "check", "--a") == set()

    @pytest.mark.parametrize(
        ("verb", "options"),
        [
            ("continue", {"--run", "--job", "--brief", "--max-minutes", "--json", "--text"}),
            ("expire", {"--run", "--base", "--all"}),
            ("wait", {"--any", "--all", "--timeout", "--run"}),
            ("init", {"--model", "--effort", "--parallel-cap", "--lab"}),
        ],
    )
    def test_options(self, bash: Bash, verb: str, options: set[str]) -> None:
        """The options of the verb, and none of another."""
        found = bash.completes(verb, "-")
        assert options <= found
        assert ("--model" in found) == (verb == "init")
        assert bash.completes(verb, "--run", "x.md", "--js") == {"--json"}

    def test_choices(self, bash: Bash) -> None:
        """What an option or a word can be is completed too."""
        assert bash.completes("init", "--effort", "") >= {"low", "max", "none"}
        assert bash.completes("fork", "--mode", "p") == {"parallel"}
        assert bash.completes("completion", "") >= set(SHELLS)


class TestScripts:
    """Each shell that is known gets a script; the answer is an object like any other."""

    @pytest.mark.parametrize("shell", SHELLS)
    def test_an_object(self, run: Run, shell: str) -> None:
        """The shell's name and the script, which knows every verb."""
        content = ok(run.ask_words("completion", shell))
        assert set(content) == {"shell", "script"}
        assert content["shell"] == shell
        words = {word for verb in SUMMARIES for word in verb.split()}
        assert all(word in content["script"] for word in words)
        assert not run.state.exists()

    @pytest.mark.parametrize("shell", ["bash", "zsh"])
    def test_it_is_a_script(self, run: Run, shell: str) -> None:
        """The shell can read it."""
        if shutil.which(shell) is None:
            pytest.skip(f"no {shell}")
        script = ok(run.ask_words("completion", shell))["script"]
        done = subprocess.run([shell, "-n"], input=script, text=True, check=False)
        assert done.returncode == 0

    def test_another_shell(self, run: Run) -> None:
        """A shell that is not known, and none at all, are usage errors."""
        for words in ((), ("fish",)):
            assert run.ask_words("completion", *words).error == "usage"
