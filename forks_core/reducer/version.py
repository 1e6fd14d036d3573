"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "3c93c9dd94e8a986690c0edf925cad0eb8ebbaa4fd42c427418d0eafd757f14d"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
