"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "4154d90acf12a55b1c8c6f860dc732c61fe614d8956b63a40ec0d434749458b2"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
