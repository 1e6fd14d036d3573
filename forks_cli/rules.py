"""Lists of tool rules, as people write them."""

from collections.abc import Iterable


def split_rules(texts: Iterable[str]) -> tuple[str, ...]:
    """Split rules at commas that stand outside parentheses; blanks and empty ones go."""
    return tuple(rule for text in texts for part in _split(text) if (rule := part.strip()))


def _split(text: str) -> list[str]:
    parts = [""]
    depth = 0
    for letter in text:
        if letter == "," and depth == 0:
            parts.append("")
            continue
        depth = max(0, depth + {"(": 1, ")": -1}.get(letter, 0))
        parts[-1] += letter
    return parts
