"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "4cd81f66f9f5d8641808c87b8e691b82a76a87c1cb62aa0a6b27f826491c570e"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
