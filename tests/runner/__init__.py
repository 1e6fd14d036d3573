"""The runner of a study, over a world that is made up."""
