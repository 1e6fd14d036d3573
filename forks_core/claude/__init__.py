"""The client's dialect, and nothing of the world: lines in, events out."""
