"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "9c18fde2a4e07f3345a67c6123cb0a74f5e77cfe97c678b132e05b0f3a3cfbe3"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
