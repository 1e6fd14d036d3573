"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "c032430532b619aa574729bcb1cdf1179baf6982785acc1ca5578ecca70f31d6"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
