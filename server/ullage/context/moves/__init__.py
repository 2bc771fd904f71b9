"""What a compaction does to the view: clip, clear, snip, and the plan that puts the cheap before the dear."""
