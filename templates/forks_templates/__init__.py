"""The prompts that forks sends, and the preamble that is appended to every system prompt."""

from pathlib import Path

_FOLDER = Path(__file__).parent
TRAIN = _FOLDER / "train.md"
FORK = _FOLDER / "fork.md"
PREAMBLE = _FOLDER / "preamble.md"
SAMPLE_STUDY = _FOLDER / "study"
"""A folder with a sample study, ``study.toml`` in it; it is copied before it is used."""
