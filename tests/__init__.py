"""Tests that state truths."""
