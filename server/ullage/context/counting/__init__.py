"""How many tokens things take, and where the context counts as full."""
