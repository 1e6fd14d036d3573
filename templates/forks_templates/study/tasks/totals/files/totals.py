"""Adds numbers up by name."""


def totals(pairs):
    """Return name to the sum of its numbers."""
    found = {}
    for name, number in pairs:
        found[name] = number
    return found
