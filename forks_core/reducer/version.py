"""The version of the fold: what was folded by another one is folded again."""

SOURCES = "e1175448d6bd86905ea543243eae1c8b11dd57e25a63220d140f737134fd78da"
"""SHA-256 over the sources of the events, the registry and the reducer; a test tells the new one."""
