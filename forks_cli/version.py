"""The version that is installed; to look it up costs more than to start, so it is asked for late."""

from importlib.metadata import version

VERSION = version("agent-forks")
