"""The summary that takes the place of older messages: facts read from the log, written down within a budget, and checked."""
