"""Tests against the real client, on a loopback API."""
