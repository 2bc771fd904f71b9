"""The record that takes the place of what was summarised: facts read from the log, written down within a budget, and checked."""
