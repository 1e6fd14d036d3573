"""Lists of tool rules, as people write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forks_cli.rules import split_rules
from tests.projections.builders import reached

TEXTS = st.text(alphabet="ab,() *", max_size=10)
RULES = st.lists(st.sampled_from(["Read", "Bash(git push:*)", "Bash(a, b)", "X(a(b,c),d)"]))


@pytest.mark.rule("B13.5")
class TestSplitRules:
    """Rules are parted at commas outside parentheses and trimmed; empty ones go."""

    @pytest.mark.parametrize(
        ("texts", "expected"),
        [
            ([], ()),
            ([""], ()),
            ([" , ,, "], ()),
            (["Bash"], ("Bash",)),
            (["Bash,Read"], ("Bash", "Read")),
            ([" Bash , Read "], ("Bash", "Read")),
            ([",Bash,"], ("Bash",)),
            (["Bash", "Read,Edit"], ("Bash", "Read", "Edit")),
            (["Bash,Bash"], ("Bash", "Bash")),
            (["Bash(git push:*),Read"], ("Bash(git push:*)", "Read")),
            (["Bash(a, b),Read"], ("Bash(a, b)", "Read")),
            (["X(a(b,c),d),Y"], ("X(a(b,c),d)", "Y")),
            (["Bash(git reset --hard:*)"], ("Bash(git reset --hard:*)",)),
        ],
    )
    def test_told(self, texts: list[str], expected: tuple[str, ...]) -> None:
        """Order and repetition stay, and so does what parentheses hold."""
        assert split_rules(texts) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Bash),Read", ("Bash)", "Read")),
            (")),a,b", ("))", "a", "b")),
            ("a)(b,c),d", ("a)(b,c)", "d")),
            ("Bash(a,b", ("Bash(a,b",)),
            ("((a,b),c", ("((a,b),c",)),
        ],
    )
    def test_unbalanced(self, text: str, expected: tuple[str, ...]) -> None:
        """One that closes too much closes nothing; one that is left open holds all that follows."""
        assert split_rules([text]) == expected

    def test_texts_are_apart(self) -> None:
        """A parenthesis that is left open ends with its text."""
        assert split_rules(["Bash(a", "Read,Edit"]) == ("Bash(a", "Read", "Edit")

    @settings(deadline=None)
    @given(st.lists(TEXTS, max_size=3))
    def test_law_idempotence(self, texts: list[str]) -> None:
        """What was split is not split any further, is trimmed, and is not empty."""
        rules = split_rules(texts)
        assert split_rules(rules) == rules
        assert all(rule and rule == rule.strip() for rule in rules)

    @settings(deadline=None)
    @given(st.lists(TEXTS, max_size=3))
    def test_law_nothing_is_lost(self, texts: list[str]) -> None:
        """All that goes is commas and blanks."""
        told = "".join(split_rules(texts)).replace(",", "").replace(" ", "")
        assert told == "".join(texts).replace(",", "").replace(" ", "")

    @settings(deadline=None)
    @given(RULES)
    def test_law_joined_and_split(self, rules: list[str]) -> None:
        """Balanced rules that are joined by commas come apart as they were."""
        assert split_rules([",".join(rules)]) == tuple(rules)

    def test_reachability(self) -> None:
        """The laws look at texts of several rules, and at commas that stay."""
        assert reached(TEXTS, lambda text: len(split_rules([text])) > 1)
        assert reached(TEXTS, lambda text: any("," in rule for rule in split_rules([text])))
