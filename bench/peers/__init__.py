"""The pipeline's speed beside that of peers, each in an environment of its own, in one run and on the same histories."""
