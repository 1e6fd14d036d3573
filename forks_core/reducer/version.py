"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "7ec6851f9ac06ef3fd325ca27d998fe39ae7fffd1daec980afa981013a1cf173"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
