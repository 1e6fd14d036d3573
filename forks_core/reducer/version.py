"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "818a0fc25b565b61d9c55186b748ae0f394588b461fd79f7216836b004fac20c"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
