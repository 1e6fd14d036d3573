"""Tests of the world: real processes, real files, real sockets."""
