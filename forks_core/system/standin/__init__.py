"""A stand-in for the headless client: a program of its own that prints what the client prints.

It calls no model and needs no account. What it answers, and how it misbehaves, is told by a
script in its prompt (see `script`); sessions, costs and the prompt cache it keeps by itself.
"""
