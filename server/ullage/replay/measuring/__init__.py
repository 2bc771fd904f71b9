"""What a compaction kept of what was needed later, and the figures that are reported of sessions and of policies."""
