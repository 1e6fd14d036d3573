"""Tests of the events, their lines and their chain."""
