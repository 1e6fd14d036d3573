"""Logs as released versions wrote them; they are read for ever."""
