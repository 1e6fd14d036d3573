"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "053e317c19f50bb82e66d3fe37205c563a3fcf0850bafcc1b88b50bb9e79b98e"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
