"""The command line of forks: one verb, one file."""
