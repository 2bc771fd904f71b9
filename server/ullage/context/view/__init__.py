"""What the model sees: the log folded into the messages of the next request. Imports nothing else of `context/` but values."""
