"""Making room: when a compaction is due, how it is drafted, prepared in the background and committed, what is read again after it."""
