"""Tests of the decisions: a history, a command, and the events that follow."""
