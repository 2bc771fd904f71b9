"""Which folders the agent may touch, and where a path that it names leads, symbolic links resolved."""
