"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "227479f06a0c46046cad6e62774d4363155e02446af4e2a4990a80e7e1d6537a"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
