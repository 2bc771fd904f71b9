"""The engine of `aider`: the older half of a small history summarised again and again, beside a map of the repository."""
