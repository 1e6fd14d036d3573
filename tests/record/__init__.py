"""Records what a real client prints: scripted answers on loopback, one scenario after the other.

``python -m tests.record --client PATH [--into FOLDER] [SCENARIO ...]`` writes the client's standard
output to ``FOLDER/VERSION/SCENARIO.jsonl``, and beside it how it was called and how it exited.
"""
