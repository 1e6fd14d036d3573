"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "6bd0da79a3370aa49f77b18b50bc91f2cf1c87581682281e5bdde3c7de42f34d"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
