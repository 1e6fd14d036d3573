"""Mutation: small faults are put into the rules and the decisions, and the tests must find them.

`python -m tests.mutation [FILES...] [--sample N] [--seed S]`. The tree is never changed: a mutant
lives in a forked child that loads it in its module's place. Nothing of ours is imported here, so
that a child may load all of it anew.
"""
