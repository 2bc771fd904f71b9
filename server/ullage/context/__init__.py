"""The compaction pipeline: pure functions over the log. No I/O, no clock, no wire; imports nothing else of Ullage."""
